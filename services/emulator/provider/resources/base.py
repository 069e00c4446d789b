"""What every resource type has in common: create, read, update, delete and import over REST."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from services.emulator.provider import mapping
from services.emulator.provider.client import ApiFailure, Client
from services.emulator.provider.codec import Values
from services.emulator.provider.planning import EFFECTIVE_LABELS, LABELS, TERRAFORM_LABELS
from services.emulator.provider.schema import Block, attributes


class Refused(Exception):
    """The provider itself refuses, before any call."""


@dataclass(frozen=True)
class Context:
    """A configured provider."""

    client: Client
    project: str
    region: str
    default_labels: Mapping[str, str]


class Resource:
    """One resource type. Subclasses say how it is named, written and read."""

    force_new: ClassVar[frozenset[str]] = frozenset()
    """Arguments whose change means a new resource."""
    local: ClassVar[frozenset[str]] = frozenset({"deletion_policy"})
    """Arguments that the API does not know."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def plan(self, context: Context, value: Values) -> None:
        """Fills in arguments that the provider's own configuration decides."""
        for name, default in (("project", context.project), ("region", context.region)):
            entry = attributes(self.block).get(name, {})
            left_out = not isinstance(value.get(name), str)
            if left_out and entry.get("optional"):
                value[name] = default

    def create(self, context: Context, value: Values) -> Values:
        """Makes it; returns its state."""
        raise NotImplementedError

    def read(self, context: Context, state: Values) -> Values | None:
        """Its state on the server; None when it is gone."""
        raise NotImplementedError

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        """Changes it; returns its state."""
        raise NotImplementedError

    def delete(self, context: Context, state: Values) -> None:
        """Deletes it; what is gone already is deleted."""
        raise NotImplementedError

    def imported(self, context: Context, id_: str) -> Values:
        """The arguments that an import ID gives; the rest is read from the server."""
        raise NotImplementedError

    def body(self, value: Values, *, leave_out: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The API's object for a planned value."""
        out = {"project", "region", "location", EFFECTIVE_LABELS, TERRAFORM_LABELS, LABELS}
        made = mapping.to_api(self.block, value, leave_out=out | self.local | leave_out)
        if value.get(EFFECTIVE_LABELS):
            made["labels"] = value[EFFECTIVE_LABELS]
        return made

    def state(self, body: dict[str, Any], prior: Values | None, **known: Any) -> Values:
        """The state for what the API says, and what is known otherwise (IDs, derived values)."""
        result = mapping.from_api(self.block, body, prior, local=self.local)
        if EFFECTIVE_LABELS in result:
            labels = body.get("labels") or {}
            before = prior or {}
            result[EFFECTIVE_LABELS] = labels
            for name in (LABELS, TERRAFORM_LABELS):
                held = before.get(name)
                kept = {key: item for key, item in labels.items() if key in (held or {})}
                result[name] = held if held in (None, {}) else kept
            if prior is None:
                result[LABELS] = result[TERRAFORM_LABELS] = dict(labels)
        return result | known

    def changed(self, prior: Values, value: Values) -> list[str]:
        """Names of the arguments that differ and that the API knows, labels as `labels`."""
        names = []
        for name in value:
            if name in self.local or name in (LABELS, TERRAFORM_LABELS, mapping.TIMEOUTS):
                continue
            entry = attributes(self.block).get(name, {"optional": True})
            writable = entry.get("optional") or entry.get("required") or name == EFFECTIVE_LABELS
            if writable and value[name] != prior.get(name):
                names.append(LABELS if name == EFFECTIVE_LABELS else name)
        return names


def gone(failure: ApiFailure) -> bool:
    """Whether the failure says that there is no such resource."""
    return failure.status == 404


def tail(name: str) -> str:
    """The last segment of a resource name."""
    return name.rsplit("/", 1)[-1]


def ready(found: Values | None, what: str) -> Values:
    """The state that was read back after a change.

    Raises:
        Refused: the server has lost it again.
    """
    if found is None:
        raise Refused(f"{what} was written, but is not there")
    return found
