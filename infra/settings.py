"""The model of an environment file, `infra/environments/NAME.toml`.

Every field is named in the file or has the default given here; an unknown key is an error that
names the nearest known one.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from infra.errors import InputError

FOLDER = Path("infra/environments")


class Environment(BaseModel):
    """One project-and-region target, described by one file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(pattern=r"^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$")]
    """1 to 20 of `[a-z0-9-]`, a letter first; ends names of resources, so it is short."""
    project: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")]
    """Google Cloud project ID (6 to 30 characters)."""
    region: Annotated[str, Field(pattern=r"^[a-z]+-[a-z]+[0-9]+$")] = "us-central1"
    """Region of the engines, the buckets and the triggers."""
    endpoint: Literal["google", "local"]
    """Whose APIs are called."""
    credentials: Literal["application-default", "local"]
    """Whose credentials are sent."""
    provider: Literal["google", "local"]
    """Which Terraform provider applies the stack."""
    model: Annotated[str, Field(pattern=r"^(offline|gemini-[a-z0-9.-]+)$")] = "offline"
    """`offline`, or the name of a Gemini model."""
    data: Literal["sample"] = "sample"
    """Where the specialists read: the sample data that they carry."""
    memory: Literal["bank", "none"] = "bank"
    """`bank`: agents need a memory bank; `none`: they run without one."""
    repository: Annotated[
        str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}/[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    ] = "github/agents"
    """`CONNECTION/REPOSITORY` of Cloud Build (2nd generation) in this project and region: what the
    deploy trigger watches. A person makes the connection once, in the console."""
    deletion_policy: Literal["DELETE", "FORCE", "PREVENT", "ABANDON"] = "PREVENT"
    """What `terraform destroy` may do to an engine (FORCE also deletes its sessions)."""

    @model_validator(mode="after")
    def _local_is_whole(self) -> Environment:
        named = {self.endpoint, self.provider}
        if len(named) == 2:
            raise ValueError("endpoint and provider must name the same platform")
        if (self.endpoint == "local") != (self.credentials == "local"):
            raise ValueError('credentials = "local" goes with endpoint = "local", and only with it')
        return self


def names(root: Path) -> list[str]:
    """Names of the environments that have a file, sorted."""
    return sorted(path.stem for path in (root / FOLDER).glob("*.toml"))


def load(root: Path, name: str) -> Environment:
    """Reads `infra/environments/NAME.toml` under the checkout `root`.

    Raises:
        InputError: no such environment, malformed TOML, or a missing, unknown or wrong field.
    """
    path = FOLDER / f"{name}.toml"
    known = names(root)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(
            f"there is no environment {name!r}",
            where=str(FOLDER),
            fix=f"{hint}known: {', '.join(known) or 'none'}; a new one is a file {path}",
        )
    raw = read_toml(root / path, shown=str(path))
    try:
        env = Environment.model_validate(raw)
    except ValidationError as error:
        raise invalid(error, Environment, root / path, shown=str(path)) from None
    if env.name != name:
        raise InputError(
            f"name is {env.name!r}, but the file is called {path.name}",
            where=f"{path}:{line_of(root / path, 'name')}",
            fix=f'write name = "{name}", or rename the file',
        )
    return env


def read_toml(path: Path, *, shown: str) -> dict[str, Any]:
    """Reads a TOML file; a syntax error becomes an InputError with file and line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"not valid TOML: {error}", where=shown, fix=f"edit {shown}") from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}",
            where=shown,
            fix=f"check that {shown} is a readable file",
        ) from None


def invalid(
    error: ValidationError, model: type[BaseModel], path: Path, *, shown: str
) -> InputError:
    """Turns pydantic's first complaint into where, what and the edit that fixes it."""
    found = error.errors(include_url=False)
    # A misspelt key is also a missing one; the misspelling is what is to be mended.
    first = next((item for item in found if item["type"] == "extra_forbidden"), found[0])
    loc = [str(part) for part in first["loc"]]
    key = ".".join(loc)
    where = f"{shown}:{line_of(path, *loc)}" if loc else shown
    if first["type"] == "extra_forbidden":
        known = _keys(model, loc[:-1])
        near = difflib.get_close_matches(loc[-1], known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        return InputError(f"unknown key {key!r}", where=where, fix=hint)
    if first["type"] == "missing":
        return InputError(
            f"the key {key!r} is missing", where=shown, fix=f"add {key} = … to {shown}"
        )
    message = first["msg"].removeprefix("Value error, ")
    what = f"{key} = {first['input']!r}: {message}" if loc else message
    return InputError(what, where=where, fix=f"edit {shown}")


def _keys(model: type[BaseModel], loc: list[str]) -> list[str]:
    """The keys of the table that lies at `loc` inside the model."""
    for part in loc:
        field = model.model_fields.get(part)
        inner = field.annotation if field else None
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
    return list(model.model_fields)


def line_of(path: Path, *keys: str) -> int:
    """Line (from 1) of the first line that sets the last of `keys`; 1 when it cannot be told."""
    wanted = next((key for key in reversed(keys) if not key.isdigit()), "")
    for number, line in enumerate(
        path.read_text(encoding="utf-8", errors="replace").splitlines(), 1
    ):
        if line.split("=")[0].strip().strip('"') == wanted or line.strip().strip("[]").endswith(
            wanted
        ):
            return number
    return 1
