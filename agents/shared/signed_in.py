"""The signed-in person's own token: it travels in a header and lives in `temp:` state alone."""

from __future__ import annotations

from typing import Any

from agents.shared.state import TOKEN


def token(state: Any) -> str:
    """The token of the request that the session state is of; "" when it carries none."""
    found = state.get(TOKEN.name)
    return found if isinstance(found, str) else ""
