"""Instances and limits of a live agent, changed by hand: its own spec again, with other numbers.

What an agent is to have belongs into its manifest; this is for the hour in which it needs more now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from infra.errors import InputError
from infra.manifest import AgentManifest, Scaling
from services.release import lease, preflight, recovery, respec, spec
from services.release.deploy import carry_out
from services.release.execute import Execution, Say
from services.release.live import read_engines
from services.release.plan import Plan
from services.release.site import Site


def current(site: Site, agent: str) -> Scaling:
    """What a live engine has.

    Raises:
        InputError: the environment has no such agent.
        RemoteError: it serves no release, or is another environment's.
    """
    engines = read_engines(site.transport, site.descriptor, [agent])
    respec.require_release(site, engines)
    return _read(spec.from_live(engines[agent]["spec"], {}))


def make_plan(
    site: Site, manifests: Mapping[str, AgentManifest], agent: str, changes: Mapping[str, Any]
) -> Plan:
    """What `changes`, fields of Scaling, would change; nothing is written.

    Raises:
        InputError: the numbers do not fit together.
        RemoteError: as `current` does.
    """
    engines = read_engines(site.transport, site.descriptor, [agent])
    respec.require_release(site, engines)
    return respec.plan(site, manifests, engines, lambda live: _scaled(live, agent, changes))


def scale(
    site: Site,
    manifests: Mapping[str, AgentManifest],
    agent: str,
    changes: Mapping[str, Any],
    say: Say,
) -> Execution | None:
    """Changes them as a deployment; None where nothing differs. Raises as a deployment does."""
    plan = make_plan(site, manifests, agent, changes)
    if not plan.changed:
        return None
    preflight.require(site, plan)
    with lease.acquire(site.control, f"scale {agent}") as held:
        recovery.settle(site, say)
        plan = make_plan(site, manifests, agent, changes)
        return carry_out(site, plan, held, say, action=f"scale {agent}")


def _scaled(live: Mapping[str, Any], agent: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    wanted = spec.from_live(live, {})
    try:
        scaling = Scaling.model_validate(_read(wanted).model_dump() | dict(changes))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the numbers"
        raise InputError(
            f"{field}: {first['msg'].removeprefix('Value error, ')}",
            where=agent,
            fix="slipway scale --help",
        ) from None
    wanted["deployment_spec"] |= spec.scaling(scaling)
    return wanted


def _read(wanted: Mapping[str, Any]) -> Scaling:
    """Scaling of a spec in snake_case; what it does not say is the default."""
    deployment = wanted["deployment_spec"]
    limits = deployment.get("resource_limits") or {}
    found = {name: deployment.get(name) for name in spec.scaling(Scaling())} | limits
    known = {key: found[key] for key in Scaling.model_fields if found.get(key) is not None}
    return Scaling.model_construct(**known)
