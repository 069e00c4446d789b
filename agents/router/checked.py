"""The writer's model, held to the numbers that were found (agents/shared/number_check.py)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types

from agents.shared.brief import Brief
from agents.shared.number_check import Figure, foreign, without
from agents.shared.offline.llm import turn
from agents.shared.offline.writing import write_brief

LOG = logging.getLogger("agents.router")
LEFT_OUT = "I left out a figure that is not in the data."
_AGAIN = (
    "Your answer holds figures that are in neither the findings nor the question: {figures}. "
    "Write it again, with numbers of the findings only."
)


class Checked(BaseLlm):
    """Asks `inner`, once more when its answer holds a foreign figure; then leaves that out.

    An answer is whole before anyone sees it: what has not been checked is not streamed.
    """

    model: str = "checked"
    inner: BaseLlm

    @property
    def capabilities(self) -> Any:
        """Those of the model that is asked."""
        return self.inner.capabilities

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002 - ADK's signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, every figure of which is in the findings or the question."""
        brief = _brief(llm_request)
        response = await self._whole(llm_request)
        refused = foreign(_text(response), brief) if brief else []
        if brief and refused:
            LOG.warning("the writer's answer held %d foreign figures; asked again", len(refused))
            response = await self._whole(_again(llm_request, response, refused))
            if refused := foreign(_text(response), brief):
                LOG.warning("again %d foreign figures; they are left out", len(refused))
                kept = without(_text(response), refused)
                # What is left must answer; else the rules write from the same brief.
                kept = kept if _answers(kept, brief) else write_brief(brief)
                text = f"{kept}\n{LEFT_OUT}"
                response = LlmResponse(
                    content=types.ModelContent(text), usage_metadata=response.usage_metadata
                )
        yield response

    async def _whole(self, request: LlmRequest) -> LlmResponse:
        """The model's last response, which is the whole one."""
        last: LlmResponse | None = None
        async for response in self.inner.generate_content_async(request, stream=False):
            last = response
        if last is None:
            raise RuntimeError("the writer's model gave no response")
        return last


def _brief(request: LlmRequest) -> Brief | None:
    try:
        return Brief.model_validate_json(turn(request.contents).text)
    except ValueError:
        return None


def _again(request: LlmRequest, response: LlmResponse, refused: list[Figure]) -> LlmRequest:
    named = ", ".join(dict.fromkeys(figure.text for figure in refused))
    said = [response.content] if response.content else []
    told = types.UserContent(_AGAIN.format(figures=named))
    return request.model_copy(update={"contents": [*request.contents, *said, told]})


def _answers(text: str, brief: Brief) -> bool:
    """Whether something of the findings is still said."""
    return bool(text) and (not brief.findings or any(character.isdigit() for character in text))


def _text(response: LlmResponse) -> str:
    parts = (response.content.parts if response.content else None) or []
    return "".join(part.text for part in parts if part.text and not part.thought)
