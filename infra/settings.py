"""Loads environment files: `extends`, overrides by environment variable, and who set what.

A later source wins: defaults, the file that is extended, the environment's own file, variables
named `SLIPWAY_ENV__NAME__KEY` (`SLIPWAY_ENV__DEV__BUILD__BRANCH` for `[build] branch` of dev; for
CI), and last `--platform local`.
"""

from __future__ import annotations

import copy
import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from infra import toml_file
from infra.environment import Environment
from infra.errors import InputError
from infra.toml_file import Key, TomlFile

__all__ = ["Environment", "Platform", "load", "load_all", "names", "resolved"]

FOLDER = Path("infra/environments")
VARIABLE = "SLIPWAY_ENV__"
Platform = Literal["local"]
# What `--platform local` lays over an environment: where it runs, and what there is to run it.
OVERLAY: Mapping[str, Any] = {
    "endpoint": "local",
    "credentials": "local",
    "provider": "local",
    "model": "offline",
    "data": {},
    "databricks": {"host": "local", "replan_job": 1},
}


@dataclass(frozen=True)
class Resolved:
    """One value of an environment: its key, and who set it."""

    key: str
    value: Any
    source: str


def names(root: Path) -> list[str]:
    """Names of the environments that have a file, sorted."""
    return sorted(path.stem for path in (root / FOLDER).glob("*.toml"))


def load_all(root: Path, chosen: list[str], platform: Platform | None = None) -> list[Environment]:
    """Reads environments, and every other one that they could get into the way of.

    Raises:
        InputError: as `load` does, or two environments share what must be one's own.
    """
    wanted = {name: load(root, name, platform) for name in chosen}
    others = [load(root, name, platform) for name in names(root) if name not in wanted]
    if clashes := list(_clashes([*wanted.values(), *others])):
        raise InputError.of(clashes)
    return list(wanted.values())


def load(root: Path, name: str, platform: Platform | None = None) -> Environment:
    """Reads `infra/environments/NAME.toml` under the checkout `root`.

    Args:
        platform: `local` to play the environment on this machine's platform.

    Raises:
        InputError: no such environment, malformed TOML, or a missing, unknown or wrong field.
    """
    known = names(root)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(
            f"there is no environment {name!r}",
            where=str(FOLDER),
            fix=f"{hint}known: {', '.join(known) or 'none'}; a new one: slipway env new {name}",
        )
    shown = str(FOLDER / f"{name}.toml")
    data: dict[str, Any] = {}
    places: dict[Key, str] = {}
    for file in _chain(root, f"{name}.toml"):
        _merge(data, file.data)
        places |= {key: f"{file.shown}:{line}" for key, line in file.lines.items()}
    data.pop("extends", None)
    for variable, key, value in _overrides(name):
        _put(data, key, value, variable)
        places[key] = variable
    if platform is not None:
        data |= copy.deepcopy(dict(OVERLAY))
        places |= {(key,): f"--platform {platform}" for key in OVERLAY}
    return _validated(name, data, places, shown).on(platform)


def resolved(env: Environment) -> list[Resolved]:
    """Every value of the environment, in the model's order, with who set it."""
    return list(_resolved(env, env, ()))


def _validated(
    name: str, data: dict[str, Any], places: Mapping[Key, str], shown: str
) -> Environment:
    def where(key: Any) -> str:
        for end in range(len(key), 0, -1):
            if place := places.get(tuple(key[:end])):
                return place
        return shown

    try:
        env = Environment.model_validate(data).placed(shown, places)
    except ValidationError as error:
        raise toml_file.problems(error, Environment, where, shown) from None
    if env.name != name:
        raise InputError(
            f"name is {env.name!r}, but the file is called {name}.toml",
            where=env.where("name"),
            fix=f'write name = "{name}", or rename the file',
        )
    return env


def _chain(root: Path, name: str, seen: tuple[str, ...] = ()) -> list[TomlFile]:
    """The file and those that it extends, the outermost first."""
    file = toml_file.read(root / FOLDER / name, shown=str(FOLDER / name))
    base = file.data.get("extends")
    if base is None:
        return [file]
    where = file.where(("extends",))
    if not isinstance(base, str) or not (root / FOLDER / base).is_file():
        near = sorted(str(p.relative_to(root / FOLDER)) for p in (root / FOLDER).rglob("*.toml"))
        fix = f"files there: {', '.join(near)}"
        raise InputError(f"extends = {base!r}: no such file in {FOLDER}", where=where, fix=fix)
    if base in (name, *seen):
        raise InputError(
            f"extends = {base!r}: the files extend each other", where=where, fix=f"edit {where}"
        )
    return [*_chain(root, base, (*seen, name)), file]


def _merge(data: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Lays `over` on `data`, table by table."""
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(data.get(key), dict):
            _merge(data[key], value)
        else:
            data[key] = dict(value) if isinstance(value, dict) else value


def _overrides(name: str) -> Iterator[tuple[str, Key, Any]]:
    """What environment variables say of the environment: variable, key, value."""
    prefix = f"{VARIABLE}{name.upper().replace('-', '_')}__"
    for variable in sorted(os.environ):
        if variable.startswith(prefix):
            key = tuple(variable.removeprefix(prefix).lower().split("__"))
            yield variable, key, _value(os.environ[variable])


def _value(text: str) -> Any:
    """A TOML value, or else the text as it stands."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _put(data: dict[str, Any], key: Key, value: Any, variable: str) -> None:
    for part in key[:-1]:
        table = data.setdefault(part, {})
        if not isinstance(table, dict):
            raise InputError(f"{part!r} is no table", where=variable, fix=f"unset {variable}")
        data = table
    data[key[-1]] = value


def _clashes(environments: list[Environment]) -> Iterator[InputError]:
    """What two environments of one checkout may not share."""
    seen: dict[tuple[str, str], Environment] = {}
    for env in environments:
        # Secrets, APIs, the audit configuration and alerts are a project's: a prefix parts them.
        own = [("the project", f"{env.project} {env.name_prefix}")]
        own.append(("the label environment in the project", f"{env.project} {env.name}"))
        for what, value in own:
            other = seen.setdefault((what, value), env)
            if other is not env:
                yield InputError(
                    f"shares {what} {value.strip()!r} with {other.where('project')}",
                    where=env.where("project"),
                    fix="give one of them another project, or a name_prefix of its own",
                )


def _resolved(env: Environment, model: BaseModel, key: Key) -> Iterator[Resolved]:
    for name in type(model).model_fields:
        value, here = getattr(model, name), (*key, name)
        if isinstance(value, BaseModel):
            yield from _resolved(env, value, here)
        elif isinstance(value, dict) and value:
            for part, item in value.items():
                yield Resolved(".".join((*here, part)), item, _source(env, (*here, part)))
        else:
            yield Resolved(".".join(here), value, _source(env, here))


def _source(env: Environment, key: Key) -> str:
    return env.places.get(key) or "default"
