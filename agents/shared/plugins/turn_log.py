"""One line of JSON a turn: how long it took, what it cost, and the trace that it belongs to.

No content: neither question nor answer, and the user only as a hash. The fields `severity` and
`logging.googleapis.com/trace` are those that Cloud Logging reads from a line on standard output
(https://cloud.google.com/logging/docs/structured-logging).
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin

from agents.shared import tracing
from agents.shared.settings import optional

TURNS = 1_000


@dataclass
class _Turn:
    began: float
    trace: str
    counts: Counter[str] = field(default_factory=Counter)


class TurnLog(BasePlugin):
    """Counts, and prints when the turn is over."""

    def __init__(self, agent: str) -> None:
        super().__init__(name="turn_log")
        self._agent = agent
        self._turns: dict[str, _Turn] = {}

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """A turn begins."""
        while len(self._turns) >= TURNS:
            del self._turns[next(iter(self._turns))]
        turn = _Turn(time.monotonic(), tracing.begin())
        self._turns[invocation_context.invocation_id] = turn

    async def before_model_callback(self, *, callback_context: Any, **_: Any) -> None:
        """A model is asked."""
        self._count(callback_context, model_calls=1)

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """A model has answered."""
        if usage := llm_response.usage_metadata:
            self._count(
                callback_context,
                input_tokens=usage.prompt_token_count or 0,
                output_tokens=usage.candidates_token_count or 0,
            )

    async def on_model_error_callback(self, *, callback_context: Any, **_: Any) -> None:
        """A model has failed."""
        self._count(callback_context, model_errors=1)

    async def before_tool_callback(self, *, tool_context: Any, **_: Any) -> None:
        """A tool is called."""
        self._count(tool_context, tool_calls=1)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """The turn is over."""
        turn = self._turns.pop(invocation_context.invocation_id, None)
        if turn is None:
            return
        project = optional("GOOGLE_CLOUD_PROJECT")
        line = {
            "severity": "INFO",
            "message": f"{self._agent} answered",
            "agent": self._agent,
            "turn": invocation_context.invocation_id,
            "user": _hashed(invocation_context.user_id),
            "seconds": round(time.monotonic() - turn.began, 3),
            "model_calls": 0,
            "model_errors": 0,
            "tool_calls": 0,
            "input_tokens": 0,
            "output_tokens": 0,
            **turn.counts,
            "logging.googleapis.com/trace": f"projects/{project}/traces/{turn.trace}",
        }
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def _count(self, context: Any, **counts: int) -> None:
        if turn := self._turns.get(context.invocation_id):
            turn.counts.update(counts)


def _hashed(user: str) -> str:
    return hashlib.sha256(user.encode()).hexdigest()[:12]
