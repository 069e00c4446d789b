"""Undoing turns of a conversation: what goes back, what stays, and what cannot be undone again.

ADK's rewind puts session state and artifacts back to before a turn. Rewinding to a turn that was
itself undone would bring undone state back, since ADK computes it from all events: that is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

STAYS = (
    "what was remembered from the undone turns",
    "your home team and your last planning run",
    "a planning run that was started",
)
"""What no rewind undoes, in the person's words."""


class NotUndone(ValueError):
    """A turn that cannot be undone; the message says why."""


def live(events: Iterable[Any]) -> list[str]:
    """The turns (invocation IDs) of a conversation that still count, the oldest first."""
    turns: list[str] = []
    for event in events:
        before = event.actions.rewind_before_invocation_id if event.actions else None
        if before:
            turns = turns[: turns.index(before)] if before in turns else turns
        elif event.author != "user" and event.invocation_id not in turns:
            turns.append(event.invocation_id)
    return turns


async def rewind(runner: Any, user: str, session: str, turn: str) -> dict[str, Any]:
    """Undoes `turn` and all after it.

    Returns:
        `undone`: how many turns; `stays`: what is as it was.

    Raises:
        NotUndone: the conversation has no such turn, or it was undone already.
    """
    found = await runner.session_service.get_session(
        app_name=runner.app_name, user_id=user, session_id=session
    )
    turns = live(found.events) if found else []
    if turn not in turns:
        raise NotUndone(f"the conversation has no turn {turn}, or it was undone already")
    await runner.rewind_async(user_id=user, session_id=session, rewind_before_invocation_id=turn)
    return {"undone": len(turns) - turns.index(turn), "stays": list(STAYS)}
