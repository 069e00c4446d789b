"""What a saved plan changes, read from the JSON lines of `terraform plan -json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.schema import check

# Terraform's word for an action -> the field of PlanSummary.
_ACTIONS = {
    "create": "created",
    "update": "changed",
    "replace": "replaced",
    "delete": "destroyed",
    "remove": "destroyed",
}


@dataclass(frozen=True)
class PlanSummary:
    """A saved plan: the addresses of the resources it changes, by what happens to them."""

    path: Path
    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    destroyed: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()
    """Exist already, are provably ours, and are taken into the state (some are changed as well)."""
    drifted: tuple[str, ...] = ()
    """Were changed behind Terraform's back since the last apply."""
    outputs: tuple[str, ...] = ()
    """Names of the outputs whose value changes."""

    @property
    def empty(self) -> bool:
        """Whether applying it would change nothing."""
        return not self.count and not self.outputs

    @property
    def count(self) -> int:
        """How many resources it touches."""
        groups = (self.created, self.changed, self.replaced, self.destroyed, self.adopted)
        return len({address for group in groups for address in group})


def summarize(path: Path, events: Iterable[dict[str, Any]]) -> PlanSummary:
    """The summary of the plan saved at `path`, from the events of the command that made it."""
    groups: dict[str, set[str]] = {}
    for event in events:
        if event["type"] == "planned_change":
            change = event["change"]
            address = change["resource"]["addr"]
            if "importing" in change:
                groups.setdefault("adopted", set()).add(address)
            if field := _ACTIONS.get(change["action"]):
                groups.setdefault(field, set()).add(address)
        elif event["type"] == "resource_drift":
            groups.setdefault("drifted", set()).add(event["change"]["resource"]["addr"])
        elif event["type"] == "outputs":
            changed = {
                name
                for name, output in event["outputs"].items()
                if output.get("action", "noop") != "noop"
            }
            groups.setdefault("outputs", set()).update(changed)
    return PlanSummary(path, **{field: tuple(sorted(names)) for field, names in groups.items()})


def drifted(changes: Iterable[dict[str, Any]], stack: Mapping[str, Any]) -> tuple[str, ...]:
    """Addresses of the resources of which an argument was changed behind Terraform's back.

    What somebody else owns (`ignore_changes`) is theirs to change.

    Args:
        changes: `resource_drift` of `terraform show -json`.
        stack: the synthesized stack.
    """
    return tuple(sorted(c["address"] for c in changes if _arguments_differ(c, stack)))


def _arguments_differ(change: dict[str, Any], stack: Mapping[str, Any]) -> bool:
    before, after = change["change"]["before"] or {}, change["change"]["after"] or {}
    type_ = change["type"]
    resource = stack["resource"].get(type_, {}).get(change["name"], {})
    ignored = resource.get("lifecycle", {}).get("ignore_changes", [])
    owned = check.arguments(type_).difference(ignored)
    return any(before.get(name) != after.get(name) for name in owned)
