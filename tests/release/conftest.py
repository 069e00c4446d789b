"""A checkout of its own and a real HTTP server for each test."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.release.checkouts import write_checkout


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
