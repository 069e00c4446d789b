"""What a bundle's entry point can be asked: found out in a child process, kept by bundle digest."""

from __future__ import annotations

import hashlib
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.errors import PackageError
from infra.manifest import KIT_ENV, AgentManifest
from services.release import describe_child

CHILD = Path(describe_child.__file__)
SECONDS = 120.0
DESCRIBERS = ("google-cloud-aiplatform", "google-adk", "a2a-sdk")
"""Packages whose version changes a description."""
PLACEHOLDERS = {
    "AGENT_PLATFORM_ENDPOINT": "http://127.0.0.1:9",
    "SLIPWAY_MODEL": "offline",
    "SLIPWAY_DATA": "sample",
    "SLIPWAY_MEMORY": "bank",
    "GOOGLE_CLOUD_PROJECT": "placeholder",
    "GOOGLE_CLOUD_LOCATION": "us-central1",
    "GOOGLE_CLOUD_AGENT_ENGINE_ID": "0",
    "GOOGLE_CLOUD_AGENT_ENGINE_LOCATION": "us-central1",
    "NO_GCE_CHECK": "true",
    "PYTHONDONTWRITEBYTECODE": "1",
}
"""The environment of the child: an import may read these, and must not need their real values."""


@dataclass(frozen=True)
class Description:
    """The API's name of the framework, and one entry for each method that can be called."""

    framework: str
    class_methods: tuple[dict[str, Any], ...]


def describe(tar: bytes, digest: str, manifest: AgentManifest, cache: Path) -> Description:
    """Describes the entry point of the bundle `tar`, or takes what `cache` holds of it.

    Args:
        digest: the bundle's digest.
        cache: a folder; it is made when needed. An entry that is not whole is made anew.

    Raises:
        PackageError: the entry point cannot be imported or described.
    """
    path = _path(digest, manifest, cache)
    if (there := _load(path)) is not None:
        return there
    found = _ask_child(tar, manifest)
    _store(path, found)
    return found


def known(digest: str, manifest: AgentManifest, cache: Path) -> bool:
    """Whether `cache` holds the description of a bundle."""
    return _load(_path(digest, manifest, cache)) is not None


def _path(digest: str, manifest: AgentManifest, cache: Path) -> Path:
    return cache / "describe" / f"{_key(digest, manifest)}.json"


def _key(digest: str, manifest: AgentManifest) -> str:
    versions = [importlib.metadata.version(name) for name in DESCRIBERS]
    parts = [digest, manifest.entrypoint, sys.version, *versions, _literals(manifest)]
    parts.append(CHILD.read_text(encoding="utf-8"))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _literals(manifest: AgentManifest) -> dict[str, str]:
    """The manifest's env: literals as they are, "0" for what is known only in an environment."""
    env = {name: value if isinstance(value, str) else "0" for name, value in manifest.env.items()}
    return env | dict.fromkeys(manifest.secrets, "0")


def _ask_child(tar: bytes, manifest: AgentManifest) -> Description:
    with tempfile.TemporaryDirectory(prefix="slipway-describe-") as folder:
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            archive.extractall(folder, filter="data")
        env = dict.fromkeys(KIT_ENV, "0") | PLACEHOLDERS | _literals(manifest)
        env |= {"PATH": os.environ.get("PATH", os.defpath), "HOME": folder}
        try:
            child = subprocess.run(
                [sys.executable, "-P", str(CHILD), manifest.entrypoint],
                cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise _error(manifest, f"its import did not end within {SECONDS:.0f} s", None) from None
    try:
        answer = json.loads(child.stdout)
    except ValueError:
        last = child.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no output"]
        raise _error(manifest, f"exit code {child.returncode}: {last[0]}", None) from None
    if "error" in answer:
        raise _error(manifest, answer["error"], answer["where"])
    return Description(answer["framework"], tuple(answer["class_methods"]))


def _error(manifest: AgentManifest, what: str, where: str | None) -> PackageError:
    toml = f"agents/{manifest.name}/agent.toml"
    missing = what.startswith(("ModuleNotFoundError", "ImportError", "FileNotFoundError"))
    return PackageError(
        f"the entry point {manifest.entrypoint} cannot be imported: {what}",
        where=where or toml,
        fix=f"a bundle holds what is imported by name from agents/, what include in {toml} names, "
        "and the packages of its requirements: add what is missing"
        if missing
        else f"correct the code, or the entry point in {toml}",
    )


def _load(path: Path) -> Description | None:
    """A cache entry; None when there is none or it is not whole."""
    try:
        entry = json.loads(path.read_bytes())
        body = entry["description"]
        if hashlib.sha256(body.encode()).hexdigest() != entry["sha256"]:
            return None
        found = json.loads(body)
        return Description(found["framework"], tuple(found["class_methods"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _store(path: Path, found: Description) -> None:
    """Writes a cache entry in one step; a folder that cannot be written only costs time."""
    body = json.dumps(
        {"framework": found.framework, "class_methods": found.class_methods}, sort_keys=True
    )
    entry = {"sha256": hashlib.sha256(body.encode()).hexdigest(), "description": body}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(json.dumps(entry), encoding="utf-8")
        partial.replace(path)
    except OSError:
        return
