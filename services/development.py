"""An agent of the working tree, answering on the local platform beside the deployed others."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

from infra.errors import InputError, RemoteError
from infra.manifest import FOLDER
from services.release.site import Site

LOOK_SECONDS = 0.3
SUFFIXES = frozenset({".py", ".csv", ".json", ".md", ".sql", ".toml", ".txt", ".yaml", ".yml"})

Say = Callable[[str], None]


def run(root: Path, site: Site, agent: str, say: Say, stop: threading.Event) -> None:
    """Serves the agent from the checkout `root` until `stop` is set; reloads at every save.

    Raises:
        InputError: the environment has no such agent, or does not lie on the local platform.
        RemoteError: nothing is deployed yet.
    """
    if site.target.environment.endpoint != "local":
        raise InputError(
            f"{site.target.environment.name} lies in Google's cloud",
            where=site.target.environment.where("endpoint"),
            fix=f"slipway dev {agent} --env local, or --platform local",
        )
    entry = site.descriptor.engines.get(agent)
    if entry is None:
        known = ", ".join(site.descriptor.engines)
        raise InputError(f"there is no agent {agent!r}", fix=f"known: {known}")
    serve(site, entry.name, root)
    say("serves from the working tree")
    seen = fingerprint(root)
    try:
        while not stop.wait(LOOK_SECONDS):
            now = fingerprint(root)
            if now == seen:
                continue
            seen = now
            try:
                serve(site, entry.name, root)
                say("reloaded")
            except RemoteError as error:
                say(f"not reloaded, the last one that worked goes on: {error.what}")
    finally:
        _call(site, "DELETE", entry.name)


def serve(site: Site, engine: str, root: Path) -> None:
    """Lets the working tree, as it is now, answer for the engine.

    Raises:
        RemoteError: it does not serve.
    """
    _call(site, "PUT", engine, {"tree": str(root.resolve())})


def fingerprint(root: Path) -> str:
    """Changes when a file below agents/ that an agent may read is saved."""
    files = (p for p in (root / FOLDER).rglob("*") if p.suffix in SUFFIXES)
    text = "".join(f"{p} {s.st_mtime_ns} {s.st_size}\n" for p in sorted(files) for s in [p.stat()])
    return hashlib.sha256(text.encode()).hexdigest()


def _call(site: Site, method: str, engine: str, body: object = None) -> None:
    from google.auth.transport.requests import AuthorizedSession

    session = AuthorizedSession(site.target.credentials)
    url = f"{site.target.endpoints.agent_runtime}/_dev/{engine}"
    answer = session.request(method, url, json=body, timeout=90)
    if not answer.ok:
        raise RemoteError(
            str(answer.json()["error"]["message"]),
            where=engine,
            fix="correct the code; saving it reloads it",
        )
