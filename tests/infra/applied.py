"""A local platform and Terraform over it, for the tests that apply the local stack."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.oauth2.credentials import Credentials

from infra import settings
from infra.bootstrap import ensure_state_bucket
from infra.terraform import Connection, Terraform
from tests.emulator.conftest import Local
from tests.infra.synth import ROOT

ENGINES = "v1/projects/acme-local/locations/us-central1/reasoningEngines"


@dataclass
class Site:
    """The local environment on a platform of its own; `said` are the lines of progress."""

    platform: Local
    stack: Path
    workdir: Path
    said: list[str] = field(default_factory=list)

    @property
    def connection(self) -> Connection:
        return Connection(self.platform.reattach, self.platform.endpoint, "operator")

    def bootstrap(self) -> bool:
        """Makes the state bucket; whether it was made now."""
        env = settings.load(ROOT, "local")
        return ensure_state_bucket(env, self.platform.endpoint, Credentials("operator"))

    def terraform(self, workdir: Path | None = None) -> Terraform:
        """Terraform over the stack, in this site's folder or another one."""
        env = settings.load(ROOT, "local")
        return Terraform(
            self.stack, workdir or self.workdir, env, self.connection, self.said.append
        )

    def get(self, path: str) -> Any:
        """The JSON at a path of the platform's; the request must succeed."""
        answer = self.platform.rest("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @property
    def declared(self) -> int:
        """How many resources the stack declares."""
        return sum(map(len, json.loads(self.stack.read_text())["resource"].values()))

    def engines(self) -> dict[str, list[str]]:
        """Full names of the engines that exist, by their label `agent`."""
        found: dict[str, list[str]] = {}
        for engine in self.get(ENGINES).get("reasoningEngines", []):
            found.setdefault(engine["labels"]["agent"], []).append(engine["name"])
        return found

    def edit(self, change: dict[str, Any], *path: str) -> None:
        """Changes the stack's JSON: `change` is merged into what lies at `path`."""
        document = json.loads(self.stack.read_text())
        place = document
        for part in path:
            place = place[part]
        place.update(change)
        self.stack = self.workdir.with_suffix(".tf.json")
        self.stack.write_text(json.dumps(document))
