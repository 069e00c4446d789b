"""Whether what an archive's requirements file asks for is installed: agents run on our packages.

In the cloud the runtime installs them. Here a version that differs is an error, because the agent
would run on something else than it was locked to. Hashes, extras and options are not looked at.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import Path

from services.emulator.errors import ApiError

_INSTALLED = re.compile(r"(.+)-([^-]+)\.dist-info")


def check(text: str, where: str) -> None:
    """Checks every requirement of the file's text.

    Args:
        where: the file's name, for the error.

    Raises:
        ApiError: INVALID_ARGUMENT, naming what is missing or differs, and the line.
    """
    problems = _problems(text)
    if problems:
        more = f" (and {len(problems) - 3} more)" if len(problems) > 3 else ""
        raise ApiError(
            "INVALID_ARGUMENT",
            f"{where} asks for what the local platform does not have: {'; '.join(problems[:3])}"
            f"{more}. The local platform installs nothing: put these into the checkout's own "
            "requirements (scripts/lock) and install them, or change the agent's.",
        )


@lru_cache(maxsize=16)
def _problems(text: str) -> tuple[str, ...]:
    from packaging.requirements import InvalidRequirement, Requirement

    have = _installed()
    problems = []
    for number, line in _lines(text):
        try:
            wanted = Requirement(line)
        except InvalidRequirement:
            problems.append(f"line {number}: {line!r} is not a requirement")
            continue
        if wanted.marker is not None and not wanted.marker.evaluate():
            continue
        version = have.get(_normal(wanted.name))
        if version is None:
            problems.append(f"line {number}: {wanted.name} is not installed")
        elif not wanted.specifier.contains(version, prereleases=True):
            problems.append(
                f"line {number}: {wanted.name}{wanted.specifier}, but {version} is installed"
            )
    return tuple(problems)


def _lines(text: str) -> list[tuple[int, str]]:
    """Requirements with the number of their first line; without comments, hashes and options."""
    result: list[tuple[int, str]] = []
    pending, first = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        first = first or number
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        whole = re.split(r"\s--", pending + line)[0].strip()
        if whole and not whole.startswith("-"):
            result.append((first, whole))
        pending, first = "", 0
    return result


def _installed() -> dict[str, str]:
    """Versions by normalized name, by the folders' names: reading the metadata takes 0.1 s."""
    found: dict[str, str] = {}
    for entry in sys.path:
        if not Path(entry or ".").is_dir():
            continue
        for folder in Path(entry or ".").glob("*.dist-info"):
            if match := _INSTALLED.fullmatch(folder.name):
                found.setdefault(_normal(match[1]), match[2])
    return found


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
