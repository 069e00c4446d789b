"""Reads `pipelines/NAME.yaml`, a Cloud Build configuration, as a trigger's `build` block.

The build lies in the trigger itself, not in a file of the commit that is built: who can push a
branch cannot change what runs with the deployer's rights; only an apply can.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from infra.errors import InputError

FOLDER = Path("pipelines")
# Cloud Build's YAML names -> the provider's.
_TOP = {"steps": "step", "options": "options", "timeout": "timeout",
        "substitutions": "substitutions"}  # fmt: skip
_STEP = {"id": "id", "name": "name", "entrypoint": "entrypoint", "args": "args", "env": "env",
         "dir": "dir", "timeout": "timeout", "waitFor": "wait_for"}  # fmt: skip
_OPTIONS = {"logging": "logging", "machineType": "machine_type", "diskSizeGb": "disk_size_gb"}

Build = dict[str, Any]


def load_all(root: Path) -> dict[str, Build]:
    """Every pipeline under the checkout `root`, by the file's name.

    Raises:
        InputError: a file is no Cloud Build configuration, or uses what is not passed on.
    """
    return {path.stem: load(root, path.stem) for path in sorted((root / FOLDER).glob("*.yaml"))}


def load(root: Path, name: str) -> Build:
    """One pipeline; raises InputError as `load_all` does."""
    shown = str(FOLDER / f"{name}.yaml")
    try:
        document = yaml.safe_load((root / shown).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        told = " ".join(str(error).split())
        raise InputError(f"cannot be read: {told}", where=shown, fix=f"edit {shown}") from None
    build = _renamed(document, _TOP, shown)
    steps = build.get("step")
    if not isinstance(steps, list) or not steps:
        raise InputError("there are no steps", where=shown, fix=f"add steps: to {shown}")
    build["step"] = [_renamed(step, _STEP, f"{shown} step {i}") for i, step in enumerate(steps, 1)]
    build["options"] = _renamed(build.get("options", {}), _OPTIONS, f"{shown} options")
    escaped: Build = _escaped(build)
    return escaped


def _renamed(given: Any, known: Mapping[str, str], where: str) -> Build:
    if not isinstance(given, dict):
        raise InputError("a table is expected", where=where, fix="see the other pipelines")
    if unknown := sorted(set(given) - set(known)):
        raise InputError(
            f"{unknown[0]!r} is not passed on to the trigger",
            where=where,
            fix=f"known: {', '.join(known)}",
        )
    return {known[key]: value for key, value in given.items()}


def _escaped(value: Any) -> Any:
    """Texts as they stand: `${…}` is the shell's or Cloud Build's here, never Terraform's."""
    if isinstance(value, dict):
        return {key: _escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_escaped(item) for item in value]
    return value.replace("${", "$${").replace("%{", "%%{") if isinstance(value, str) else value
