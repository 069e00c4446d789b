"""What memory holds of the user: searched once a turn, and no more than data afterwards.

ADK's PreloadMemoryTool searches before each model call, and tells nobody when it could not. Here
one search serves extract and writer, what the guard refuses of it is not used, and "there is
nothing" and "it could not be asked" stay apart.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from google.adk.memory.base_memory_service import SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from agents.shared import guard
from agents.shared.state import MEMORY_FAILED, REMEMBERED

LOG = logging.getLogger("agents.router")
FAILED = "What I remember about you could not be read, so no preference is applied"


class Recall(PreloadMemoryTool):
    """ADK's tool over this turn's one search."""

    async def process_llm_request(self, *, tool_context: Any, llm_request: Any) -> None:
        """Before a model is asked: adds what is remembered, between ADK's tags."""
        if REMEMBERED.name not in tool_context.state:
            await _search(tool_context)
        once = _Once(tool_context.user_content, facts(tool_context.state))
        await super().process_llm_request(tool_context=once, llm_request=llm_request)


def facts(state: Any) -> list[str]:
    """What is remembered and may be used, as the search of this turn gave it."""
    return list(state.get(REMEMBERED.name, []))


def failed(state: Any) -> bool:
    """Whether memory could not be asked in this turn."""
    return bool(state.get(MEMORY_FAILED.name, False))


async def _search(tool_context: Any) -> None:
    text = " ".join(part.text for part in tool_context.user_content.parts or [] if part.text)
    found: list[str] = []
    try:
        response = await tool_context.search_memory(text)
    except Exception as error:  # noqa: BLE001 - whatever a service raises, the answer must come
        # Not the traceback: a client's error may hold the request, and so the user's words.
        LOG.error("memory could not be searched: %s", type(error).__name__)
        tool_context.state[MEMORY_FAILED.name] = True
        response = SearchMemoryResponse()
    for memory in response.memories:
        parts = (memory.content.parts if memory.content else None) or []
        raw = " ".join(part.text for part in parts if part.text)
        if fact := guard.kept(raw):
            found.append(" ".join(fact.split()))
        elif raw.strip():
            LOG.warning(
                "a memory was not used: %s", sorted({hit.rule for hit in guard.inspect(raw)})
            )
    tool_context.state[REMEMBERED.name] = found


@dataclass(frozen=True)
class _Once:
    """What PreloadMemoryTool needs of a context, with the answer of the one search."""

    user_content: Any
    found: list[str]

    async def search_memory(self, query: str) -> SearchMemoryResponse:
        """What was found already."""
        del query
        entries = [MemoryEntry(author="user", content=types.UserContent(f)) for f in self.found]
        return SearchMemoryResponse(memories=entries)
