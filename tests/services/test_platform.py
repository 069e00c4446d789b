"""Starting, finding and stopping the local platform, and what may be in the way."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from infra.errors import InputError, PlatformError
from services import platform

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The checkout, with runtime files of its own; whatever was started is stopped."""
    monkeypatch.setenv("SLIPWAY_HOME", str(tmp_path / "home"))
    yield ROOT
    platform.stop(ROOT)


def quiet(line: str) -> None:
    """Takes a line of progress."""


def test_starts_once_and_stops(root: Path) -> None:
    running, started = platform.start(root, quiet)
    assert started
    assert platform.start(root, quiet) == (running, False)
    assert platform.require(root) == running
    assert platform.stop(root)
    assert platform.find(root) is None
    assert not platform.stop(root)


def test_keeps_its_port(root: Path) -> None:
    first, _ = platform.start(root, quiet)
    platform.stop(root)
    assert platform.start(root, quiet)[0].endpoint == first.endpoint


def test_takes_another_port_when_its_own_was_taken_meanwhile(root: Path) -> None:
    first, _ = platform.start(root, quiet)
    platform.stop(root)
    with socket.create_server(("127.0.0.1", urlsplit(first.endpoint).port or 0)):
        assert platform.start(root, quiet)[0].endpoint != first.endpoint


def test_a_port_in_use_is_refused_by_name(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} is in use"):
            platform.start(root, quiet, port=port)


def test_another_port_than_the_running_ones_is_refused(root: Path) -> None:
    running, _ = platform.start(root, quiet)
    with pytest.raises(PlatformError, match="already serves"):
        platform.start(root, quiet, port=(urlsplit(running.endpoint).port or 0) + 1)


def test_a_platform_that_died_is_started_again(root: Path) -> None:
    first, _ = platform.start(root, quiet)
    os.kill(first.pid, signal.SIGKILL)
    said: list[str] = []
    second, started = platform.start(root, said.append)
    assert started
    assert second.pid != first.pid
    assert f"pid {first.pid}" in said[0]


def test_a_stale_record_with_a_stranger_on_its_port_is_not_the_platform(root: Path) -> None:
    running, _ = platform.start(root, quiet)
    folder = platform.home(root) / "platform"
    record = json.loads((folder / "platform.json").read_text())
    platform.stop(root)
    (folder / "platform.json").write_text(json.dumps({**record, "pid": os.getpid()}))
    with socket.create_server(("127.0.0.1", urlsplit(running.endpoint).port or 0)):
        assert platform.find(root) is None


def test_another_checkouts_platform_is_left_alone(root: Path, tmp_path: Path) -> None:
    platform.start(root, quiet)
    with pytest.raises(PlatformError, match="belongs to another checkout") as caught:
        platform.start(tmp_path, quiet)
    assert str(ROOT) in str(caught.value.fix)


def test_a_start_that_fails_shows_the_log(root: Path) -> None:
    folder = platform.home(root) / "platform"
    folder.mkdir(parents=True)
    (folder / "state.db").write_text("this is no database")
    with pytest.raises(PlatformError, match="did not start") as caught:
        platform.start(root, quiet)
    assert "slipway up --fresh" in str(caught.value.fix)
