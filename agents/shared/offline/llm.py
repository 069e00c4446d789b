"""The model class: hands one turn to a rule and gives its result in the model's form."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any

from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.genai import types

_MEMORIES = "<PAST_CONVERSATIONS>"
_NO_TOKENS = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=0, candidates_token_count=0, total_token_count=0
)


@dataclass(frozen=True)
class Turn:
    """What a model is asked: the newest user text, what memory holds, a tool's answer if any."""

    text: str
    memories: str
    tool_answer: dict[str, Any] | None


@dataclass(frozen=True)
class Call:
    """A tool to be called."""

    tool: str
    arguments: dict[str, Any]


Rule = Callable[[Turn], "str | Call"]


class OfflineLlm(BaseLlm):
    """A model whose answer is what `rule` makes of the turn."""

    model: str = "offline"
    rule: Rule

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002 - ADK's signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, a text or a call."""
        answer = self.rule(turn(llm_request.contents))
        if isinstance(answer, Call):
            call = types.FunctionCall(name=answer.tool, args=answer.arguments)
            part = types.Part(function_call=call)
        else:
            part = types.Part(text=answer)
        yield LlmResponse(content=types.ModelContent([part]), usage_metadata=_NO_TOKENS)


def turn(contents: list[Any]) -> Turn:
    """Reads a request: the last user text is asked; what ADK preloads stands before it."""
    texts: list[str] = []
    answer: dict[str, Any] | None = None
    for content in contents:
        for part in content.parts or []:
            if part.function_response:
                answer = dict(part.function_response.response or {})
            elif part.text and content.role == "user":
                texts.append(part.text)
    memories = [text for text in texts[:-1] if _MEMORIES in text]
    return Turn(texts[-1] if texts else "", "\n".join(memories), answer)
