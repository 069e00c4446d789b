"""What every part of the local platform is given: state, callers, operations, its address."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from services.emulator.identity import Identity
from services.emulator.operations import Operations
from services.emulator.processes import Processes, Running
from services.emulator.state import Store

PROJECT_NUMBER_BASE = 100_000_000_000


def _client() -> httpx.AsyncClient:
    # An agent may think for long, and many may ask at once; a proxy has no business on loopback.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    return httpx.AsyncClient(timeout=None, trust_env=False, limits=limits)


@dataclass
class Platform:
    """The one state and what acts on it. `endpoint` is `http://127.0.0.1:PORT`."""

    store: Store
    endpoint: str
    schema: Path
    identity: Identity = field(default_factory=Identity)
    operations: Operations = field(init=False)
    processes: Processes = field(default_factory=Processes)
    faults: list[Any] = field(default_factory=list)
    """What was ordered to go wrong (faults.py)."""
    trees: dict[str, Running] = field(default_factory=dict)
    """Working trees that answer for an engine (development.py)."""
    http: httpx.AsyncClient = field(default_factory=_client)
    """Talks to the engines' processes."""

    def __post_init__(self) -> None:
        self.operations = Operations(self.store)

    def project_number(self, project: str) -> str:
        """The project's number: the same for ever once asked for. A number is its own number."""
        if project.isdigit():
            return project
        body = self.store.get("project", project)
        if body is None:
            number = str(self.store.next_id("project", PROJECT_NUMBER_BASE + 1))
            body = self.store.put(
                "project", project, {"projectId": project, "projectNumber": number}
            )
        return str(body["projectNumber"])
