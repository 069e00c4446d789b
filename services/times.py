"""Times as documents and messages have them."""

from __future__ import annotations

from datetime import UTC, datetime


def rfc3339(moment: datetime) -> str:
    """A moment in UTC, to the second: `2026-12-03T10:02:11Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def now() -> str:
    """This machine's time, written so."""
    return rfc3339(datetime.now(UTC))
