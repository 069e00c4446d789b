"""What a change will give, as far as it is known before, and what of it means a new resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from services.emulator.provider.codec import UNKNOWN, State, Value
from services.emulator.provider.schema import Block, Nested

ATTRIBUTION = "goog-terraform-provisioned"


def fill(block: Block, proposed: State, prior: State | None) -> State:
    """The proposal with unknown values where the server will set what is not set.

    Args:
        proposed: Terraform's merge of configuration and prior state.
        prior: None when the resource, or this nested block, is new.
    """
    planned: State = {}
    for name, attribute in block.attributes.items():
        value = proposed.get(name)
        if attribute.write_only:
            value = None
        elif value is None and attribute.computed and prior is None:
            value = UNKNOWN
        planned[name] = value
    for name, nested in block.blocks.items():
        value, before = proposed.get(name), (prior or {}).get(name)
        if nested.nesting == "single" or not isinstance(value, list):
            planned[name] = value
        else:
            items = before if isinstance(before, list) else []
            planned[name] = [
                fill(nested.block, item, _before(nested, item, items, index))
                for index, item in enumerate(value)
            ]
    return planned


def _before(nested: Nested, item: State, items: list[State], index: int) -> State | None:
    if nested.nesting == "list":
        return items[index] if index < len(items) else None
    return item if item in items else None


def plan_labels(
    planned: State, prior: State | None, defaults: Mapping[str, str], *, attribute: bool
) -> None:
    """Plans `terraform_labels` and `effective_labels`, as the google provider does.

    Args:
        defaults: the provider's `default_labels`.
        attribute: whether a new resource is marked as Terraform's.
    """
    own, before = planned["labels"], prior or {}
    if own is UNKNOWN or any(value is UNKNOWN for value in (own or {}).values()):
        planned["terraform_labels"] = planned["effective_labels"] = UNKNOWN
        return
    old = before.get("terraform_labels") or {}
    ours = {**defaults, **(own or {})}
    if (attribute and prior is None) or ATTRIBUTION in old:
        ours[ATTRIBUTION] = "true"
    others = {
        key: value
        for key, value in (before.get("effective_labels") or {}).items()
        if key not in old
    }
    planned["terraform_labels"], planned["effective_labels"] = ours, {**others, **ours}


def plan_annotations(planned: State, prior: State | None) -> None:
    """Plans `effective_annotations`: the server's other ones stay."""
    own, before = planned["annotations"], prior or {}
    if own is UNKNOWN or any(value is UNKNOWN for value in (own or {}).values()):
        planned["effective_annotations"] = UNKNOWN
        return
    old = before.get("annotations") or {}
    effective = before.get("effective_annotations") or {}
    others = {key: value for key, value in effective.items() if key not in old}
    planned["effective_annotations"] = {**others, **(own or {})}


def changed(planned: State, prior: State) -> frozenset[str]:
    """Names of the attributes and blocks that differ."""
    return frozenset(name for name in planned if planned[name] != prior.get(name))


def replaced(planned: State, prior: State, force_new: Iterable[str]) -> tuple[str, ...]:
    """Which differences cannot be made in place."""
    return tuple(sorted(changed(planned, prior) & frozenset(force_new)))


def conform(block: Block, planned: State, actual: State) -> State:
    """The state after an apply: what was planned, and what the server gave where it was unknown.

    Terraform refuses a result that differs from what it was shown; where the server holds
    something else all the same, the next refresh shows it.
    """
    state: State = {}
    for name in block.attributes:
        state[name] = _known(planned.get(name), actual.get(name))
    for name, nested in block.blocks.items():
        value, found = planned.get(name), actual.get(name)
        if value is UNKNOWN:
            state[name] = found
        elif nested.nesting == "single" or not isinstance(value, list):
            state[name] = value
        else:
            items = found if isinstance(found, list) else []
            state[name] = [
                conform(nested.block, item, _after(nested, item, items, index))
                for index, item in enumerate(value)
            ]
    return state


def _known(planned: Value, actual: Value) -> Value:
    if planned is UNKNOWN:
        return None if actual is UNKNOWN else actual
    if isinstance(planned, dict):
        found = actual if isinstance(actual, dict) else {}
        return {key: _known(item, found.get(key)) for key, item in planned.items()}
    return planned


def _after(nested: Nested, item: State, found: list[State], index: int) -> State:
    if nested.nesting == "list":
        return found[index] if index < len(found) else {}
    for candidate in found:
        if all(value is UNKNOWN or candidate.get(key) == value for key, value in item.items()):
            return candidate
    return {}
