"""Deployments on record: one numbered document each, written before anything is changed.

`deployments/0007.json` in the control bucket says what deployment 7 is about to do and what served
before, then the name of each operation as soon as it is known, what was verified, and how it ended.
A run that was killed leaves its document at "started": all that is needed to finish it, or to bring
back what served before, is in there and in the releases bucket. No secret's value ever is.
"""

from __future__ import annotations

import getpass
import os
import socket
import threading
import uuid
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from infra.errors import RemoteError
from services import times
from services.release.parallel import all_of
from services.release.plan import AgentPlan, Plan
from services.release.records import NOT_THERE, Bucket

SCHEMA_VERSION = 3
FOLDER = "deployments/"
DIGITS = 4
READS_AT_ONCE = 8

Status = Literal["started", "canary", "succeeded", "failed", "interrupted", "aborted"]
OPEN: frozenset[Status] = frozenset({"started", "canary"})
"""Deployments that are still to be finished or aborted."""


class FactRecord(BaseModel):
    """One thing that was verified, and how it is known."""

    what: str
    grade: Literal["declared", "self-reported", "unreadable"]
    ok: bool | None
    found: str | None = None


class BeforeRecord(BaseModel):
    """What an engine served before; `spec` is None where it served nothing."""

    spec: dict[str, Any] | None = None
    release: str | None = None
    bundle: str | None = None
    traffic: dict[str, int] = {}


class AgentRecord(BaseModel):
    """What is done to one engine. `changes` are fields; what follows `smoke` comes later."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    engine: str
    bundle: str
    changes: list[str]
    wanted: dict[str, Any] | None = None
    before: BeforeRecord = BeforeRecord()
    wave: int = 0
    smoke: str | None = None
    operation: str | None = None
    revision: str | None = None
    facts: list[FactRecord] = []
    error: str | None = None
    seconds: float | None = None
    restored: bool = False


class Deployment(BaseModel):
    """One deployment's document; times are UTC, RFC 3339."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    schema_version: int = SCHEMA_VERSION
    number: int
    run: str
    """A random word that tells two runs apart."""
    environment: str
    release: str
    action: str = "deploy"
    """What asked for it: deploy, rollback 3, rotate …"""
    principal: str | None = None
    """The account whose credentials were used, as IAM names it; None when it could not be told."""
    who: str | None = None
    """The account on the machine that ran the command."""
    host: str | None = None
    commit: str | None = None
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
        **known: Any,
    ) -> None:
        """Adds what became known of an agent (fields of AgentRecord), and writes it down."""
        with self._changing:
            record = self.deployment.agents[agent]
            for field, value in known.items():
                setattr(record, field, value)
            self._version += 1
        self._save()

    def close(self, status: Status) -> None:
        """Writes how the deployment ended."""
        with self._changing:
            self.deployment.status, self.deployment.ended = status, times.now()
            self._version += 1
        self._save()

    def _save(self) -> None:
        """Writes the document, once for what several threads noted while a write was under way.

        Storage takes about one write a second of one object [documented]; a burst is bearable.
        """
        name = path(self.deployment.number)
        with self._writing:
            with self._changing:
                version = self._version
                data = self.deployment.model_dump_json(indent=1).encode()
            if version == self._written:
                return
            new = self._bucket.write(name, data, "application/json", generation=self._generation)
            if new is None:
                raise self._bucket.changed(name)
            self._generation, self._written = new, version


def begin(
    bucket: Bucket,
    plan: Plan,
    *,
    last: int,
    action: str,
    commit: str | None,
    principal: str | None = None,
) -> Journal:
    """Writes the document of a new deployment, numbered after `last`.

    Args:
        principal: the account whose credentials are used.
        action: the command that asked for it.
        commit: of the checkout that the release was built from.

    Raises:
        RemoteError: another run took the number: it deploys at the same time.
    """
    deployment = Deployment(
        number=last + 1,
        run=uuid.uuid4().hex,
        environment=plan.environment,
        release=plan.release,
        action=action,
        principal=principal,
        who=who(),
        host=socket.gethostname(),
        commit=commit,
        status="started",
        started=times.now(),
        agents={agent.agent: _record(agent) for agent in plan.changed},
    )
    name = path(deployment.number)
    data = deployment.model_dump_json(indent=1).encode()
    generation = bucket.write(name, data, "application/json", generation=NOT_THERE)
    if generation is None:
        raise bucket.changed(name)
    return Journal(bucket, deployment, generation)


def last(bucket: Bucket) -> Journal | None:
    """The newest deployment on record, or None.

    Raises:
        RemoteError: its document cannot be read.
    """
    paths = bucket.names(FOLDER)
    return _open(bucket, paths[-1]) if paths else None


def history(bucket: Bucket, most: int | None = None) -> list[Deployment]:
    """Deployments on record, the newest first.

    Raises:
        RemoteError: a document cannot be read.
    """
    paths = bucket.names(FOLDER)[::-1][:most]
    calls = {path: partial(_open, bucket, path) for path in paths}
    found = all_of(calls, at_most=READS_AT_ONCE)
    return [opened.deployment for opened in found.values() if opened is not None]


def _open(bucket: Bucket, path: str) -> Journal | None:
    if (stored := bucket.read(path)) is None:
        return None
    try:
        deployment = Deployment.model_validate_json(stored.data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RemoteError(
            f"not a deployment's document: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=bucket.where(path),
            fix="use the newer slipway that wrote it, or move the object away",
        ) from None
    return Journal(bucket, deployment, stored.generation)


def who() -> str:
    """The account that runs this command on its machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _record(agent: AgentPlan) -> AgentRecord:
    before = agent.before
    return AgentRecord(
        engine=agent.engine,
        bundle=agent.bundle.digest,
        changes=[change.field for change in agent.changes],
        wanted=dict(agent.spec),
        before=BeforeRecord(
            spec=dict(before.spec) if before.spec is not None else None,
            release=before.release,
            bundle=before.bundle,
            traffic=dict(before.traffic),
        ),
        wave=agent.wave,
        smoke=agent.smoke,
    )


def path(number: int) -> str:
    """The object that holds a deployment's document."""
    return f"{FOLDER}{number:0{DIGITS}}.json"
