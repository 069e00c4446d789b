"""Three agents deployed by three tools: `python tests/benchmarks/peers.py --venvs DIR`.

Prints one JSON document: `slipway deploy`, `adk deploy agent_engine` and `agents-cli deploy` bring
the same three agents to the same local platform in one run, each twice: seconds, requests, bytes
sent, and what each did not do. The other two come from PyPI, into venvs of their own in DIR; they
are not changed, and reach the platform through a proxy (recording_proxy.py).

What they deploy is a Dockerfile, which the local platform does not build: their updates take the
ordered time of a build there, but nothing runs afterwards, which is to their advantage.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from infra import manifest
from services.release import sources
from tests.benchmarks.deployments import endpoint, order
from tests.benchmarks.from_nothing import ROOT, slipway
from tests.benchmarks.recording_proxy import RecordingProxy

PACKAGES = {
    "adk": ("google-adk[a2a]==2.13.0", "google-cloud-aiplatform==2.7.0"),
    "agents-cli": ("google-agents-cli==1.11.0",),
}
PROJECT, REGION = "acme-peers", "us-central1"
CANARY = "canary-of-an-env-file"
AGENT = """\
from google.adk.agents import LlmAgent

root_agent = LlmAgent(name="{name}", model="gemini-2.5-flash", instruction="Answer.")
"""
DOCKERFILE = (
    'FROM python:3.11-slim\nCOPY . .\nRUN pip install google-adk\nCMD ["adk", "api_server"]\n'
)


def main() -> None:
    """Runs everything and prints the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venvs", type=Path, required=True, help="where the tools are installed")
    parser.add_argument("--build", type=float, default=5.0, help="seconds of one build")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        home = Path(folder)
        try:
            slipway(home, "up")
            proxy = RecordingProxy(endpoint(home), home)
            rig = Rig(home, proxy, given.build)
            result = {
                "build_s": given.build,
                "slipway": rig.slipway(),
                "adk": rig.peer("adk", install(given.venvs, "adk")),
                "agents-cli": rig.peer("agents-cli", install(given.venvs, "agents-cli")),
            }
            proxy.stop()
        finally:
            slipway(home, "down")
    print(json.dumps(result, indent=1))


def install(venvs: Path, tool: str) -> Path:
    """The tool's program, installed when it is not there."""
    venv = venvs / tool
    if not (venv / "bin" / tool).exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *PACKAGES[tool]], check=True)
    return venv / "bin" / tool


class Rig:
    """One platform, one proxy, and the agents as each tool wants them."""

    def __init__(self, home: Path, proxy: RecordingProxy, build: float) -> None:
        self.home, self.proxy, self.build = home, proxy, build
        self.agents = manifest.load_all(ROOT)
        self.place = home / "peers"
        self.place.mkdir()

    def slipway(self) -> dict[str, Any]:
        """`slipway deploy local`, through the same proxy."""
        state = self.home / "platform" / "platform.json"
        before = state.read_text()
        changed = ROOT / "agents" / "shared" / "semantic.yaml"
        text = changed.read_text()
        state.write_text(before.replace(endpoint(self.home), self.proxy.plain))
        try:
            changed.write_text(f"{text}# {time.time()}\n")
            first = self._timed(lambda: slipway(self.home, "deploy", "local"))
            again = self._timed(lambda: slipway(self.home, "deploy", "local"))
        finally:
            changed.write_text(text)
            state.write_text(before)
        return {"changed": first, "unchanged": again}

    def peer(self, tool: str, program: Path) -> dict[str, Any]:
        """Three first deployments, one after the other, then the same three again."""
        folders = {name: self._sources(tool, name) for name in self.agents}
        engines: dict[str, str] = {}

        def deploy() -> None:
            for name, folder in folders.items():
                self._run(tool, program, name, folder, engines.get(name))

        first = self._timed(deploy)
        engines |= self._engines(folders)
        again = self._timed(deploy)
        return {"first": first, "unchanged": again}

    def _timed(self, action: Callable[[], Any]) -> dict[str, Any]:
        path = "reasoningEngines/[0-9]+$"
        order(self.home, method="PATCH", path=path, times=10_000, build=self.build)
        order(self.home, method="POST", path="reasoningEngines$", times=10_000, build=self.build)
        self.proxy.recorded.clear()
        started = time.perf_counter()
        action()
        taken = time.perf_counter() - started
        httpx.delete(f"{endpoint(self.home)}/_faults")
        recorded = self.proxy.recorded
        return {
            "s": round(taken, 2),
            **recorded.summary(),
            "archives": len(recorded.archives),
            "env_file_sent": any(_holds_canary(archive) for archive in recorded.archives),
            "engine_read_after_last_write": _read_after(recorded.requests),
            "new_revision_asked": any(path.endswith(":query") for _, path, _ in recorded.requests),
        }

    def _sources(self, tool: str, name: str) -> Path:
        """The agent's bundle, beside an agent of the tool's own kind and an .env file."""
        folder = self.place / tool / name
        inner = folder / "app" if tool == "agents-cli" else folder
        inner.mkdir(parents=True)
        for file in sources.collect(ROOT, self.agents[name]):
            path = inner / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data)
        (inner / "__init__.py").write_text("from . import agent\n")
        (inner / "agent.py").write_text(AGENT.format(name=name))
        (folder / ".env").write_text(f"API_TOKEN={CANARY}\n")
        if tool == "agents-cli":
            (folder / "Dockerfile").write_text(DOCKERFILE)
            project = (
                f'[project]\nname = "{name}"\nversion = "0.1.0"\ndependencies = ["google-adk"]\n'
            )
            (folder / "pyproject.toml").write_text(project)
            told = "create_params:\n  deployment_target: agent_runtime\n  agent_directory: app\n"
            (folder / "agents-cli-manifest.yaml").write_text(f"name: {name}\n{told}")
        return folder

    def _run(self, tool: str, program: Path, name: str, folder: Path, engine: str | None) -> None:
        place = ["--project", PROJECT, "--region", REGION]
        if tool == "adk":
            known = ["--agent_engine_id", engine] if engine else []
            command = ["deploy", "agent_engine", *place, "--display_name", name, *known, name]
            where = folder.parent
        else:
            command, where = ["deploy", *place], folder
        done = subprocess.run(
            [str(program), *command], cwd=where, env=self._environment(), text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=600, check=False,
        )  # fmt: skip
        if done.returncode != 0 or "eploy failed" in done.stdout + done.stderr:
            raise SystemExit(f"{tool} {name}: {(done.stdout + done.stderr)[-3000:]}")

    def _engines(self, folders: dict[str, Path]) -> dict[str, str]:
        """Engine IDs by display name; adk wants to be told."""
        parent = f"projects/{PROJECT}/locations/{REGION}"
        url = f"{endpoint(self.home)}/v1beta1/{parent}/reasoningEngines?pageSize=100"
        found = httpx.get(url, headers={"Authorization": "Bearer operator"}).json()
        engines = found.get("reasoningEngines", [])
        return {e["displayName"]: e["name"].rpartition("/")[2] for e in engines
                if e.get("displayName") in folders}  # fmt: skip

    def _environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TERM")}
        authority = str(self.proxy.ca)
        return kept | {
            "HOME": str(self.place),
            "HTTPS_PROXY": self.proxy.connect,
            "https_proxy": self.proxy.connect,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "SSL_CERT_FILE": authority,
            "REQUESTS_CA_BUNDLE": authority,
            "GOOGLE_APPLICATION_CREDENTIALS": str(self._key()),
            "AGENTS_CLI_TELEMETRY": "0",
            "DO_NOT_TRACK": "1",
            "CI": "1",
        }

    def _key(self) -> Path:
        """A service account's key, made here, whose tokens the platform gives."""
        path = self.place / "account.json"
        if not path.exists():
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
            account = {
                "type": "service_account",
                "project_id": PROJECT,
                "private_key_id": "benchmark",
                "private_key": key.decode(),
                "client_email": f"ci@{PROJECT}.iam.gserviceaccount.com",
                "client_id": "1",
                "token_uri": f"{endpoint(self.home)}/token",
            }
            path.write_text(json.dumps(account))
        return path


def _holds_canary(archive: bytes) -> bool:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        files = (tar.extractfile(member) for member in tar if member.isfile())
        return any(CANARY.encode() in file.read() for file in files if file is not None)


def _read_after(requests: list[tuple[str, str, int]]) -> bool:
    """Whether an engine was read again after the last change to one."""
    writes = [i for i, (m, p, _) in enumerate(requests) if m == "PATCH" and "reasoningEngines" in p]
    last = max(writes, default=len(requests))
    return any(
        m == "GET" and "/reasoningEngines/" in p and "/operations/" not in p
        for m, p, _ in requests[last:]
    )


if __name__ == "__main__":
    main()
