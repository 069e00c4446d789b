"""List filters: `user_id="maria" AND timestamp>="2026-12-01T00:00:00Z"`.

Of AIP-160 this is what the clients send: comparisons joined by AND. A field is a path
(`scope.user_id`, `labels.agent`, `topics.managed_memory_topic`); through a list it means any item.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from services.emulator.errors import invalid
from services.emulator.rest import camel_key
from services.emulator.state import Body

_TERM = re.compile(
    r"\s*([A-Za-z_][\w.-]*)\s*(>=|<=|!=|=|>|<|:)\s*"
    r'(?:"((?:[^"\\]|\\.)*)"|\'((?:[^\'\\]|\\.)*)\'|([^\s"\']+))\s*'
)
_AND = re.compile(r"AND\b")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    ":": operator.eq,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
Term = tuple[str, str, str]


def matching(items: Iterable[Body], text: str | None, fields: frozenset[str]) -> list[Body]:
    """The items that the filter lets through; all of them when it is empty.

    Args:
        fields: the top-level fields (camelCase) that may be filtered by.

    Raises:
        ApiError: INVALID_ARGUMENT, when it cannot be read or names another field.
    """
    terms = parse(text or "", fields)
    return [item for item in items if all(_holds(item, term) for term in terms)]


def parse(text: str, fields: frozenset[str]) -> list[Term]:
    """The filter's comparisons as (field, operator, literal)."""
    terms: list[Term] = []
    at = 0
    while text[at:].strip():
        match = _TERM.match(text, at)
        if match is None:
            raise invalid(f"Invalid filter: {text!r} cannot be read at {text[at:]!r}.")
        field, op, *literals = match.groups()
        if camel_key(field.split(".")[0]) not in fields:
            raise invalid(f"Invalid filter: {field!r} cannot be filtered by.")
        literal = next(item for item in literals if item is not None)
        terms.append((field, op, re.sub(r"\\(.)", r"\1", literal)))
        at = match.end()
        if text[at:].strip():
            joint = _AND.match(text, at)
            if joint is None:
                raise invalid(f"Invalid filter: AND is expected at {text[at:]!r}.")
            at = joint.end()
    return terms


def _holds(item: Body, term: Term) -> bool:
    field, op, literal = term
    values = list(_values(item, field.split(".")))
    if op == "!=":
        return not any(_compare("=", value, literal) for value in values)
    if op == ":" and literal == "*":
        return bool(values)
    return any(_compare(op, value, literal) for value in values)


def _values(node: Any, path: list[str]) -> Iterator[Any]:
    """What lies at the path; a key of a map is taken as written, a field's name in camelCase."""
    if isinstance(node, list):
        for item in node:
            yield from _values(item, path)
    elif not path:
        if node is not None:
            yield node
    elif isinstance(node, dict):
        key = path[0] if path[0] in node else camel_key(path[0])
        if key in node:
            yield from _values(node[key], path[1:])


def _compare(op: str, value: Any, literal: str) -> bool:
    if isinstance(value, bool):
        return _COMPARE[op](value, literal.lower() == "true")
    if isinstance(value, int | float):
        try:
            return _COMPARE[op](float(value), float(literal))
        except ValueError:
            return False
    left, right = _time(value), _time(literal)
    if left is not None and right is not None:
        return _COMPARE[op](left, right)
    return _COMPARE[op](str(value), literal)


def _time(text: Any) -> datetime | None:
    """A point in time with its zone; a date alone or a text is none."""
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else None
