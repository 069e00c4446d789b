"""Processes of deployed engines: started, switched between, drained and stopped.

An engine's process gets exactly the environment it is given, its own log file, and a standard input
that the platform holds open: when the platform dies, however it dies, the process reads its end.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Collection, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUNNER = Path(__file__).with_name("runner.py")
START_SECONDS = 60.0
DRAIN_SECONDS = 30.0
STOP_SECONDS = 3.0
"""From SIGTERM to SIGKILL; longer than the runner's own grace."""
TAIL_LINES = 12


@dataclass(frozen=True)
class Account:
    """Who a process is: what its metadata server answers."""

    project: str
    number: str
    email: str
    region: str


@dataclass(frozen=True)
class Launch:
    """What to start. `key` is the path of its metadata server, which no other process knows."""

    engine: str
    revision: str
    """Full name of the runtime revision."""
    folder: Path
    """The unpacked archive."""
    log: Path
    module: str
    object: str
    methods: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    account: Account
    key: str = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False, default=())
    """Values that no message may contain."""


class StartError(Exception):
    """An engine's process did not serve; the message has the last lines of its log."""


@dataclass
class Running:
    """A process that serves on a loopback port."""

    launch: Launch
    port: int
    process: asyncio.subprocess.Process
    requests: int = 0
    """Those that are being answered now."""

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        return self.process.returncode is None


class Processes:
    """The processes of engines, by the revision that each serves."""

    def __init__(self) -> None:
        self._current: dict[str, Running] = {}
        self._accounts: dict[str, Account] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._started: list[Running] = []
        self._background: set[asyncio.Task[None]] = set()

    def lock(self, engine: str) -> asyncio.Lock:
        """Held by whoever changes the engine or its process."""
        return self._locks.setdefault(engine, asyncio.Lock())

    def current(self, revision: str) -> Running | None:
        """The process that serves the revision; None when there is none or it has ended."""
        running = self._current.get(revision)
        return running if running is not None and running.alive else None

    def account(self, key: str) -> Account | None:
        """Whose process uses this metadata server."""
        return self._accounts.get(key)

    async def start(self, launch: Launch) -> Running:
        """Starts a process and waits until it serves; it is not yet its revision's current one.

        Raises:
            StartError: it ended, or did not serve in time.
        """
        self._accounts[launch.key] = launch.account
        before = launch.log.stat().st_size if launch.log.exists() else 0
        read_end, write_end = os.pipe()
        try:
            with launch.log.open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    *_command(launch, write_end), cwd=launch.folder, env=dict(launch.env),
                    stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log,
                    pass_fds=(write_end,), start_new_session=True,
                )  # fmt: skip
        except BaseException:
            os.close(read_end)
            self._accounts.pop(launch.key, None)
            raise
        finally:
            os.close(write_end)
        port = None
        try:
            port = await _announced(read_end)
        finally:
            if port is None:
                await _end(process)
                self._accounts.pop(launch.key, None)
        if port is None:
            raise StartError(_why(launch, process, before))
        running = Running(launch, port, process)
        self._started.append(running)
        return running

    def add(self, running: Running) -> None:
        """Makes it its revision's process."""
        self._current[running.launch.revision] = running

    def stop(self, engine: str, *, keep: Collection[str] = ()) -> None:
        """Ends the engine's processes but those of `keep`, once they answered what they began."""
        for revision, running in list(self._current.items()):
            if running.launch.engine == engine and revision not in keep:
                del self._current[revision]
                self._later(self._retire(running))

    def retire(self, running: Running) -> None:
        """Ends a process that is no revision's, once it answered what it began."""
        self._later(self._retire(running))

    async def stop_all(self) -> None:
        """Ends every process now, and waits."""
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*(_end(running.process) for running in self._started))
        self._current.clear()

    async def _retire(self, running: Running) -> None:
        end = asyncio.get_running_loop().time() + DRAIN_SECONDS
        while running.requests and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.05)
        await _end(running.process)
        self._accounts.pop(running.launch.key, None)
        self._started.remove(running)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


def _command(launch: Launch, ready_fd: int) -> list[str]:
    methods = json.dumps(launch.methods)
    return [
        sys.executable, "-P", str(RUNNER), "--module", launch.module, "--object", launch.object,
        "--methods", methods, "--ready-fd", str(ready_fd),
    ]  # fmt: skip


async def _announced(read_end: int) -> int | None:
    """The port that the runner writes once it serves; None when it ended or took too long."""
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", 0)
    )
    try:
        line = await asyncio.wait_for(reader.readline(), START_SECONDS)
    except TimeoutError:
        return None
    finally:
        transport.close()
    return int(line) if line.strip().isdigit() else None


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        if process.returncode is None:
            process.terminate()
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _why(launch: Launch, process: asyncio.subprocess.Process, offset: int) -> str:
    with launch.log.open("rb") as log:
        log.seek(offset)
        text = log.read().decode(errors="replace")
    for secret in launch.secrets:
        text = text.replace(secret, "***")
    tail = "\n".join(text.strip().splitlines()[-TAIL_LINES:])
    # Only this module sends SIGTERM to a process that starts: when it was too slow.
    slow = process.returncode is not None and process.returncode < 0
    how = f"within {START_SECONDS:.0f} s" if slow else f"(exit code {process.returncode})"
    entry = f"{launch.module}:{launch.object}"
    return f"{entry} did not start serving {how}. The log ends with:\n{tail}"
