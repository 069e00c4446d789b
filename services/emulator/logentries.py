"""Cloud Logging's `entries:list`, for what engines write: each line of a log is an entry.

A process writes lines without a time, so an entry's time is when its log was written last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from starlette.routing import BaseRoute

from services.emulator import engines, launches
from services.emulator.errors import invalid
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, route
from services.emulator.state import Body

TYPE = "aiplatform.googleapis.com/ReasoningEngine"
_ENGINE = re.compile(r'resource\.labels\.reasoning_engine_id\s*=\s*"([^"]+)"')
MOST = 1000


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST route."""

    async def listed(call: Call) -> Result:
        """`POST /v2/entries:list` with `resourceNames`, `filter`, `orderBy`, `pageSize`."""
        match = _ENGINE.search(str(call.json.get("filter", "")))
        if match is None:
            raise invalid("filter: the local platform needs resource.labels.reasoning_engine_id.")
        size = call.json.get("pageSize") or 50
        if not isinstance(size, int) or not 1 <= size <= MOST:
            raise invalid(f"page_size: 1 to {MOST}.")
        name = next(
            (
                str(body["name"])
                for body in platform.store.list(engines.KIND)
                if str(body["name"]).endswith(f"/{match[1]}")
            ),
            "",
        )
        newest = list(_entries(platform, name, match[1]))[-size:]
        descending = "desc" in str(call.json.get("orderBy", ""))
        return {"entries": newest[::-1] if descending else newest}

    return [route("POST", "/v2/entries:list", listed)]


def _entries(platform: Platform, engine: str, id_: str) -> Iterator[Body]:
    """Every kept line of an engine's revisions, the oldest first."""
    if not engine:
        return
    folder = launches.files(platform, engine)
    logs = sorted(folder.glob("*.log"), key=lambda log: int(log.stem))
    for log in logs:
        written = datetime.fromtimestamp(log.stat().st_mtime, UTC).isoformat()
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        for number, line in enumerate(lines):
            yield {
                "insertId": f"{log.stem}-{number}",
                "timestamp": written.replace("+00:00", "Z"),
                "textPayload": line,
                "resource": {
                    "type": TYPE,
                    "labels": {"reasoning_engine_id": id_, "runtime_revision": log.stem},
                },
            }
