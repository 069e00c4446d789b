"""What an agent wrote to its log, read from Cloud Logging."""

from __future__ import annotations

from dataclasses import dataclass

from infra.errors import InputError
from infra.rest import Rest
from services.release.site import Site

TYPE = "aiplatform.googleapis.com/ReasoningEngine"


@dataclass(frozen=True)
class Line:
    """One line: when it was written (RFC 3339), how severe it is, what it says."""

    time: str
    severity: str
    text: str


def tail(site: Site, agent: str, lines: int) -> list[Line]:
    """The last lines of an agent's engine, the oldest first.

    Raises:
        InputError: the environment has no such agent.
        RemoteError: the log cannot be read.
    """
    entry = site.descriptor.engines.get(agent)
    if entry is None:
        known = ", ".join(site.descriptor.engines)
        raise InputError(
            f"{site.descriptor.environment} has no agent {agent!r}", fix=f"known: {known}"
        )
    wanted = f'resource.type="{TYPE}" AND resource.labels.reasoning_engine_id="{entry.id}"'
    body = {
        "resourceNames": [f"projects/{site.descriptor.project}"],
        "filter": wanted,
        "orderBy": "timestamp desc",
        "pageSize": lines,
    }
    url = f"{site.target.endpoints.logging}/v2/entries:list"
    found = Rest(site.target.credentials).post(url, body).get("entries", [])
    return [
        Line(
            str(item.get("timestamp", "")),
            str(item.get("severity", "DEFAULT")),
            str(item.get("textPayload") or item.get("jsonPayload") or ""),
        )
        for item in reversed(found)
    ]
