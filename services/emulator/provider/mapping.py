"""Between Terraform's arguments and an API's fields: `display_name` is `displayName`.

A block that may stand once is an object there; one that may be repeated, an array.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from services.emulator.provider.codec import Values
from services.emulator.provider.schema import Block, attributes, blocks

TIMEOUTS = "timeouts"


def camel(name: str) -> str:
    """`display_name` -> `displayName`."""
    head, *tail = name.split("_")
    return head + "".join(part.title() for part in tail)


def to_api(block: Block, value: Values, *, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """The API's object for a block's value: arguments that are set, and none that only it sets."""
    body: dict[str, Any] = {}
    for name, entry in attributes(block).items():
        item = value.get(name)
        writable = entry.get("required") or entry.get("optional")
        if item is None or not writable or name in leave_out or name == "id":
            continue
        body[camel(name)] = item
    for name, nested in blocks(block).items():
        items = value.get(name)
        if name == TIMEOUTS or name in leave_out or not items:
            continue
        if isinstance(items, dict):
            body[camel(name)] = to_api(nested["block"], items)
            continue
        made = [to_api(nested["block"], item or {}) for item in items]
        body[camel(name)] = made[0] if nested.get("max_items") == 1 else made
    return body


def from_api(
    block: Block,
    body: dict[str, Any],
    prior: Values | None,
    *,
    local: Collection[str] = (),
) -> Values:
    """The state of a block for what the API says.

    What the configuration never set and the API may fill in by itself is not managed: it stays
    unset, so that no plan shows it.

    Args:
        prior: the state before; None for a resource that is imported, of which all is taken.
        local: arguments that the API does not know: they stay as they were.
    """
    before = prior or {}
    result: Values = {}
    for name, entry in attributes(block).items():
        if name in local:
            result[name] = before.get(name)
            continue
        found = coerced(body.get(camel(name)), entry["type"])
        managed = prior is None or entry.get("computed") or before.get(name) is not None
        if not managed:
            found = None
        elif found is None and not before.get(name):
            # An API leaves out what is empty, false or 0.
            found = before.get(name)
        result[name] = found
    for name, nested in blocks(block).items():
        held = before.get(name)
        if name == TIMEOUTS or name in local:
            result[name] = held
        elif nested["nesting_mode"] == "single":
            result[name] = None
        else:
            result[name] = _repeated(nested, body.get(camel(name)), held, managed=prior is not None)
    return result


def _repeated(nested: dict[str, Any], found: Any, held: Any, *, managed: bool) -> list[Values]:
    held = held or []
    if managed and not held:
        return []
    items = [] if found is None else found if isinstance(found, list) else [found]
    if not items and len(held) == 1 and not _says_something(held[0]):
        return list(held)
    before: list[Values | None] = (
        [*held, *([None] * len(items))] if managed else [None] * len(items)
    )
    return [from_api(nested["block"], item, was) for item, was in zip(items, before, strict=False)]


def _says_something(value: Any) -> bool:
    """Whether anything in a block is set: an empty block comes back from no API."""
    if isinstance(value, dict):
        return any(map(_says_something, value.values()))
    if isinstance(value, list):
        return any(map(_says_something, value))
    return value is not None


def coerced(value: Any, type_: Any) -> Any:
    """An API's value as Terraform's type: int64 fields come as strings."""
    if value is None:
        return None
    if isinstance(type_, list):
        kind, element = type_
        if kind == "map":
            return {key: coerced(item, element) for key, item in value.items()}
        return [coerced(item, element) for item in value]
    if type_ == "number":
        return float(value) if isinstance(value, str) and "." in value else int(value)
    if type_ == "bool":
        return value if isinstance(value, bool) else str(value).lower() == "true"
    return value if isinstance(value, str) else str(value)
