"""A checkout of its own and a real HTTP server for each test."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.release.checkouts import write_checkout
from tests.release.worlds import World, make

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of the agents `router` and `supply`; each test has its own."""
    return write_checkout(tmp_path / "checkout")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The descriptions' cache of this run."""
    return tmp_path_factory.mktemp("cache")


@dataclass
class Api:
    """A real HTTP server on loopback that records requests and answers them as told."""

    endpoint: str
    requests: list[tuple[str, str, Any]]
    """Method, path with query, and the JSON body, in the order of arrival."""
    answers: dict[tuple[str, str], list[tuple[int, Any]]]
    """Status and JSON body by method and path; the last one is given again and again."""


@pytest.fixture
def api() -> Iterator[Api]:
    """An API that answers 404 until told otherwise."""
    state = Api("", [], {})

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            state.requests.append((self.command, self.path, json.loads(raw) if raw else None))
            answers = state.answers.get((self.command, self.path.partition("?")[0]))
            status, body = (404, {"error": {"code": 404, "message": "no such thing"}})
            if answers:
                status, body = answers.pop(0) if len(answers) > 1 else answers[0]
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = _serve

        def log_message(self, format: str, *args: object) -> None:
            """Keeps the test's output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a local platform of this run."""
    state = tmp_path_factory.mktemp("platform")
    command = [sys.executable, "-m", "services.emulator", "--state", str(state)]
    command += ["--schema", str(ROOT / "infra/schema/google.json")]
    with (state / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        end = time.monotonic() + 30
        while not (state / "platform.json").exists():
            assert process.poll() is None, (state / "log").read_text()
            assert time.monotonic() < end, "the platform does not serve"
            time.sleep(0.02)
        yield json.loads((state / "platform.json").read_text())["endpoint"]
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture
def world(checkout: Path, cache: Path, platform: str) -> World:
    """An environment of a project of its own on the platform; nothing is deployed to it."""
    return make(checkout, cache, platform, f"acme-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def two(world: World) -> World:
    """An environment with two deployments: hello with vanilla, then hallo with cherry."""
    world.deploy()
    for name, old, new in (
        ("agents/router/agent.toml", '"vanilla"', '"cherry"'),
        ("agents/shared/inner/deep.py", "hello", "hallo"),
    ):
        path = world.root / name
        path.write_text(path.read_text().replace(old, new))
    world.deploy()
    return world
