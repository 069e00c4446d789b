"""What the command line calls: deploy the agents of a checkout, and say what is live."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from infra.descriptor import Descriptor
from infra.errors import InputError, RemoteError
from infra.manifest import AgentManifest
from services.release import execute, journal, releases, remote, spec
from services.release.bundle import Bundle
from services.release.execute import Say
from services.release.parallel import all_of
from services.release.plan import Plan, check_owner, make_plan
from services.release.records import Bucket
from services.release.secrets import Vault
from services.release.target import Target
from services.release.transport import Transport

READS_AT_ONCE = 8


@dataclass(frozen=True)
class DeployResult:
    """`number` is None when nothing differed and nothing was written. Seconds by step."""

    release: str
    number: int | None
    changed: tuple[str, ...]
    plan: Plan = field(repr=False)
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class LiveAgent:
    """What one engine says of itself; None where nothing is deployed."""

    engine: str
    release: str | None
    bundle: str | None
    updated: str | None


@dataclass(frozen=True)
class Live:
    """What an environment serves. `release` is None when the engines do not agree on one."""

    release: str | None
    agents: Mapping[str, LiveAgent]


def deploy(
    root: Path,
    target: Target,
    descriptor: Descriptor,
    *,
    manifests: Mapping[str, AgentManifest],
    bundles: Mapping[str, Bundle],
    say: Say,
) -> DeployResult:
    """Puts `bundles` on the environment; where nothing differs, nothing is written.

    Raises:
        InputError: an agent has no engine, or refers to something the environment does not have.
        RemoteError: an API refused, an engine is another environment's, or an update failed.
    """
    clock = _Clock()
    transport = Transport(target)
    control = Bucket(target, descriptor.buckets.control)
    before = settle(transport, control, say)
    release = releases.release_id(bundles)
    live = read_engines(transport, descriptor, manifests)
    pins = Vault(target, descriptor).newest(declared_secrets(descriptor, manifests))
    plan = make_plan(target, descriptor, manifests, bundles, release=release, live=live, pins=pins)
    clock.mark("plan")
    if not plan.changed:
        say(f"release {release} is live; nothing differs")
        return DeployResult(release, None, (), plan, clock.seconds)
    stored = releases.store(Bucket(target, descriptor.buckets.releases), root, bundles)
    plan = make_plan(target, descriptor, manifests, stored, release=release, live=live, pins=pins)
    clock.mark("upload")
    number = carry_out(transport, control, plan, before, say)
    clock.mark("update")
    changed = tuple(agent.agent for agent in plan.changed)
    return DeployResult(release, number, changed, plan, clock.seconds)


def plan_only(
    target: Target,
    descriptor: Descriptor,
    *,
    manifests: Mapping[str, AgentManifest],
    bundles: Mapping[str, Bundle],
) -> Plan:
    """What `deploy` would change now; nothing is written. Raises as `deploy` does."""
    live = read_engines(Transport(target), descriptor, manifests)
    pins = Vault(target, descriptor).newest(declared_secrets(descriptor, manifests))
    release = releases.release_id(bundles)
    return make_plan(target, descriptor, manifests, bundles, release=release, live=live, pins=pins)


def declared_secrets(
    descriptor: Descriptor, manifests: Mapping[str, AgentManifest]
) -> frozenset[str]:
    """The secrets that these agents declare and the environment has."""
    declared = {secret for agent in manifests.values() for secret in agent.secrets.values()}
    return frozenset(declared & set(descriptor.secrets))


def live_release(target: Target, descriptor: Descriptor) -> Live:
    """Reads what every engine of the environment serves.

    Raises:
        RemoteError: an engine is gone, or is another environment's.
    """
    engines = read_engines(Transport(target), descriptor, descriptor.engines)
    agents = {}
    for name, engine in engines.items():
        check_owner(target, descriptor, name, engine)
        fields = spec.flat(engine.get("spec") or {})
        agents[name] = LiveAgent(
            engine=descriptor.engines[name].name,
            release=fields.get("env.SLIPWAY_RELEASE"),
            bundle=fields.get("env.SLIPWAY_BUNDLE"),
            updated=engine.get("updateTime"),
        )
    found = {agent.release for agent in agents.values()}
    return Live(found.pop() if len(found) == 1 else None, agents)


def read_engines(
    transport: Transport, descriptor: Descriptor, agents: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """The engines of these agents as the API gives them, read side by side.

    Raises:
        InputError: an agent has no engine in this environment.
    """
    names = list(agents)
    for name in names:
        if name not in descriptor.engines:
            raise InputError(
                f"{descriptor.environment} has no engine for the agent {name!r}",
                where=f"agents/{name}",
                fix=f"slipway infra apply {descriptor.environment}",
            )
    calls = {name: partial(transport.engine, descriptor.engines[name].name) for name in names}
    return all_of(calls, at_most=READS_AT_ONCE)


def settle(transport: Transport, control: Bucket, say: Say) -> int:
    """Ends on record what an earlier run left unfinished; returns the last deployment's number."""
    previous = journal.last(control)
    if previous is None:
        return 0
    deployment = previous.deployment
    if deployment.status != "started":
        return deployment.number
    say(f"deployment {deployment.number} was interrupted; going on from what is live")
    for name, agent in deployment.agents.items():
        if agent.operation is None or agent.seconds is not None:
            continue
        say(f"{name}: waiting for the update that was under way")
        try:
            execute.wait(transport, {"name": agent.operation})
        except remote.Refused as error:
            # Operations are forgotten in time; what counts is what the engine says afterwards.
            if error.status != 404:
                raise
    previous.close("interrupted")
    return deployment.number


def carry_out(transport: Transport, control: Bucket, plan: Plan, before: int, say: Say) -> int:
    """Records the plan as a deployment, executes it, and closes the record; returns its number.

    Raises:
        RemoteError: an engine failed.
    """
    record = journal.begin(control, plan, last=before)
    try:
        execute.execute(transport, plan, record, say)
    except RemoteError:
        record.close("failed")
        raise
    record.close("succeeded")
    return record.deployment.number


class _Clock:
    """Seconds of each step, one after the other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.monotonic()

    def mark(self, step: str) -> None:
        now = time.monotonic()
        self.seconds[step] = round(now - self._since, 3)
        self._since = now
