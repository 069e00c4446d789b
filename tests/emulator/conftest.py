"""A platform of the tests' own: a real process on a free port, over a temporary folder."""

from __future__ import annotations

import base64
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator, Mapping
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


@pytest.fixture
def sdk(local: Local) -> Any:
    """Google's client on the shared platform; a new one, since it belongs to one event loop."""
    return local.sdk()


BUNDLES = Path(__file__).parent / "bundles"
ECHO_METHODS = {
    "query": "",
    "surroundings": "",
    "token": "",
    "crash": "",
    "async_query": "async",
    "stream_query": "stream",
    "async_stream_query": "async_stream",
}


def archive(files: Mapping[str, str]) -> str:
    """A source archive of these files, as the API takes it (base64 of tar and gzip)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return base64.b64encode(buffer.getvalue()).decode()


@dataclass
class Deployer:
    """Makes engines on a platform and deploys the test bundles onto them."""

    local: Local

    def engine(self, **fields: Any) -> str:
        """A bare engine's name."""
        path = f"v1beta1/{self.local.parent}/reasoningEngines"
        answer = self.local.rest("POST", path, {"displayName": "test", **fields})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["name"]).rpartition("/operations/")[0]

    def spec(
        self, bundle: str = "echo", methods: Mapping[str, str] | None = None, **files: str
    ) -> dict[str, Any]:
        """A spec with a bundle's source; `files` are added to it, or replace its own."""
        methods = ECHO_METHODS if methods is None else methods
        source = {"agent.py": (BUNDLES / bundle / "agent.py").read_text()}
        source |= {name.replace("__", "."): text for name, text in files.items()}
        return {
            "class_methods": [{"name": name, "api_mode": mode} for name, mode in methods.items()],
            "deployment_spec": {
                "env": [{"name": "AGENT_PLATFORM_ENDPOINT", "value": self.local.endpoint}]
            },
            "source_code_spec": {
                "inline_source": {"source_archive": archive(source)},
                "python_spec": {"entrypoint_module": "agent", "entrypoint_object": "app"},
            },
        }

    def patch(self, name: str, spec: Mapping[str, Any], mask: str = "spec") -> dict[str, Any]:
        """The ended operation of a PATCH of `spec`."""
        path = f"v1beta1/{name}?updateMask={mask}"
        answer = self.local.rest("PATCH", path, {"spec": spec})
        assert answer.status_code == 200, answer.text
        operation = self.local.rest("GET", f"v1beta1/{answer.json()['name']}").json()
        assert operation["done"], operation
        return dict(operation)

    def deployed(self, **spec: Any) -> str:
        """An engine that serves the echo bundle; `spec` as for `spec()`."""
        name = self.engine()
        operation = self.patch(name, self.spec(**spec))
        assert "error" not in operation, operation
        return name

    def query(self, name: str, method: str = "query", **arguments: Any) -> httpx.Response:
        """One `:query`."""
        body = {"classMethod": method, "input": arguments}
        return self.local.rest("POST", f"v1beta1/{name}:query", body)


@pytest.fixture(scope="session")
def deployer(local: Local) -> Deployer:
    """On the shared platform."""
    return Deployer(local)


@pytest.fixture(scope="session")
def echo(deployer: Deployer) -> str:
    """An engine that serves the echo bundle; tests must not change it."""
    return deployer.deployed()
