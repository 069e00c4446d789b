"""What an environment serves: its engines as Agent Runtime gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from infra.descriptor import Descriptor
from infra.errors import InputError
from services.release import spec, traffic
from services.release.parallel import all_of
from services.release.plan import check_owner
from services.release.target import Target
from services.release.transport import Transport

READS_AT_ONCE = 8


@dataclass(frozen=True)
class LiveAgent:
    """What one engine says of itself; None where nothing is deployed. `traffic` is for people."""

    engine: str
    release: str | None
    bundle: str | None
    updated: str | None
    traffic: str


@dataclass(frozen=True)
class Live:
    """What an environment serves. `release` is None when the engines do not agree on one."""

    release: str | None
    agents: Mapping[str, LiveAgent]


def live_release(target: Target, descriptor: Descriptor) -> Live:
    """Reads what every engine of the environment serves.

    Raises:
        RemoteError: an engine is gone, or is another environment's.
    """
    engines = read_engines(Transport(target), descriptor, descriptor.engines)
    agents = {}
    for name, engine in engines.items():
        check_owner(target, descriptor, name, engine)
        said = spec.declared(engine.get("spec"))
        agents[name] = LiveAgent(
            engine=descriptor.engines[name].name,
            release=said.release,
            bundle=said.bundle,
            updated=engine.get("updateTime"),
            traffic=traffic.text(traffic.of(engine)),
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
