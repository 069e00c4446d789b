"""`slipway up` cut off in each of its steps: the next one repairs what was left, and answers."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, Slipway

pytestmark = [pytest.mark.e2e]


def started(home: Path) -> bool:
    return (home / "platform" / "lock").exists()


def synthesizing(home: Path) -> bool:
    return (home / "platform" / "platform.json").exists()


def applying(home: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        record = json.loads((home / "terraform" / "local" / "running.json").read_text())
        return bool(record["command"] == "apply")
    return False


def uploading(home: Path) -> bool:
    return rows(home, "object", "%-releases/%") > 0


def updating(home: Path) -> bool:
    return any((home / "platform" / "files" / "engines").glob("*/*"))


def asking(home: Path) -> bool:
    return rows(home, "session", "%") > 0


def rows(home: Path, kind: str, name: str) -> int:
    """How many resources of a kind the platform's state holds."""
    path = home / "platform" / "state.db"
    if not path.exists():
        return 0
    query = "SELECT count(*) FROM resources WHERE kind = ? AND name LIKE ?"
    with (
        contextlib.suppress(sqlite3.Error),
        sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db,
    ):
        return int(db.execute(query, (kind, name)).fetchone()[0])
    return 0


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Slipway]:
    """The command over a folder of its own, stopped at the end."""
    command = Slipway(tmp_path / "home")
    yield command
    command.run("down")


def cut_off(own: Slipway, when: Callable[[Path], bool], number: int) -> tuple[int, str]:
    """Starts `slipway up` and sends the signal at the moment; returns exit code and errors."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("slipway")), "up"],
        cwd=ROOT,
        env={**os.environ, "SLIPWAY_HOME": str(own.home), "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    end = time.monotonic() + 60
    while not when(own.home) and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    assert process.poll() is None, "it ended before the moment came"
    # Ctrl-C on a terminal reaches every process of the foreground group.
    os.killpg(process.pid, number) if number == signal.SIGINT else process.kill()
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors


MOMENTS = [started, synthesizing, applying, uploading, updating, asking]


@pytest.mark.parametrize("when", MOMENTS)
def test_killed(own: Slipway, when: Callable[[Path], bool]) -> None:
    cut_off(own, when, signal.SIGKILL)
    again = own.json("up")
    assert "€436,449" in again["answers"][-1]["answer"]
    plan = own.json("infra", "plan", "local")
    assert all(not addresses for addresses in plan.values()), plan
    assert own.json("up")["changed"] is False


@pytest.mark.parametrize("when", [synthesizing, applying, updating])
def test_ctrl_c(own: Slipway, when: Callable[[Path], bool]) -> None:
    code, errors = cut_off(own, when, signal.SIGINT)
    assert code == 1
    assert "interrupted; nothing is lost" in errors
    assert "fix: slipway up" in errors
    assert "Traceback" not in errors
    assert "€436,449" in own.json("up")["answers"][-1]["answer"]
