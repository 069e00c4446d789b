"""A bundle's requirements.txt: every package at one version, with the hashes of its files."""

from __future__ import annotations

import re

from infra.errors import PackageError

_PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[^\]]*\])?\s*==\s*[A-Za-z0-9][^\s;\\]*")
_HASH = "--hash=sha256:"


def require_pinned(text: str, where: str) -> None:
    """Refuses a lock that a build could resolve to something else another day.

    Args:
        where: the lock's path, for messages.

    Raises:
        PackageError: a package has no exact version, or no hash.
    """
    for number, line in _logical_lines(text):
        if line.startswith("--"):
            continue  # an option, such as an index
        what = None
        if not _PINNED.match(line):
            what = "has no exact version"
        elif _HASH not in line:
            what = "has no hash"
        if what:
            raise PackageError(
                f"{line.split()[0]} {what}",
                where=f"{where}:{number}",
                fix="write the lock with scripts/lock",
            )


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with their continuations joined, without comments, each with its first number."""
    found: list[tuple[int, str]] = []
    joined, start = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split(" #")[0].strip()
        if line.startswith("#"):
            continue
        start = start or number
        joined += line.removesuffix("\\") + " "
        if line.endswith("\\"):
            continue
        if joined.strip():
            found.append((start, joined.strip()))
        joined, start = "", 0
    return found
