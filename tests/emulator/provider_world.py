"""A real Terraform over the provider, with every REST call of the provider written down."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from infra.plan import PlanSummary
from infra.settings import load
from infra.terraform import Connection, Terraform
from services.emulator.provider import server
from tests.emulator.conftest import LOCATION, PROJECT, ROOT, SCHEMA, Local

Resources = dict[str, dict[str, dict[str, Any]]]
STATE_BUCKET = "provider-tests-state"


@dataclass(frozen=True)
class Sent:
    """One call of the provider: `path` has no query and no host."""

    method: str
    path: str
    query: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Recorder:
    """A proxy before the platform. `before` may look at, or interfere with, what is sent."""

    def __init__(self, target: str) -> None:
        self.sent: list[Sent] = []
        self.before: Callable[[Sent], None] = lambda sent: None
        recorder, client = self, httpx.Client(base_url=target, timeout=30)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def forward(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                parts = urlsplit(self.path)
                query = {key: values[0] for key, values in parse_qs(parts.query).items()}
                sent = Sent(self.command, parts.path, query, body)
                recorder.sent.append(sent)
                recorder.before(sent)
                kept = {
                    k: v for k, v in self.headers.items() if k in ("Authorization", "Content-Type")
                }
                answer = client.request(self.command, self.path, content=body, headers=kept)
                self.send_response(answer.status_code)
                self.send_header("Content-Type", answer.headers.get("Content-Type", ""))
                self.send_header("Content-Length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = forward

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._http, self._client = ThreadingHTTPServer(("127.0.0.1", 0), Handler), client
        self._http.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._client.close()

    def changes(self) -> list[Sent]:
        """What was sent since the last time that was no reading."""
        sent, self.sent = self.sent, []
        reads = (":getIamPolicy", ":access")
        return [s for s in sent if s.method != "GET" and not s.path.endswith(reads)]


@dataclass
class World:
    """One stack in a folder of its own; `terraform` runs over whatever `resources` says."""

    folder: Path
    local: Local
    recorder: Recorder
    reattach: str
    resources: Resources = field(default_factory=dict)
    provider: dict[str, Any] = field(default_factory=dict)
    imports: list[dict[str, str]] = field(default_factory=list)
    removed: list[dict[str, Any]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def plan(self) -> PlanSummary:
        with self._terraform() as terraform:
            return terraform.plan()

    def apply(self) -> PlanSummary:
        """Applies, and gives back what was planned; `changes` begins anew."""
        self.recorder.changes()
        with self._terraform() as terraform:
            plan = terraform.plan()
            terraform.apply(plan)
            return plan

    def destroy(self) -> None:
        with self._terraform() as terraform:
            terraform.destroy()

    def outputs(self, **values: str) -> dict[str, Any]:
        """Values of expressions over the applied stack."""
        with self._terraform(values) as terraform:
            terraform.apply(terraform.plan())
            return terraform.output()

    def state(self) -> str:
        """Terraform's state, as it lies in the bucket."""
        name = f"{self.folder.name}%2Fdefault.tfstate"
        return self.local.rest("GET", f"storage/v1/b/{STATE_BUCKET}/o/{name}?alt=media").text

    def stored(self, address: str) -> dict[str, Any]:
        """The attributes of one resource in the state."""
        type_, _, name = address.partition(".")
        for resource in json.loads(self.state())["resources"]:
            if (resource["type"], resource["name"]) == (type_, name):
                found: dict[str, Any] = resource["instances"][0]["attributes"]
                return found
        raise KeyError(address)

    def _terraform(self, outputs: dict[str, str] | None = None) -> Terraform:
        stack = self.folder / "cdk.tf.json"
        stack.write_text(json.dumps(self._stack(outputs or {})))
        connection = Connection(self.reattach, self.local.endpoint, "operator")
        env = load(ROOT, "local")
        return Terraform(stack, self.folder / "work", env, connection, self.lines.append)

    def _stack(self, outputs: dict[str, str]) -> dict[str, Any]:
        """The stack, as the CDK would write it; only the state goes to the platform directly."""
        versions = ("vertex_ai", "secret_manager", "cloud_build", "iam", "service_usage")
        provider = {
            "project": PROJECT,
            "region": LOCATION,
            "access_token": "${var.access_token}",
            "storage_custom_endpoint": f"{self.recorder.endpoint}/storage/v1/",
            **{f"{v}_custom_endpoint": f"{self.recorder.endpoint}/v1/" for v in versions},
            **self.provider,
        }
        return {
            "terraform": {
                "backend": {"gcs": {"bucket": STATE_BUCKET, "prefix": self.folder.name}},
                "required_providers": {"google": {"source": "hashicorp/google"}},
            },
            "provider": {"google": [provider]},
            "variable": {
                "access_token": {"type": "string"},
                "platform_endpoint": {"type": "string"},
            },
            **({"import": self.imports} if self.imports else {}),
            **({"removed": self.removed} if self.removed else {}),
            **({"resource": self.resources} if self.resources else {}),
            **({"output": {k: {"value": v} for k, v in outputs.items()}} if outputs else {}),
        }


@contextmanager
def world(local: Local, folder: Path) -> Iterator[World]:
    """A World whose provider runs in this process; nothing of it is left at the end."""
    local.rest("POST", f"storage/v1/b?project={PROJECT}", {"name": STATE_BUCKET})
    recorder = Recorder(local.endpoint)
    # A unix socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="tf-") as short:
        plugin = server.start(Path(short) / "p.sock", recorder.endpoint, SCHEMA)
        try:
            yield World(folder, local, recorder, plugin.reattach)
        finally:
            plugin.stop()
            recorder.close()
