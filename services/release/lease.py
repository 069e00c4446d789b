"""The deployment lease: one deployer at a time for an environment, and never for ever.

`lease.json` in the control bucket says who deploys, from where, since when and for how long. It is
taken by a generation precondition, renewed while the deployment runs, and deleted at its end. One
whose time is over is taken over. Times are the bucket's own, so a wrong clock changes nothing.

The holder asks before each change whether the lease is still its own. Between that answer and the
change lies one request: a holder that is stopped there for longer than its lease, and wakes up
after another one took over, still sends that one change. The engine's etag goes with it, which a
server that honours etags refuses.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from infra.errors import RemoteError
from services import times
from services.release.journal import who
from services.release.records import NOT_THERE, Bucket, Stored

PATH = "lease.json"
CLOCK = "clock.json"
SECONDS = 120.0
"""How long a lease lasts without being renewed; a killed deployer holds others up for so long."""
RENEWALS = 4
"""How often a lease is renewed within its time."""


class Lease(BaseModel):
    """The document; `run` is a random word, `seconds` its time from its last renewal."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    run: str
    machine: str = ""
    """Tells two machines of one name apart, and two containers on one machine."""
    who: str
    host: str
    pid: int
    command: str
    since: str
    seconds: float

    def __str__(self) -> str:
        """Who deploys, from where, since when."""
        place = f"{self.who} on {self.host} (pid {self.pid})"
        return f"{place} runs {self.command} here since {self.since}"


@dataclass
class Held:
    """A lease of ours; a context manager that gives it back."""

    bucket: Bucket
    lease: Lease
    generation: int
    _renewed: float = field(default_factory=time.monotonic)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        threading.Thread(target=self._keep, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        with self._lock:
            # Twice: one that stays behind holds others up until its time is over.
            for last in (False, True):
                try:
                    if self.bucket.delete(PATH, generation=self.generation):
                        return
                except RemoteError:
                    if last and error is None:
                        raise

    def require(self) -> None:
        """To be called before each change.

        Raises:
            RemoteError: the lease ran out, and may be another one's by now.
        """
        with self._lock:
            if time.monotonic() - self._renewed < self.lease.seconds / 2:
                return
            self._renew()

    def _keep(self) -> None:
        while not self._stop.wait(self.lease.seconds / RENEWALS):
            try:
                with self._lock:
                    if not self._stop.is_set():
                        self._renew()
            except RemoteError:
                continue  # `require` says so before the next change

    def _renew(self) -> None:
        started = time.monotonic()
        # Other bytes each time: an object that holds these very bytes counts as written.
        lease = self.lease.model_copy(update={"run": f"{self.lease.run.split('.')[0]}.{started}"})
        data = lease.model_dump_json(indent=1).encode()
        new = self.bucket.write(PATH, data, "application/json", generation=self.generation)
        if new is None:
            raise RemoteError(
                "the lease of this deployment ran out, and another one took it",
                where=self.bucket.where(PATH),
                fix="wait until that one has ended, then run the same command again",
            )
        self.generation, self._renewed = new, started


def acquire(bucket: Bucket, command: str, seconds: float = SECONDS) -> Held:
    """Takes the lease.

    Raises:
        RemoteError: another run holds it; the error says who, from where, since when, until when.
    """
    lease = Lease(
        run=uuid.uuid4().hex,
        machine=_machine(),
        who=who(),
        host=socket.gethostname(),
        pid=os.getpid(),
        command=command,
        since=times.now(),
        seconds=seconds,
    )
    data = lease.model_dump_json(indent=1).encode()
    generation = bucket.write(PATH, data, "application/json", generation=NOT_THERE)
    while generation is None:
        generation = _take_over(bucket, data)
    return Held(bucket, lease, generation)


def holder(bucket: Bucket) -> Lease | None:
    """Who holds the lease; None when nobody does, or its time is over."""
    stored = bucket.read(PATH)
    if stored is None or (ends := _ends(bucket, stored)) is None:
        return None
    return None if _over(bucket, stored, ends) else _parse(stored.data)


def drop_dead(bucket: Bucket) -> None:
    """Removes a lease that nobody holds any more: its holder died, or its time is over."""
    stored = bucket.read(PATH)
    if stored is None or (ends := _ends(bucket, stored)) is None:
        return
    if _over(bucket, stored, ends):
        bucket.delete(PATH, generation=stored.generation)


def _take_over(bucket: Bucket, data: bytes) -> int | None:
    """The generation of ours if the one that is there had run out; None: look again.

    Raises:
        RemoteError: it has not.
    """
    stored = bucket.read(PATH)
    if stored is None:
        return bucket.write(PATH, data, "application/json", generation=NOT_THERE)
    ends = _ends(bucket, stored)
    if ends is None:
        return None
    if _over(bucket, stored, ends):
        return bucket.write(PATH, data, "application/json", generation=stored.generation)
    other = _parse(stored.data)
    told = "another run deploys here"
    if other is not None:
        told = f"{other}; its lease ends at {times.rfc3339(ends)} unless it is renewed"
    raise busy(bucket, told)


def busy(bucket: Bucket, told: str) -> RemoteError:
    """The error for a lease that another run holds."""
    return RemoteError(
        told,
        where=bucket.where(PATH),
        fix="wait until it has ended; if it is dead, its lease ends by itself",
    )


def _over(bucket: Bucket, stored: Stored, ends: datetime) -> bool:
    """Whether nobody holds the lease any more: its holder died, or its time is over."""
    lease = _parse(stored.data)
    return (lease is not None and _dead(lease)) or bucket.now(CLOCK) >= ends


def _ends(bucket: Bucket, stored: Stored) -> datetime | None:
    """When the lease ends, by the bucket's time; None when another one is there by now."""
    written = bucket.written(PATH, stored.generation)
    lease = _parse(stored.data)
    seconds = lease.seconds if lease is not None else SECONDS
    return written + timedelta(seconds=seconds) if written is not None else None


def _dead(lease: Lease) -> bool:
    """Whether the holder was a process of this very machine that is no more."""
    if not lease.machine or lease.machine != _machine():
        return False
    try:
        os.kill(lease.pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _machine() -> str:
    """This boot of this machine, and the processes that can be seen here; "" where unknown."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _parse(data: bytes) -> Lease | None:
    try:
        return Lease.model_validate_json(data)
    except ValidationError:
        return None
