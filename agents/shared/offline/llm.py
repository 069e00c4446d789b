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
    """What a model is asked: the newest user text, what memory holds, tools' answers by name."""

    text: str
    memories: str
    answers: tuple[tuple[str, dict[str, Any]], ...] = ()


@dataclass(frozen=True)
class Call:
    """A tool to be called."""

    tool: str
    arguments: dict[str, Any]


Rule = Callable[[Turn], "str | list[Call]"]


class OfflineLlm(BaseLlm):
    """A model whose answer is what `rule` makes of the turn."""

    model: str = "offline"
    rule: Rule

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: ARG002 - ADK's signature
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response, a text or calls."""
        answer = self.rule(turn(llm_request.contents))
        if isinstance(answer, str):
            parts = [types.Part(text=answer)]
        else:
            calls = [types.FunctionCall(name=call.tool, args=call.arguments) for call in answer]
            parts = [types.Part(function_call=call) for call in calls]
        yield LlmResponse(content=types.ModelContent(parts), usage_metadata=_NO_TOKENS)


def turn(contents: list[Any]) -> Turn:
    """Reads a request: the last user text is asked; what ADK preloads stands before it."""
    texts: list[str] = []
    answers: list[tuple[str, dict[str, Any]]] = []
    for content in contents:
        for part in content.parts or []:
            if part.function_response:
                name = part.function_response.name or ""
                answers.append((name, dict(part.function_response.response or {})))
            elif part.text and content.role == "user":
                texts.append(part.text)
    memories = [text for text in texts[:-1] if _MEMORIES in text]
    return Turn(texts[-1] if texts else "", "\n".join(memories), tuple(answers))
