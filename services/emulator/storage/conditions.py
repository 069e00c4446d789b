"""Preconditions on generations and metagenerations: the base of every lock kept in a bucket."""

from __future__ import annotations

from collections.abc import Mapping

from services.emulator.state import Body
from services.emulator.storage.errors import bad_request, unmet


class NotModified(Exception):
    """A read whose NotMatch condition does not hold; answered with 304 and no body."""


def check(
    query: Mapping[str, str], current: Body | None, *, source: bool = False, read: bool = False
) -> None:
    """Holds the request's conditions against a bucket, an object, or None (generation 0).

    Args:
        query: the request's parameters: `ifGenerationMatch`, `ifMetagenerationNotMatch` and so on.
        source: look at those of a copy's source (`ifSourceGenerationMatch` …) instead.
        read: the request only reads, so that a NotMatch that fails means "not modified".

    Raises:
        StorageError: 412 conditionNotMet; 400, when a value is no number.
        NotModified: see `read`.
    """
    prefix = "ifSource" if source else "if"
    for field in ("generation", "metageneration"):
        actual = int(current.get(field, 0)) if current else 0
        match = number(query, f"{prefix}{field.capitalize()}Match")
        if match is not None and match != actual:
            raise unmet()
        unwanted = number(query, f"{prefix}{field.capitalize()}NotMatch")
        if unwanted is not None and unwanted == actual:
            if read:
                raise NotModified
            raise unmet()


def number(query: Mapping[str, str], key: str) -> int | None:
    """A numeric parameter, or None when it is not given."""
    value = query.get(key)
    if value is None:
        return None
    try:
        return int(value)
    except ValueError:
        raise bad_request(f"Invalid value for {key}: {value!r} is not a number.") from None


def merge(base: Body, patch: Body) -> Body:
    """A patch laid over a resource: null removes a field, objects merge, all else replaces."""
    result = dict(base)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merge(result[key], value)
        else:
            result[key] = merge({}, value) if isinstance(value, dict) else value
    return result
