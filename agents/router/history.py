"""What was asked earlier in a conversation: for the step that reads a message, and for nobody else.

ADK's compaction needs a summariser, by default a model's, whose text may hold figures that are old
by the time it is read. This one needs no model: it keeps the user's own words, without what the
guard refuses (figures above all), and never an answer. The events themselves stay in the store, so
a turn that waits for an approval can go on whatever was summarised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.adk.apps.base_events_summarizer import BaseEventsSummarizer
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions, EventCompaction
from google.adk.tools.base_tool import BaseTool
from google.genai import types

from agents.shared import guard
from agents.shared.query import MAX_TEXT

INTERVAL = 5
OVERLAP = 1
LINE = 200
"""Characters of a message that are kept."""
SUMMARIES = 4
TAG = "EARLIER_IN_THIS_CONVERSATION"


class Summary(BaseEventsSummarizer):
    """The user's own words, a line a message."""

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """One event that stands for `events`; None when the user said nothing in them."""
        lines = list(said(events))
        if not lines:
            return None
        compaction = EventCompaction(
            start_timestamp=events[0].timestamp,
            end_timestamp=events[-1].timestamp,
            compacted_content=types.Content(
                role="model", parts=[types.Part(text="\n".join(lines))]
            ),
        )
        return Event(
            author="user",
            invocation_id=Event.new_id(),
            actions=EventActions(compaction=compaction),
        )


class History(BaseTool):
    """Adds what was asked earlier to a model's request, as data between tags."""

    def __init__(self) -> None:
        super().__init__(name="history", description="What was asked earlier.")

    async def process_llm_request(self, *, tool_context: Any, llm_request: Any) -> None:
        """Before a model is asked."""
        earlier = list(_earlier(tool_context.session.events, tool_context.invocation_id))
        if earlier:
            text = "\n".join([f"<{TAG}>", *earlier, f"</{TAG}>"])
            llm_request.contents.insert(0, types.UserContent(text))


def said(events: Iterable[Event]) -> Iterator[str]:
    """The user's own messages that may be kept, as lines."""
    known = list(events)
    turns = {event.invocation_id for event in known if event.author != "user"}
    for event in known:
        # A node's input is the user's by its author alone; it belongs to no turn of its own.
        if event.author != "user" or event.invocation_id not in turns or not event.content:
            continue
        text = " ".join(part.text for part in event.content.parts or [] if part.text)
        kept = guard.kept(text) if len(text) <= MAX_TEXT else ""
        if line := " ".join(kept.split())[:LINE]:
            yield f"- {line.replace('<', '‹').replace('>', '›')}"


def _earlier(events: list[Event], invocation: str) -> Iterator[str]:
    """The newest summaries, then what was said after them."""
    summaries = [event.actions.compaction for event in events if event.actions.compaction]
    end = summaries[-1].end_timestamp if summaries else 0.0
    for summary in summaries[-SUMMARIES:]:
        for part in summary.compacted_content.parts or []:
            yield from (part.text or "").splitlines()
    yield from said(
        event for event in events if event.timestamp > end and event.invocation_id != invocation
    )
