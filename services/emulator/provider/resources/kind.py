"""What every resource type shares: labels, deletion policy, update masks, reading back."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar

from services.emulator.provider import planning
from services.emulator.provider.codec import UNKNOWN, State
from services.emulator.provider.errors import ApiFailure, Problem, ProviderError
from services.emulator.provider.mapping import LOCAL, Body, Fields, Mapper, at
from services.emulator.provider.schema import Block
from services.emulator.provider.settings import Provider

_SHARED: Fields = {
    "id": LOCAL,
    "project": LOCAL,
    "deletion_policy": LOCAL,
    "labels": LOCAL,
    "terraform_labels": LOCAL,
    "effective_labels": at("labels"),
    "annotations": LOCAL,
    "effective_annotations": at("annotations"),
}
_MAPS = (("labels", "effective_labels"), ("annotations", "effective_annotations"))


class Kind(ABC):
    """One resource type: how its life is a row of REST calls.

    Class attributes:
        type: the type's name in Terraform.
        fields: what differs from the plain mapping.
        force_new: attributes and blocks that cannot be changed in place.
        volatile: what the server changes with every update.
        policies: the values that `deletion_policy` may have.
        needs_project: whether the project is asked for at plan.
    """

    type: ClassVar[str]
    fields: ClassVar[Fields] = {}
    force_new: ClassVar[Collection[str]] = ()
    volatile: ClassVar[Collection[str]] = ()
    policies: ClassVar[tuple[str, ...]] = ("DELETE", "PREVENT", "ABANDON")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.mapper = Mapper(block, {**_SHARED, **self.fields})

    # What a type says about itself.

    @abstractmethod
    def create(self, provider: Provider, planned: State, config: State) -> State:
        """Makes it; returns the attributes by which it is found from then on."""

    @abstractmethod
    def fetch(self, provider: Provider, state: State) -> Body | None:
        """What the API holds; None when it is gone."""

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """Changes it in place."""
        del provider, prior, planned
        raise ProviderError(f"{self.type} cannot be changed in place")

    @abstractmethod
    def remove(self, provider: Provider, state: State) -> None:
        """Deletes it."""

    @abstractmethod
    def locate(self, provider: Provider, id_: str) -> State:
        """The attributes that an import ID stands for.

        Raises:
            ProviderError: it is none.
        """

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """Attributes that are no plain field of the body."""
        del provider, state, body
        return {}

    def check(self, config: State) -> Iterator[Problem]:
        """What is wrong with a configuration beyond its schema."""
        del config
        yield from ()

    def foresee(self, provider: Provider, planned: State, prior: State | None) -> None:
        """Fills in what is known before the apply."""
        del provider, planned, prior

    # What is the same for all.

    def problems(self, config: State) -> list[Problem]:
        """What is wrong with a configuration beyond its schema."""
        found = list(self.check(config))
        policy = config.get("deletion_policy")
        if policy is not None and policy is not UNKNOWN and policy not in self.policies:
            told = f"deletion_policy must be one of {', '.join(self.policies)}, but is {policy!r}."
            found.append(Problem(told, ("deletion_policy",)))
        return found

    def plan(
        self, provider: Provider, proposed: State, prior: State | None
    ) -> tuple[State, tuple[str, ...]]:
        """The planned state, and what of it means a new resource."""
        planned = planning.fill(self.block, proposed, prior)
        if planned.get("project", "") is UNKNOWN:
            planned["project"] = provider.project_of({})
        if planned.get("deletion_policy", "") is UNKNOWN:
            planned["deletion_policy"] = provider.deletion_policy
        if "effective_labels" in self.block.attributes:
            planning.plan_labels(
                planned, prior, provider.default_labels, attribute=provider.attribute
            )
        if "effective_annotations" in self.block.attributes:
            planning.plan_annotations(planned, prior)
        self.foresee(provider, planned, prior)
        if prior is None:
            return planned, ()
        planned = self.mapper.settled(planned, prior)
        replaced = planning.replaced(planned, prior, self.force_new)
        if planning.changed(planned, prior):
            planned |= dict.fromkeys(self.volatile, UNKNOWN)
        return planned, replaced

    def read(self, provider: Provider, state: State, *, imported: bool = False) -> State | None:
        """The state as the API has it now; None when the resource is gone."""
        body = self.fetch(provider, state)
        if body is None:
            return None
        new = self.mapper.state(body, state, imported=imported)
        for own, effective in _MAPS:
            if effective in self.block.attributes:
                new[effective] = held = new[effective] or {}
                for name in (own, "terraform_labels") if own == "labels" else (own,):
                    new[name] = _of(state.get(name), held)
        return {**new, **self.computed(provider, new, body)}

    def body(self, state: State) -> Body:
        """The API's body, labels and annotations included."""
        body = self.mapper.body(state)
        for key, effective in _MAPS:
            if state.get(effective):
                body[key] = state[effective]
        return body

    def delete(self, provider: Provider, state: State) -> None:
        """Deletes it as its deletion policy says; that it is gone already is fine.

        Raises:
            ProviderError: the policy forbids it.
        """
        policy = state.get("deletion_policy")
        if policy == "PREVENT":
            raise ProviderError(
                f"{state.get('id')} must not be destroyed: its deletion_policy is PREVENT",
                "Set deletion_policy to another value and apply that first.",
            )
        if policy == "ABANDON":
            return
        try:
            self.remove(provider, state)
        except ApiFailure as failure:
            if failure.code != 404:
                raise

    def difference(self, prior: State, planned: State) -> tuple[list[str], Body]:
        """The top-level API fields that change, and the body with just these."""
        before, after = self.body(prior), self.body(planned)
        fields = sorted(key for key in before | after if before.get(key) != after.get(key))
        return fields, {key: after[key] for key in fields if key in after}


def parse(id_: str, *patterns: str) -> dict[str, str]:
    """The parts of an import ID.

    Args:
        patterns: such as `projects/{project}/secrets/{secret_id}`; the first that matches counts.

    Raises:
        ProviderError: none does.
    """
    for pattern in patterns:
        regex = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(pattern))
        if match := re.fullmatch(regex, id_):
            return match.groupdict()
    raise ProviderError(
        f"Import id {id_!r} doesn't match any of the accepted formats: {', '.join(patterns)}"
    )


def _of(own: Any, held: Mapping[str, Any]) -> Any:
    """Of the API's labels those that are ours."""
    return own if not own else {key: held[key] for key in own if key in held}
