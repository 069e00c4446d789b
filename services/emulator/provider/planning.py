"""What a resource will look like after apply: computed values are kept, or unknown."""

from __future__ import annotations

from typing import Any

from services.emulator.provider.codec import UNKNOWN, Values, known, unknown
from services.emulator.provider.schema import Block, attributes, blocks, write_only

LABELS, TERRAFORM_LABELS, EFFECTIVE_LABELS = "labels", "terraform_labels", "effective_labels"
PROVISIONED = {"goog-terraform-provisioned": "true"}


def planned(block: Block, config: Values, prior: Values | None) -> Values:
    """The planned value of a block.

    An argument that is left out and that the server computes keeps its prior value, or is unknown
    until apply. A write-only value is never planned.
    """
    result = dict(config)
    for name, entry in attributes(block).items():
        if write_only(name):
            result[name] = None
        elif config.get(name) is None and entry.get("computed"):
            result[name] = prior.get(name) if prior else UNKNOWN
    for name, nested in blocks(block).items():
        value = config.get(name)
        if isinstance(value, list):
            before = _items(prior, name, len(value))
            pairs = zip(value, before, strict=True)
            result[name] = [v if unknown(v) else planned(nested["block"], v, b) for v, b in pairs]
    return result


def _items(prior: Values | None, name: str, count: int) -> list[Values | None]:
    """The prior items that stand at the same places; None where there are none."""
    before = (prior or {}).get(name)
    if isinstance(before, list) and len(before) == count:
        return before
    return [None] * count


def plan_labels(value: Values, prior: Values | None, defaults: Values) -> None:
    """Plans what follows from `labels`.

    The provider's default labels and its own mark are added; what others have put on the resource
    stays.
    """
    if TERRAFORM_LABELS not in value:
        return
    if not known(value[LABELS]):
        value[TERRAFORM_LABELS] = value[EFFECTIVE_LABELS] = UNKNOWN
        return
    ours = {**defaults, **(value[LABELS] or {})}
    foreign: dict[str, Any] = {}
    if prior:
        before = prior.get(TERRAFORM_LABELS) or {}
        effective = prior.get(EFFECTIVE_LABELS) or {}
        foreign = {key: item for key, item in effective.items() if key not in before}
    value[TERRAFORM_LABELS] = {**ours, **({} if prior else PROVISIONED)}
    if prior and (prior.get(TERRAFORM_LABELS) or {}).keys() & PROVISIONED.keys():
        value[TERRAFORM_LABELS] |= PROVISIONED
    value[EFFECTIVE_LABELS] = {**foreign, **value[TERRAFORM_LABELS]}


def replaced(prior: Values, value: Values, force_new: frozenset[str]) -> list[str]:
    """The arguments whose change means a new resource."""
    return sorted(
        name
        for name in force_new
        if name in value and value[name] != prior.get(name) and not _both_empty(value, prior, name)
    )


def _both_empty(value: Values, prior: Values, name: str) -> bool:
    return not unknown(value[name]) and not value[name] and not prior.get(name)
