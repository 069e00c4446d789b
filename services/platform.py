"""Starts, finds and stops the local platform of a checkout.

The platform is a background process over the folder `HOME/platform`; it says where it serves in
`platform.json` and holds a lock on the folder for as long as it lives.
"""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from infra.errors import InputError, PlatformError

START_SECONDS = 30.0
STOP_SECONDS = 12.0
DYING_SECONDS = 2.0
SCHEMA = Path("infra/schema/google.json")
CODE = "code"

Say = Callable[[str], None]


@dataclass(frozen=True)
class RunningPlatform:
    """A platform that answers. `reattach` is the value of TF_REATTACH_PROVIDERS."""

    pid: int
    endpoint: str
    reattach: str
    checkout: str
    started: str


def home(root: Path) -> Path:
    """The folder of runtime files of the checkout `root`: `.slipway`, or what SLIPWAY_HOME says."""
    return Path(os.environ.get("SLIPWAY_HOME") or root / ".slipway").resolve()


def find(root: Path) -> RunningPlatform | None:
    """The running platform of this checkout, or None when there is none (or it died).

    Raises:
        PlatformError: one runs over the same folder but was started from another checkout, or it
            holds the folder and does not answer.
    """
    folder = home(root) / "platform"
    record = _record(folder)
    if record is None:
        return None
    if not _answers(record, folder):
        # One that was killed this very moment still holds the folder for an instant.
        if not _wait_until(lambda: not _locked(folder), DYING_SECONDS):
            raise PlatformError(
                f"the local platform (pid {record.pid}) runs but does not answer",
                where=record.endpoint,
                fix="slipway down, then slipway up",
            )
        return None
    if Path(record.checkout) != root.resolve():
        raise PlatformError(
            f"the local platform there belongs to another checkout, {record.checkout}",
            where=str(folder),
            fix=f"run slipway down in {record.checkout}, or set SLIPWAY_HOME to another folder",
        )
    return record


def require(root: Path) -> RunningPlatform:
    """The running platform; an error that says how to start it when there is none."""
    running = find(root)
    if running is None:
        raise PlatformError(
            "the local platform does not run", where=str(home(root)), fix="slipway up"
        )
    return running


def start(root: Path, say: Say, *, port: int | None = None) -> tuple[RunningPlatform, bool]:
    """Finds the platform, or starts it in the background and waits until it serves.

    Args:
        port: the loopback port to serve on; None takes the one it had before, or any free one.

    Returns:
        The platform, and whether it was started now.

    Raises:
        PlatformError: it cannot be started, or runs on another port than the one asked for.
        InputError: the port is taken.
    """
    folder = home(root) / "platform"
    running = find(root)
    if running is not None and not _current(root, folder):
        say("the platform runs code of before; starting it again")
        stop(root)
        running = None
    if running is not None:
        if port is not None and urlsplit(running.endpoint).port != port:
            raise PlatformError(
                f"the local platform already serves on {running.endpoint}",
                where=f"--port {port}",
                fix="slipway down, then slipway up --port again",
            )
        return running, False
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise PlatformError(
            f"cannot be written: {error.strerror}",
            where=str(error.filename or folder),
            fix="make the folder writable, or set SLIPWAY_HOME to another one",
        ) from None
    if stale := _record(folder):
        say(f"the platform of before (pid {stale.pid}) had died; starting it again")
        (folder / "platform.json").unlink(missing_ok=True)
    return _launch(root, folder, _choose_port(folder, port)), True


def stop(root: Path) -> bool:
    """Stops the platform and its engines; False when none ran.

    The state stays. A platform that does not end in time is killed; its engines then end by
    themselves, since they watch for its end.
    """
    folder = home(root) / "platform"
    record = _record(folder)
    if record is None or not _locked(folder):
        (folder / "platform.json").unlink(missing_ok=True)
        return False
    for number, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, 2.0)):
        try:
            os.kill(record.pid, number)
        except ProcessLookupError:
            break
        if _wait_until(lambda: not _locked(folder), seconds):
            break
    (folder / "platform.json").unlink(missing_ok=True)
    return True


def wipe(root: Path) -> None:
    """Removes the state of a platform that is stopped, and Terraform's folders that go with it."""
    for folder in ("platform", "terraform"):
        shutil.rmtree(home(root) / folder, ignore_errors=True)


def _last_words(root: Path) -> str:
    """The last line of the platform's log."""
    path = home(root) / "platform" / "log"
    text = path.read_text(errors="replace") if path.is_file() else ""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def _launch(root: Path, folder: Path, port: int) -> RunningPlatform:
    command = [sys.executable, "-m", "services.emulator", "--state", str(folder)]
    command += ["--schema", str(root / SCHEMA), "--port", str(port)]
    try:
        log = (folder / "log").open("ab")
    except OSError as error:
        raise PlatformError(
            f"cannot be written: {error.strerror}",
            where=str(folder),
            fix="make the folder writable",
        ) from None
    with log:
        process = subprocess.Popen(
            command,
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    served = _wait_until(lambda: _serves(folder, process), START_SECONDS)
    record = _record(folder)
    if served and record is not None and _answers(record, folder):
        (folder / "port").write_text(str(urlsplit(record.endpoint).port))
        (folder / CODE).write_text(_code(root))
        return record
    process.kill()
    raise PlatformError(
        f"the local platform did not start: {_last_words(root)}",
        where=str(folder / "log"),
        fix="slipway up again; if it stays, slipway up --fresh starts from an empty platform",
    )


def _serves(folder: Path, process: subprocess.Popen[bytes]) -> bool:
    """Whether to stop waiting: it wrote its record, or it ended."""
    return process.poll() is not None or _record(folder) is not None


def _code(root: Path) -> str:
    """A mark that changes with the platform's own files."""
    files = [*(root / "services" / "emulator").rglob("*.py"), root / SCHEMA]
    facts = sorted(
        (str(f.relative_to(root)), f.stat().st_size, f.stat().st_mtime_ns) for f in files
    )
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _current(root: Path, folder: Path) -> bool:
    """Whether the platform was started from the files as they are now."""
    try:
        return (folder / CODE).read_text() == _code(root)
    except OSError:
        return False


def _choose_port(folder: Path, wanted: int | None) -> int:
    """The wanted port, else the one of before if it is still free, else 0 (any)."""
    if wanted is not None:
        if not _free(wanted):
            raise InputError(
                f"port {wanted} is in use by another program",
                where=f"--port {wanted}",
                fix="leave --port out to take a free one",
            )
        return wanted
    try:
        before = int((folder / "port").read_text())
    except (OSError, ValueError):
        return 0
    return before if _free(before) else 0


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _record(folder: Path) -> RunningPlatform | None:
    """What the platform wrote when it began to serve; None when there is nothing readable."""
    try:
        return RunningPlatform(**json.loads((folder / "platform.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def _answers(record: RunningPlatform, folder: Path) -> bool:
    """Whether that very platform answers (another program may have its port by now)."""
    connection = http.client.HTTPConnection(urlsplit(record.endpoint).netloc, timeout=5)
    try:
        connection.request("GET", "/healthz")
        answer = json.loads(connection.getresponse().read())
        return bool(answer == {"pid": record.pid, "state": str(folder.resolve())})
    except (OSError, ValueError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _locked(folder: Path) -> bool:
    """Whether a live platform holds the folder."""
    try:
        with (folder / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
