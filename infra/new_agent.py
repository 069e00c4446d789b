"""Writes the folder of a new agent: one that owns data, is asked by the router and tests itself."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from infra import manifest
from infra.errors import InputError
from infra.manifest import FOLDER
from infra.new_agent_files import FILES

NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")


def write(root: Path, name: str, *, requires: tuple[str, ...] = ()) -> list[Path]:
    """Writes `agents/NAME`; nothing is left when it is wrong.

    Args:
        requires: requirements (PEP 508) that the other agents do not have.

    Returns:
        The files' paths, relative to the checkout.

    Raises:
        InputError: the name is taken or wrong.
    """
    if not NAME.fullmatch(name) or name == "shared":
        raise InputError(
            f"{name!r} is no name of an agent", fix="1 to 31 of [a-z0-9_], a letter first"
        )
    folder = root / FOLDER / name
    if folder.exists():
        raise InputError(
            f"there is an agent {name!r} already",
            where=str(FOLDER / name),
            fix="edit that folder, or give another name",
        )
    try:
        written = list(_written(folder, name, requires))
        manifest.load_all(root)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return [path.relative_to(root) for path in written]


def _written(folder: Path, name: str, requires: tuple[str, ...]) -> Iterator[Path]:
    words = {"@NAME@": name, "@TITLE@": name.replace("_", " ").capitalize()}
    words["@WORDS@"] = name.replace("_", " ")
    words["@REQUIREMENTS@"] = (
        f'requirements = "agents/{name}/requirements.lock"\n' if requires else ""
    )
    for path, text in FILES.items():
        yield _file(folder / _filled(path, words), _filled(text, words))
    if requires:
        lines = ["-r ../requirements.in", *requires]
        yield _file(folder / "requirements.in", "\n".join(lines) + "\n")


def _filled(text: str, words: dict[str, str]) -> str:
    for place, word in words.items():
        text = text.replace(place, word)
    return text


def _file(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
