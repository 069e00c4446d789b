"""Deployments on record: one numbered document each, written before anything is changed.

`deployments/0007.json` in the control bucket says what deployment 7 is about to do, then the name
of each operation as soon as it is known, then how it ended. A run that was killed leaves its
document at "started"; the next one waits for the operations named there and closes it as
"interrupted".
"""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from infra.errors import RemoteError
from services.release.plan import AgentPlan, Plan
from services.release.records import NOT_THERE, Bucket

SCHEMA_VERSION = 1
FOLDER = "deployments/"
DIGITS = 4

Status = Literal["started", "succeeded", "failed", "interrupted"]


class AgentRecord(BaseModel):
    """What is done to one engine. `changes` are fields; `operation` and `error` come later."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    engine: str
    bundle: str
    changes: list[str]
    operation: str | None = None
    error: str | None = None
    seconds: float | None = None


class Deployment(BaseModel):
    """One deployment's document; times are UTC, RFC 3339."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    schema_version: int = SCHEMA_VERSION
    number: int
    run: str
    """A random word that tells two runs apart."""
    environment: str
    release: str
    status: Status
    started: str
    ended: str | None = None
    agents: dict[str, AgentRecord]


class Journal:
    """The document of a deployment that runs; may be used by several threads."""

    def __init__(self, bucket: Bucket, deployment: Deployment, generation: int) -> None:
        self.deployment = deployment
        self._bucket, self._generation = bucket, generation
        self._changing, self._writing = threading.Lock(), threading.Lock()
        self._version = self._written = 0

    def note(
        self,
        agent: str,
        *,
        operation: str | None = None,
        error: str | None = None,
        seconds: float | None = None,
    ) -> None:
        """Adds what became known of an agent, and writes it down."""
        with self._changing:
            record = self.deployment.agents[agent]
            record.operation = operation or record.operation
            record.error, record.seconds = error, seconds
            self._version += 1
        self._save()

    def close(self, status: Status) -> None:
        """Writes how the deployment ended."""
        with self._changing:
            self.deployment.status, self.deployment.ended = status, _now()
            self._version += 1
        self._save()

    def _save(self) -> None:
        """Writes the document, once for what several threads noted while a write was under way.

        Storage takes about one write a second of one object [documented]; a burst is bearable.
        """
        path = _path(self.deployment.number)
        with self._writing:
            with self._changing:
                version = self._version
                data = self.deployment.model_dump_json(indent=1).encode()
            if version == self._written:
                return
            new = self._bucket.write(path, data, "application/json", generation=self._generation)
            if new is None:
                raise self._bucket.changed(path)
            self._generation, self._written = new, version


def begin(bucket: Bucket, plan: Plan, *, last: int) -> Journal:
    """Writes the document of a new deployment, numbered after `last`.

    Raises:
        RemoteError: another run took the number: it deploys at the same time.
    """
    deployment = Deployment(
        number=last + 1,
        run=uuid.uuid4().hex,
        environment=plan.environment,
        release=plan.release,
        status="started",
        started=_now(),
        agents={agent.agent: _record(agent) for agent in plan.changed},
    )
    path = _path(deployment.number)
    data = deployment.model_dump_json(indent=1).encode()
    generation = bucket.write(path, data, "application/json", generation=NOT_THERE)
    if generation is None:
        raise bucket.changed(path)
    return Journal(bucket, deployment, generation)


def last(bucket: Bucket) -> Journal | None:
    """The newest deployment on record, or None.

    Raises:
        RemoteError: its document cannot be read.
    """
    paths = bucket.names(FOLDER)
    if not paths or (stored := bucket.read(paths[-1])) is None:
        return None
    try:
        deployment = Deployment.model_validate_json(stored.data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RemoteError(
            f"not a deployment's document: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=bucket.where(paths[-1]),
            fix="use the newer slipway that wrote it, or move the object away",
        ) from None
    return Journal(bucket, deployment, stored.generation)


def _record(agent: AgentPlan) -> AgentRecord:
    changes = [change.field for change in agent.changes]
    return AgentRecord(engine=agent.engine, bundle=agent.bundle.digest, changes=changes)


def _path(number: int) -> str:
    return f"{FOLDER}{number:0{DIGITS}}.json"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
