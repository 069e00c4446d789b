"""The router, for `adk eval`; the specialists are asked over HTTP, as the environment says."""

from __future__ import annotations

from agents.router.workflow import build

app = build("acme")
root_agent = app.root_agent
