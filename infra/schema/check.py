"""Checks a resource's or the provider's arguments against the provider's schema.

The schema is `google.json`: the shape of `terraform providers schema -json`, for the types in use.
An argument's value may be an interpolation (`${…}`) wherever a value is expected.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from infra.errors import InputError

FILE = Path(__file__).with_name("google.json")
# Terraform's own arguments, which every resource takes and no provider's schema lists.
META = frozenset({"depends_on", "lifecycle", "provider", "count", "for_each", "//"})

Schema = Mapping[str, Any]


@functools.cache
def google() -> Schema:
    """The schema as read from `google.json`."""
    schema: Schema = json.loads(FILE.read_text(encoding="utf-8"))
    return schema


def check_provider(fields: Mapping[str, Any]) -> None:
    """Raises InputError when the google provider would not take these arguments."""
    _block("provider.google", "", fields, google()["provider"]["block"])


def check_resource(type_: str, name: str, fields: Mapping[str, Any]) -> None:
    """Raises InputError, naming resource and argument, when the provider would not take it."""
    own = {key: value for key, value in fields.items() if key not in META}
    _block(f"{type_}.{name}", "", own, _resource(type_, f"{type_}.{name}"))


def check_reference(type_: str, name: str, attribute: str) -> None:
    """Raises InputError when resources of this type have no such attribute to refer to."""
    block = _resource(type_, f"{type_}.{name}")
    known = [*block.get("attributes", {}), *block.get("block_types", {})]
    if attribute not in known:
        raise InputError(
            f"a reference to the unknown attribute {attribute!r}",
            where=f"{type_}.{name}",
            fix=_nearest(attribute, known),
        )


def arguments(type_: str) -> frozenset[str]:
    """Names of what a configuration may set: arguments and blocks, not what the server computes."""
    block = _resource(type_, type_)
    settable = (
        name
        for name, entry in block.get("attributes", {}).items()
        if entry.get("required") or entry.get("optional")
    )
    return frozenset([*settable, *block.get("block_types", {})]) - {"id"}


def _resource(type_: str, where: str) -> Schema:
    schemas = google()["resource_schemas"]
    if type_ not in schemas:
        raise InputError(
            f"unknown resource type {type_!r}",
            where=where,
            fix=_nearest(type_, schemas) + "; others are added by infra/schema/rebuild.py",
        )
    block: Schema = schemas[type_]["block"]
    return block


def _block(where: str, path: str, fields: Mapping[str, Any], block: Schema) -> None:
    attributes: Schema = block.get("attributes", {})
    blocks: Schema = block.get("block_types", {})
    for key, value in fields.items():
        full = f"{path}{key}"
        if key in attributes:
            _attribute(where, full, value, attributes[key])
        elif key in blocks:
            _nested(where, full, value, blocks[key])
        else:
            settable = [name for name, spec in attributes.items() if _settable(spec)]
            raise InputError(
                f"unknown argument {full!r}", where=where, fix=_nearest(key, [*settable, *blocks])
            )
    for key, spec in attributes.items():
        if spec.get("required") and fields.get(key) is None:
            raise _missing(where, f"{path}{key}")
    for key, spec in blocks.items():
        if spec.get("min_items") and fields.get(key) is None:
            raise _missing(where, f"{path}{key}")


def _attribute(where: str, full: str, value: Any, spec: Schema) -> None:
    if not _settable(spec):
        raise InputError(
            f"{full!r} is set by the provider, not by us",
            where=where,
            fix=f"remove {full}; other resources can refer to it",
        )
    expected = spec["type"]
    if value is not None and not _fits(value, expected):
        raise InputError(
            f"{full!r} must be {_words(expected)}, not {type(value).__name__} {value!r}",
            where=where,
            fix=f"give {full} as {_words(expected)}",
        )


def _nested(where: str, full: str, value: Any, spec: Schema) -> None:
    if value is None or _token(value):
        return
    items = value if isinstance(value, list | tuple) else [value]
    for item in items:
        if not isinstance(item, Mapping):
            raise InputError(
                f"{full!r} is a block, not {type(item).__name__} {item!r}",
                where=where,
                fix=f"give {full} as a table of its arguments",
            )
    least, most = spec.get("min_items", 0), spec.get("max_items")
    if len(items) < least or (most is not None and len(items) > most):
        bounds = f"at least {least}" if len(items) < least else f"at most {most}"
        raise InputError(
            f"{full!r} is given {len(items)} times; it takes {bounds}",
            where=where,
            fix=f"give {full} {bounds} time{'s' if bounds[-2:] != ' 1' else ''}",
        )
    for number, item in enumerate(items):
        step = f"{full}[{number}]." if len(items) > 1 else f"{full}."
        _block(where, step, item, spec["block"])


def _settable(spec: Schema) -> bool:
    return bool(spec.get("required") or spec.get("optional"))


def _token(value: Any) -> bool:
    return isinstance(value, str) and "${" in value.replace("$${", "")


def _fits(value: Any, expected: Any) -> bool:
    if _token(value):
        return True
    if isinstance(expected, list):
        kind, inner = expected
        if kind == "map":
            return isinstance(value, Mapping) and all(_fits(v, inner) for v in value.values())
        return isinstance(value, list | tuple) and all(_fits(v, inner) for v in value)
    if expected == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "bool": bool}[expected])


def _words(expected: Any) -> str:
    if isinstance(expected, list):
        return f"a {expected[0]} of {expected[1]}s"
    return f"a {expected}"


def _missing(where: str, full: str) -> InputError:
    return InputError(f"the argument {full!r} is missing", where=where, fix=f"set {full}")


def _nearest(wrong: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(wrong, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}"
