"""Releases: immutable documents that say which bundle each agent has, and the bundles themselves.

bundles/DIGEST.tar.gz    an agent's archive, named by the digest of its uncompressed tar
releases/ID.json         the document
"""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from infra.errors import RemoteError
from services.release import interface
from services.release.bundle import Bundle
from services.release.parallel import all_of
from services.release.records import NOT_THERE, Bucket

SCHEMA_VERSION = 2
ID_DIGITS = 12
FOLDER = "releases/"
UPLOADS_AT_ONCE = 4


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class BundleRecord(_Model):
    """What a release says of one agent, as services/release/bundle.py explains the fields.

    Digests are SHA-256 in hex, sizes bytes. `card` is that of its A2A interface, for readers.
    """

    digest: str
    archive_sha256: str
    size: int
    files: int
    entrypoint: str
    python: str
    framework: str
    tree: str = ""
    requirements: str
    class_methods: list[dict[str, Any]]
    card: dict[str, Any] | None = None
    sha256: dict[str, str] = {}
    versions: dict[str, str] = {}
    env: list[str] = []
    secrets: list[str] = []


class Release(_Model):
    """The document. `commit` is None outside git; `dirty`: the agents differed from that commit."""

    schema_version: int
    id: str
    commit: str | None
    dirty: bool
    agents: dict[str, BundleRecord]


def release_id(bundles: Mapping[str, Bundle]) -> str:
    """The release's ID: what its bundles are, and nothing of when, where or by whom.

    The same sources give the same ID in every checkout and at every commit.
    """
    parts = {
        name: [
            *(b.digest, b.entrypoint, b.python, b.requirements, b.framework, b.class_methods),
            *(b.env, b.secrets),
        ]
        for name, b in bundles.items()
    }
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:ID_DIGITS]


def document(root: Path, bundles: Mapping[str, Bundle]) -> Release:
    """The release of these bundles, which were built from the checkout `root`."""
    commit = _git(root, "rev-parse", "HEAD")
    return Release(
        schema_version=SCHEMA_VERSION,
        id=release_id(bundles),
        commit=commit,
        dirty=bool(commit and _git(root, "status", "--porcelain", "--", "agents")),
        agents={name: _record(bundle) for name, bundle in sorted(bundles.items())},
    )


def store(bucket: Bucket, release: Release, bundles: Mapping[str, Bundle]) -> dict[str, Bundle]:
    """Stores bundles and document, each once; what is there is checked and left as it is.

    Returns:
        The bundles with the archives as they are stored: another machine may have compressed the
        same tar to other bytes, and what is deployed is what is stored.

    Raises:
        RemoteError: an object is there whose content is not what its name says.
    """
    calls = {name: partial(_store_bundle, bucket, bundle) for name, bundle in bundles.items()}
    stored = all_of(calls, at_most=UPLOADS_AT_ONCE)
    records = {name: _record(bundle) for name, bundle in sorted(stored.items())}
    _store_document(bucket, release.model_copy(update={"agents": records}))
    return stored


def stored_ids(bucket: Bucket) -> list[str]:
    """IDs of the releases that a bucket holds, sorted."""
    names = bucket.names(FOLDER)
    return [name.removeprefix(FOLDER).removesuffix(".json") for name in names]


def read(bucket: Bucket, id_: str) -> Release:
    """A stored release's document.

    Raises:
        RemoteError: it is not there, or is none.
    """
    path = f"{FOLDER}{id_}.json"
    there = bucket.read(path)
    if there is None:
        raise RemoteError(
            "there is no such release", where=bucket.where(path), fix="slipway release list ENV"
        )
    try:
        return Release.model_validate_json(there.data)
    except ValueError:
        raise RemoteError(
            "not a release document", where=bucket.where(path), fix="look into it"
        ) from None


def load(bucket: Bucket, id_: str, agents: Iterable[str]) -> dict[str, Bundle]:
    """Bundles of a stored release, their bytes checked against their names.

    Raises:
        RemoteError: the release or a bundle is not there, or is not what its name says.
    """
    release = read(bucket, id_)
    calls = {name: partial(_load, bucket, name, release.agents[name]) for name in agents}
    return all_of(calls, at_most=UPLOADS_AT_ONCE)


def _load(bucket: Bucket, agent: str, record: BundleRecord) -> Bundle:
    path = f"bundles/{record.digest}.tar.gz"
    there = bucket.read(path)
    if there is None or _tar_digest(there.data) != record.digest:
        raise RemoteError(
            "the bundle is not there, or its bytes are not what its name says",
            where=bucket.where(path),
            fix="slipway deploy builds and stores it anew",
        )
    return Bundle(
        agent=agent,
        entrypoint=record.entrypoint,
        python=record.python,
        digest=record.digest,
        archive=there.data,
        size=record.size,
        files=record.files,
        tree=record.tree,
        requirements=record.requirements,
        framework=record.framework,
        class_methods=record.class_methods,
        sha256=record.sha256,
        versions=record.versions,
        env=tuple(record.env),
        secrets=tuple(record.secrets),
    )


def _store_bundle(bucket: Bucket, bundle: Bundle) -> Bundle:
    path = f"bundles/{bundle.digest}.tar.gz"
    # Stored without a content encoding, or Storage would unpack it on the way out.
    if bucket.write(path, bundle.archive, "application/gzip", generation=NOT_THERE) is not None:
        return bundle
    there = bucket.read(path)
    if there is None or _tar_digest(there.data) != bundle.digest:
        raise RemoteError(
            "its bytes are not what its name says: it was changed or damaged",
            where=bucket.where(path),
            fix=f"look into it, then remove it: gcloud storage rm {bucket.where(path)}",
        )
    return replace(bundle, archive=there.data)


def _store_document(bucket: Bucket, release: Release) -> None:
    path = f"{FOLDER}{release.id}.json"
    data = release.model_dump_json(indent=1).encode()
    if bucket.write(path, data, "application/json", generation=NOT_THERE) is not None:
        return
    there = bucket.read(path)
    try:
        # Not field by field: a newer slipway may say more of the same bundles.
        same = there is not None and _digests(Release.model_validate_json(there.data)) == _digests(
            release
        )
    except ValueError:
        same = False
    if not same:
        raise RemoteError(
            "the release document there is of other bundles: it was changed or damaged",
            where=bucket.where(path),
            fix=f"look into it, then remove it: gcloud storage rm {bucket.where(path)}",
        )


def _digests(release: Release) -> dict[str, str]:
    return {name: record.digest for name, record in release.agents.items()}


def _record(bundle: Bundle) -> BundleRecord:
    return BundleRecord(
        digest=bundle.digest,
        archive_sha256=bundle.archive_sha256,
        size=bundle.size,
        files=bundle.files,
        entrypoint=bundle.entrypoint,
        python=bundle.python,
        framework=bundle.framework,
        tree=bundle.tree,
        requirements=bundle.requirements,
        class_methods=[dict(method) for method in bundle.class_methods],
        card=interface.card(bundle.class_methods),
        sha256=dict(bundle.sha256),
        versions=dict(sorted(bundle.versions.items())),
        env=list(bundle.env),
        secrets=list(bundle.secrets),
    )


def _tar_digest(archive: bytes) -> str | None:
    """SHA-256 of the tar in a gzip archive; None when it is damaged."""
    try:
        return hashlib.sha256(gzip.decompress(archive)).hexdigest()
    except (OSError, EOFError, zlib.error):
        return None


def _git(root: Path, *arguments: str) -> str | None:
    """Git's answer without the line's end; None when there is no git or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
