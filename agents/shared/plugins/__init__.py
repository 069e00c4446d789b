"""The one list of plugins that every agent runs with, the first one asked first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def plugins(agent: str, say: Callable[[str], str] = str) -> list[Any]:
    """The plugins of an agent, for the environment that this process was started in.

    Args:
        say: makes an answer of a sentence, as this agent's callers read it.

    Raises:
        SetupError: the environment is not complete.
    """
    from google.adk.plugins import ToolCallIntegrityPlugin

    from agents.shared import caller
    from agents.shared.plugins import redaction
    from agents.shared.plugins.deadline import Deadline
    from agents.shared.plugins.limit import Limit
    from agents.shared.plugins.switch import Switch
    from agents.shared.plugins.turn_log import TurnLog

    redaction.install()
    return [
        TurnLog(agent),
        Switch(agent, say),
        Limit(say),
        Deadline(),
        ToolCallIntegrityPlugin(secret_key=caller.derived_key("tool calls").encode()),
    ]
