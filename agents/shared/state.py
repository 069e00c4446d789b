"""Every key of session state that an agent writes: its type, who writes it, and who reads it.

The prefix says how long a value lasts and who shares it (ADK): none, this conversation; `temp:`,
this turn, never stored; `user:`, all conversations of one person; `app:`, everybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Prefix = Literal["", "temp:", "user:", "app:"]


@dataclass(frozen=True)
class Key:
    """One key. `holds` is the type of its value, as JSON has it."""

    prefix: Prefix
    word: str
    holds: str
    writer: str
    readers: tuple[str, ...]

    @property
    def name(self) -> str:
        """The key as it is written."""
        return f"{self.prefix}{self.word}"


SETTLED = Key("", "settled", "object (rules.Settled)", "route", ("collect", "writer"))
QUERIES = Key("", "queries", "object (query.Query by agent)", "route", ("specialists", "collect"))
FINDINGS = Key("", "findings", "list (findings.Finding)", "collect", ("slipway ask",))
LISTINGS = Key("", "listings", "list (findings.Listing)", "collect", ("slipway ask",))
LAST_PLAN = Key("", "last_plan", "object (query.Query)", "route", ("route",))
HOME_TEAM = Key(
    "user:", "home_team", "string, the name of an agent that owns data", "route", ("route",)
)
FILE = Key("", "file", "string, the name of an artifact", "collect", ("slipway ask",))
REMEMBERED = Key("temp:", "remembered", "list of strings", "recall", ("route", "writer"))
MEMORY_FAILED = Key("temp:", "memory_failed", "true", "recall", ("collect",))
TOKEN = Key("temp:", "databricks_token", "string", "the front", ("specialists", "signed_in"))
APPROVED = Key("temp:", "approved", "string (approved.digest)", "specialist", ("replan",))
PENDING = Key("", "pending", "object (approval.Pending), or null", "approve", ("approve",))
LAST_RUN = Key("user:", "last_replan_run", "object (findings.Run)", "collect", ("route",))

KEYS = tuple(value for value in list(globals().values()) if isinstance(value, Key))
