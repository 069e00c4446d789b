"""A bundle: one agent's files as a canonical tar, named by the SHA-256 of that tar.

The tar holds nothing of where, when or by whom it was made: entries sorted by path, mode 0644, no
owner, time 0. The compressed archive is sent; its digest is recorded beside the name, since another
zlib may compress the same tar to other bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from infra.errors import PackageError
from services.release.sources import SourceFile

REQUEST_LIMIT = 8 * 1024 * 1024
"""Bytes of one request that Agent Runtime is taken to accept. Unverified: no limit is published."""


@dataclass(frozen=True)
class Bundle:
    """One agent, ready to be deployed anywhere."""

    agent: str
    entrypoint: str
    """`module:object`."""
    python: str
    """Python version of the runtime, such as `3.11`."""
    digest: str
    """SHA-256 (hex) of the uncompressed tar: the bundle's name."""
    archive: bytes = field(repr=False)
    """The tar, compressed with gzip."""
    size: int
    """Bytes of the uncompressed tar."""
    files: int
    tree: str
    """SHA-256 (hex) over its files' digests, as a deployed agent reports it (agents/shared)."""
    requirements: str
    """SHA-256 (hex) of requirements.txt."""
    framework: str
    """`google-adk` or `custom`, as the API names it."""
    class_methods: Sequence[Mapping[str, Any]] = field(repr=False)
    """What the deployed object can be asked, as Google's SDK describes it."""
    sha256: Mapping[str, str] = field(default_factory=dict, repr=False)
    """SHA-256 (hex) of each file, by its path in the archive."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of Python and of Google's packages that the lock names, by name."""
    env: tuple[str, ...] = ()
    """Names of the environment variables that the manifest declares, sorted; never values."""
    secrets: tuple[str, ...] = ()
    """Names of those that are filled from secrets, sorted."""

    @property
    def archive_sha256(self) -> str:
        """SHA-256 (hex) of the compressed archive."""
        return hashlib.sha256(self.archive).hexdigest()


def canonical_tar(files: Sequence[SourceFile]) -> bytes:
    """The uncompressed tar (USTAR) of `files`.

    Raises:
        PackageError: a path is too long for the format.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for file in sorted(files, key=lambda file: file.path):
            entry = tarfile.TarInfo(file.path)
            entry.size, entry.mode, entry.mtime = len(file.data), 0o644, 0
            try:
                tar.addfile(entry, io.BytesIO(file.data))
            except ValueError:
                raise PackageError(
                    "the path is too long for an archive",
                    where=file.from_,
                    fix="use names of up to 100 bytes in folders of up to 155 bytes",
                ) from None
    return buffer.getvalue()


def compress(tar: bytes, files: Sequence[SourceFile], agent: str) -> bytes:
    """The tar with gzip.

    Raises:
        PackageError: it would not fit into one request; the largest files are named.
    """
    archive = gzip.compress(tar, compresslevel=9, mtime=0)
    sent = len(archive) * 4 // 3
    if sent > REQUEST_LIMIT:
        largest = sorted(files, key=lambda file: -len(file.data))[:3]
        named = ", ".join(f"{f.from_} ({len(f.data) / 1e6:.1f} MB)" for f in largest)
        raise PackageError(
            f"the archive makes a request of {sent / 1e6:.1f} MB; "
            f"{REQUEST_LIMIT / 1e6:.1f} MB are taken to be the limit. Largest: {named}",
            where=f"agents/{agent}",
            fix="keep large data in a bucket and read it from there",
        )
    return archive


def tree(files: Sequence[SourceFile]) -> str:
    """SHA-256 of the lines `SHA-256 OF THE FILE  PATH`, sorted by path."""
    return digest("".join(f"{sha}  {path}\n" for path, sha in digests(files).items()).encode())


def digests(files: Sequence[SourceFile]) -> dict[str, str]:
    """SHA-256 (hex) of each file by its path, sorted."""
    ordered = sorted(files, key=lambda file: file.path)
    return {file.path: digest(file.data) for file in ordered}


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()
