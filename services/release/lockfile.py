"""A bundle's requirements.txt: every package at one version, with the hashes of its files."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from infra.errors import PackageError

if TYPE_CHECKING:
    from importlib.metadata import Distribution

_PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(\[(?P<extras>[^\]]*)\])?\s*==\s*"
    r"(?P<version>[A-Za-z0-9][^\s;\\]*)"
)
_HASH = "--hash=sha256:"
_FIX = "write the lock with scripts/lock"


def require_pinned(text: str, where: str) -> dict[str, str]:
    """Refuses a lock that a build could resolve to something else another day.

    Args:
        where: the lock's path, for messages.

    Returns:
        Versions by normalized name.

    Raises:
        PackageError: a package has no exact version, or no hash.
    """
    pins = {}
    for number, line in _logical_lines(text):
        if line.startswith("--"):
            continue  # an option, such as an index
        what, pinned = None, _PINNED.match(line)
        if not pinned:
            what = "has no exact version"
        elif _HASH not in line:
            what = "has no hash"
        else:
            pins[_normal(pinned["name"])] = pinned["version"]
        if what:
            raise PackageError(f"{line.split()[0]} {what}", where=f"{where}:{number}", fix=_FIX)
    return pins


def require_whole(text: str, where: str, python: str) -> None:
    """Refuses a lock that cannot be installed with hashes: it lacks what its packages need.

    What a package needs is read from its metadata where that very version is installed here; of one
    that is not, nothing is known, and the runtime's own build will tell.

    Args:
        where: the lock's path, for messages.
        python: version of the runtime, such as `3.11`.

    Raises:
        PackageError: a package needs one that the lock does not hold, or holds at another version.
    """
    if problem := _problem(text, python):
        raise PackageError(problem, where=where, fix=_FIX)


@lru_cache(maxsize=8)
def _problem(text: str, python: str) -> str | None:
    from packaging.requirements import Requirement

    matches = [_PINNED.match(line) for _, line in _logical_lines(text)]
    pins = {_normal(m["name"]): m["version"] for m in matches if m}
    extras = {_normal(m["name"]): (m["extras"] or "").split(",") for m in matches if m}
    here = {"python_version": python, "python_full_version": f"{python}.0"}
    here |= {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
    here |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
    for name, version in pins.items():
        installed = _installed(name)
        if installed is None or installed.version != version:
            continue
        for raw in installed.requires or ():
            need = Requirement(raw)
            wanted = need.marker is None or any(
                need.marker.evaluate({**here, "extra": extra.strip()})
                for extra in ("", *extras[name])
            )
            if not wanted:
                continue
            found = pins.get(_normal(need.name))
            if found is None:
                return f"{name} {version} needs {need.name}, which the lock does not hold"
            if not need.specifier.contains(found, prereleases=True):
                return f"{name} {version} needs {need.name}{need.specifier}, not {found}"
    return None


def _installed(name: str) -> Distribution | None:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


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
