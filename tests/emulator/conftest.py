"""A platform of the tests' own: a real process on a free port, over a temporary folder."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "infra/schema/google.json"
SECONDS = 30.0
PROJECT, LOCATION = "acme-local", "us-central1"


@dataclass
class Local:
    """A running platform. `endpoint` is `http://127.0.0.1:PORT`, `reattach` Terraform's address."""

    state: Path
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def endpoint(self) -> str:
        return str(self.info["endpoint"])

    @property
    def reattach(self) -> str:
        return str(self.info["reattach"])

    @property
    def parent(self) -> str:
        """Where the engines of these tests lie."""
        return f"projects/{PROJECT}/locations/{LOCATION}"

    def start(self, port: int = 0) -> None:
        """Starts the process and waits until it has written that it serves."""
        ready, log = self.state / "platform.json", self.state / "platform.log"
        ready.unlink(missing_ok=True)
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "services.emulator", "--state", str(self.state),
                 "--schema", str(SCHEMA), "--port", str(port)],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
        end = time.monotonic() + SECONDS
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                pytest.fail(f"the platform did not start:\n{log.read_text()[-4000:]}")
            time.sleep(0.01)
        self.info = json.loads(ready.read_text())

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Ends the process and waits for it."""
        if self.process is not None and self.process.poll() is None:
            os.kill(self.process.pid, number)
            self.process.wait(SECONDS)

    def restart(self, number: int = signal.SIGTERM) -> None:
        """Ends it with a signal and starts it again over the same state, on another port."""
        self.stop(number)
        self.start()

    def rest(
        self, method: str, path: str, body: Any = None, *, token: str | None = "operator"
    ) -> httpx.Response:
        """One plain request; `path` begins with the API's version, without a slash before it."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        url = f"{self.endpoint}/{path}"
        return httpx.request(method, url, json=body, headers=headers, timeout=SECONDS)

    def sdk(self) -> Any:
        """A new, unmodified `agentplatform.Client` of the operator's."""
        from services.sdk import import_guarded

        import_guarded()
        import agentplatform
        from google.genai.types import HttpOptions
        from google.oauth2.credentials import Credentials

        return agentplatform.Client(
            project=PROJECT,
            location=LOCATION,
            credentials=Credentials("operator"),
            http_options=HttpOptions(base_url=self.endpoint),
        )


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """One platform for the whole run; tests tell their resources apart by name."""
    platform = Local(tmp_path_factory.mktemp("platform"))
    platform.start()
    yield platform
    platform.stop()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Local]:
    """A platform that a test may stop, kill and restart."""
    platform = Local(tmp_path)
    platform.start()
    yield platform
    platform.stop()


@pytest.fixture(scope="session")
def sdk(local: Local) -> Any:
    """Google's client on the shared platform."""
    return local.sdk()
