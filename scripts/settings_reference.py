"""Writes docs/environments.md: `python -m scripts.settings_reference > docs/environments.md`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import click
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from infra.environment import Environment

HEAD = """# Environments

Generated from `infra/environment.py` by `python -m scripts.settings_reference >
docs/environments.md`; a test compares them.

An environment is one project and region, described by one file, `infra/environments/NAME.toml`. An
unknown key is an error that names the nearest known one. A later source wins: the defaults below,
the file that `extends` names (relative to `infra/environments`), the environment's own file,
variables of CI, and `--platform local`.

```sh
slipway env list
slipway env show dev                # every value, and where it came from
slipway env check                   # all files, and everything that Terraform would get; no network
slipway env new qa --project acme-agents-qa
slipway env new pr-12 --project acme-agents-dev --name-prefix pr12 --ttl-hours 24
slipway env reap --plan             # ephemeral environments whose time is over
```

A variable of CI is `SLIPWAY_ENV__NAME__KEY`, with two underscores between parts and one for a
hyphen of the name: `SLIPWAY_ENV__DEV__BUILD__BRANCH='^release$'` sets `[build] branch` of `dev`.

Two environments of one checkout cannot share a project unless each has a `name_prefix`; a state
bucket that carries another owner's labels is refused.
"""


def reference() -> str:
    """The whole document."""
    return "\n".join([HEAD, *_table(Environment, "")])


def _table(model: type[BaseModel], table: str) -> Iterator[str]:
    title = f"`[{table}]`" if table else "The file"
    text = inspect.cleandoc(model.__doc__ or "").replace("\n", " ")
    yield f"## {title}\n\n{text}\n"
    yield "| key | default | what it is |\n|---|---|---|"
    inner = []
    for name, field in model.model_fields.items():
        if nested := _model(field.annotation):
            inner.append((nested, f"{table}.{name}" if table else name))
            continue
        default = "required" if field.default is PydanticUndefined else _shown(field.get_default())
        if field.default_factory is not None:
            default = "`{}`"
        what = _docs(model).get(name, "")
        yield f"| `{name}` | {default} | {what}{_limits(field)} |"
    yield ""
    for nested, name in inner:
        yield from _table(nested, name)


def _docs(model: type[BaseModel]) -> dict[str, str]:
    """The text below each field in the source."""
    found, last = {}, ""
    [node] = ast.parse(inspect.getsource(model)).body
    assert isinstance(node, ast.ClassDef)
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            last = statement.target.id
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and last:
            text = " ".join(inspect.cleandoc(str(statement.value.value)).split())
            found[last], last = text.replace("|", "\\|"), ""
    return found


def _model(annotation: Any) -> type[BaseModel] | None:
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, BaseModel):
            return one
    return None


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    return f"`{str(value).lower() if isinstance(value, bool) else repr(value)}`".replace("'", '"')


def _limits(field: Any) -> str:
    """The values or the pattern that a field may have, where there is one."""
    choices = [c for c in _flat(field.annotation) if isinstance(c, str)]
    if choices:
        return " One of " + ", ".join(f"`{choice}`" for choice in choices) + "."
    found = [*field.metadata, *(m for a in _annotated(field.annotation) for m in a)]
    parts = [p for item in found for p in (item, *getattr(item, "metadata", ()))]
    for pattern in (getattr(part, "pattern", None) for part in parts):
        if pattern:
            escaped = pattern.replace("|", "\\|")
            return f" Pattern: `{escaped}`."
    return ""


def _flat(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is not None and "Literal" in str(get_origin(annotation)):
        yield from get_args(annotation)


def _annotated(annotation: Any) -> Iterator[tuple[Any, ...]]:
    for one in (annotation, *get_args(annotation)):
        if hasattr(one, "__metadata__"):
            yield one.__metadata__


if __name__ == "__main__":
    click.echo(reference(), nl=False)
