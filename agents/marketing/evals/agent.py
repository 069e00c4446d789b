"""The specialist itself, for `adk eval`, over the data that the environment names."""

from __future__ import annotations

from pathlib import Path

from agents.shared.looking_up import agent

root_agent = agent("marketing", "marketing", Path(__file__).parents[1])
