"""What a saved plan changes, read from the JSON lines of `terraform plan -json`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.errors import InputError
from infra.schema import check

# Terraform's word for an action -> the field of PlanSummary.
_ACTIONS = {
    "create": "created",
    "update": "changed",
    "replace": "replaced",
    "delete": "destroyed",
    "remove": "destroyed",
}
# What holds memories, sessions and the address that others call: its loss is never a by-catch.
PRECIOUS = "google_vertex_ai_reasoning_engine."


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
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By address: the arguments that change; of what is replaced, those that force it."""

    @property
    def empty(self) -> bool:
        """Whether applying it would change nothing."""
        return not self.count and not self.outputs

    @property
    def count(self) -> int:
        """How many resources it touches."""
        groups = (self.created, self.changed, self.replaced, self.destroyed, self.adopted)
        return len({address for group in groups for address in group})

    @property
    def lost(self) -> tuple[str, ...]:
        """Engines and memory banks that it destroys or makes anew, by their name here."""
        gone = (*self.destroyed, *self.replaced)
        return tuple(a.removeprefix(PRECIOUS) for a in gone if a.startswith(PRECIOUS))

    def require_allowed(self, allowed: Iterable[str], command: str) -> None:
        """Refuses a plan that loses an engine or a memory bank which nobody named.

        Raises:
            InputError: with the option that allows it.
        """
        if unnamed := sorted(set(self.lost) - set(allowed)):
            options = " ".join(f"--allow-destroy {name}" for name in unnamed)
            raise InputError(
                f"the plan would destroy {', '.join(unnamed)}, with its sessions and memories",
                fix=f"if that is meant: {command} {options}",
            )


def summarize(path: Path, events: Iterable[dict[str, Any]]) -> PlanSummary:
    """The summary of the plan saved at `path`, from the events of the command that made it."""
    groups: dict[str, set[str]] = {}
    for event in events:
        if event["type"] == "planned_change":
            change = event["change"]
            address = change["resource"]["addr"]
            if "importing" in change:
                groups.setdefault("adopted", set()).add(address)
            if name := _ACTIONS.get(change["action"]):
                groups.setdefault(name, set()).add(address)
        elif event["type"] == "resource_drift":
            groups.setdefault("drifted", set()).add(event["change"]["resource"]["addr"])
        elif event["type"] == "outputs":
            changed = {
                name
                for name, output in event["outputs"].items()
                if output.get("action", "noop") != "noop"
            }
            groups.setdefault("outputs", set()).update(changed)
    sorted_: dict[str, Any] = {key: tuple(sorted(names)) for key, names in groups.items()}
    return PlanSummary(path, **sorted_)


def changed_fields(changes: Iterable[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """By address: which arguments change, or force the replacement where there is one.

    Args:
        changes: `resource_changes` of `terraform show -json`.
    """
    found = {}
    for change in changes:
        body = change["change"]
        if forced := body.get("replace_paths"):
            names = {
                ".".join(str(part) for part in path if isinstance(part, str)) for path in forced
            }
        elif body["actions"] == ["update"]:
            names = _differing(body)
        else:
            continue
        found[change["address"]] = tuple(sorted(names))
    return found


def drifted(changes: Iterable[dict[str, Any]], stack: Mapping[str, Any]) -> tuple[str, ...]:
    """Addresses of the resources of which an argument was changed behind Terraform's back.

    What somebody else owns (`ignore_changes`) is theirs to change.

    Args:
        changes: `resource_drift` of `terraform show -json`.
        stack: the synthesized stack.
    """
    return tuple(sorted(c["address"] for c in changes if drifted_fields(c, stack)))


def drifted_fields(change: dict[str, Any], stack: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments of one `resource_drift` that are ours and differ; `*`: the resource is gone."""
    if change["change"]["after"] is None:
        return ("*",)
    type_ = change["type"]
    resource = stack["resource"].get(type_, {}).get(change["name"], {})
    ignored = resource.get("lifecycle", {}).get("ignore_changes", [])
    owned = check.arguments(type_).difference(ignored)
    before, after = change["change"]["before"] or {}, change["change"]["after"]
    return tuple(sorted(name for name in owned if before.get(name) != after.get(name)))


def _differing(body: Mapping[str, Any]) -> set[str]:
    """Top-level arguments that differ, or whose new value is not known yet."""
    before, after = body["before"] or {}, body["after"] or {}
    unknown = body.get("after_unknown") or {}
    names = {name for name in before | after if before.get(name) != after.get(name)}
    return {name for name in names if not (unknown.get(name) is True and name not in before)}
