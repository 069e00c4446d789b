"""So many turns a minute for each person; more are refused, and cost nothing.

Each instance of an engine counts for itself, so with N instances a person may reach N times as
many. That is enough against a loop that asks without end, which is what it is for.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from agents.shared.settings import whole_number

SECONDS = 60.0
PER_MINUTE = 120
PEOPLE = 10_000
"""Whose turns are counted: those who asked last."""
REFUSED = "You have asked very often within a minute. Wait a little, then ask again."


class Limit(BasePlugin):
    """Counts turns."""

    def __init__(self, say: Callable[[str], str]) -> None:
        """Args: say: see `plugins`.

        Raises:
            SetupError: SLIPWAY_TURNS_PER_MINUTE is no number.
        """
        super().__init__(name="limit")
        self._say = say
        self._most = whole_number("SLIPWAY_TURNS_PER_MINUTE", PER_MINUTE)
        self._turns: OrderedDict[str, deque[float]] = OrderedDict()

    async def before_run_callback(self, *, invocation_context: Any) -> types.Content | None:
        """Before a turn: refuses it when there were too many."""
        user, now = invocation_context.user_id, time.monotonic()
        turns = self._turns.setdefault(user, deque())
        self._turns.move_to_end(user)
        while len(self._turns) > PEOPLE:
            self._turns.popitem(last=False)
        while turns and now - turns[0] > SECONDS:
            turns.popleft()
        if len(turns) >= self._most:
            return types.ModelContent(self._say(REFUSED))
        turns.append(now)
        return None
