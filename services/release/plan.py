"""What a deployment would change: data only. Nothing here reads or writes anything remote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from infra import names
from infra.descriptor import Descriptor
from infra.errors import RemoteError
from infra.manifest import AgentManifest
from services.release import spec, traffic
from services.release.bundle import Bundle
from services.release.target import Target


@dataclass(frozen=True)
class Change:
    """One field that differs; None where it is not set. Values are texts for people."""

    field: str
    live: str | None
    wanted: str | None


@dataclass(frozen=True)
class Before:
    """What an engine served before: what it goes back to when the deployment fails.

    `spec` is in snake_case without its archive, None where nothing was deployed; `release` and
    `bundle` are what its environment variables say.
    """

    spec: Mapping[str, Any] | None = field(repr=False)
    release: str | None
    bundle: str | None
    traffic: Mapping[str, int]


@dataclass(frozen=True)
class AgentPlan:
    """One engine: the whole spec it shall have, and in what it differs from the one it has."""

    agent: str
    engine: str
    """Full resource name."""
    bundle: Bundle
    spec: Mapping[str, Any] = field(repr=False)
    changes: tuple[Change, ...]
    before: Before
    wave: int = 0
    """Traffic moves to the agents of wave 0 first, then to those that call them, and so on."""
    smoke: str | None = None
    """A question that the new revision must answer."""
    called_by: tuple[str, ...] = ()
    """The agents that call this one: what they rely on must stay (interface.py)."""
    kept: str | None = None
    """A revision that already has all of `spec`: it serves at once, while the spec follows."""

    @property
    def spec_changes(self) -> tuple[Change, ...]:
        """The changes that need a deployment; what is left is where traffic goes."""
        return tuple(change for change in self.changes if change.field != traffic.FIELD)


@dataclass(frozen=True)
class Plan:
    """One release on one environment."""

    environment: str
    release: str
    agents: tuple[AgentPlan, ...]

    @property
    def changed(self) -> tuple[AgentPlan, ...]:
        """The agents that differ; when there is none, nothing is written anywhere."""
        return tuple(agent for agent in self.agents if agent.changes)


def make_plan(
    target: Target,
    descriptor: Descriptor,
    manifests: Mapping[str, AgentManifest],
    bundles: Mapping[str, Bundle],
    *,
    release: str,
    live: Mapping[str, Mapping[str, Any]],
    pins: Mapping[str, str],
) -> Plan:
    """Compares what is declared with `live`, each agent's engine as the API gives it.

    Args:
        pins: the newest enabled version of each secret, as every deployment pins it.

    Raises:
        RemoteError: an engine is another environment's or another agent's.
        InputError: a manifest refers to something that the environment does not have.
    """
    agents = []
    for name, bundle in bundles.items():
        check_owner(target, descriptor, name, live[name])
        wanted = spec.wanted(target, descriptor, manifests[name], bundle, release, pins)
        agents.append(
            AgentPlan(
                name,
                descriptor.engines[name].name,
                bundle,
                wanted,
                changes_of(live[name], wanted),
                before_of(live[name]),
                wave(name, manifests),
                manifests[name].smoke,
                called_by(name, manifests),
            )
        )
    return Plan(target.environment.name, release, tuple(agents))


def wave(
    agent: str, manifests: Mapping[str, AgentManifest], seen: frozenset[str] = frozenset()
) -> int:
    """0 for an agent that calls none, else one more than the last of those that it calls."""
    called = [c for c in manifests[agent].calls if c in manifests and c not in seen]
    return max((1 + wave(c, manifests, seen | {agent}) for c in called), default=0)


def called_by(agent: str, manifests: Mapping[str, AgentManifest]) -> tuple[str, ...]:
    """The agents that call this one, sorted."""
    return tuple(sorted(name for name, other in manifests.items() if agent in other.calls))


def before_of(engine: Mapping[str, Any]) -> Before:
    """What the engine serves as it is."""
    live = engine.get("spec") or {}
    if not live.get("sourceCodeSpec"):
        return Before(None, None, None, {})
    said = spec.declared(live)
    return Before(spec.from_live(live, {}), said.release, said.bundle, traffic.of(engine))


def changes_of(engine: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[Change, ...]:
    """In what an engine differs from a spec, and from all traffic going to its latest revision."""
    changes = compare(engine.get("spec") or {}, wanted)
    if split := traffic.of(engine):
        latest = Change(traffic.FIELD, traffic.text(split), traffic.text(traffic.LATEST))
        changes = (*changes, latest)
    return changes


def compare(live: Mapping[str, Any], wanted: Mapping[str, Any]) -> tuple[Change, ...]:
    """The readable fields in which two specs differ, sorted by field."""
    have, want = spec.flat(live), spec.flat(wanted)
    fields = sorted(name for name in have.keys() | want.keys() if have.get(name) != want.get(name))
    return tuple(Change(name, have.get(name), want.get(name)) for name in fields)


def check_owner(
    target: Target, descriptor: Descriptor, agent: str, engine: Mapping[str, Any]
) -> None:
    """Refuses an engine that is not this agent's in this environment: by labels and place."""
    env = target.environment
    _check_place(target, descriptor, agent, engine)
    labels = engine.get("labels") or {}
    for label, value in names.labels(env.scope, agent).items():
        if labels.get(label) != value:
            raise RemoteError(
                f"the engine of {agent} carries the label {label} = {labels.get(label)!r}, "
                f"not {value!r}: it is not {env.name}'s; nothing was changed",
                where=descriptor.engines[agent].name,
                fix=f"{target.provision} writes the descriptor anew; then run this again",
            )


def _check_place(
    target: Target, descriptor: Descriptor, agent: str, engine: Mapping[str, Any]
) -> None:
    """The API names an engine with its project's number; so does the descriptor."""
    parts = str(engine.get("name", "")).split("/")
    found = (parts[1], parts[3]) if len(parts) > 3 else ("?", "?")
    known = {descriptor.project_number, descriptor.project}
    if found[0] not in known or found[1] != descriptor.region:
        raise RemoteError(
            f"the engine of {agent} lies in project {found[0]}, {found[1]}; the descriptor says "
            f"{descriptor.project_number}, {descriptor.region}; nothing was changed",
            where=descriptor.engines[agent].name,
            fix=f"{target.provision} writes the descriptor anew; then run this again",
        )
