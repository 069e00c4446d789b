"""No call of a model takes longer than what is left of its turn's time."""

from __future__ import annotations

import time
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

TURN_SECONDS = 60.0
CALL_SECONDS = 20.0
LEAST_SECONDS = 1.0
"""A call that comes too late still fails by itself, so that rules can take its place."""
TURNS = 1_000


class Deadline(BasePlugin):
    """Gives each request its timeout."""

    def __init__(self) -> None:
        super().__init__(name="deadline")
        self._began: dict[str, float] = {}

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """The turn's time begins."""
        while len(self._began) >= TURNS:
            del self._began[next(iter(self._began))]
        self._began[invocation_context.invocation_id] = time.monotonic()

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Before a model is asked: says how long it may take."""
        began = self._began.get(callback_context.invocation_id, time.monotonic())
        left = TURN_SECONDS - (time.monotonic() - began)
        seconds = max(LEAST_SECONDS, min(CALL_SECONDS, left))
        config = llm_request.config or types.GenerateContentConfig()
        options = config.http_options or types.HttpOptions()
        timed = options.model_copy(update={"timeout": int(seconds * 1000)})
        llm_request.config = config.model_copy(update={"http_options": timed})

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """The turn is over."""
        self._began.pop(invocation_context.invocation_id, None)
