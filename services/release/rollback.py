"""Back to what an earlier deployment put there: its recorded specs and its stored bundles.

Always a new, numbered deployment, carried out and verified as every other: no engine keeps the
spec of the bad release while another one serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infra.errors import InputError, RemoteError
from services.release import journal, lease, preflight, recovery, spec
from services.release.deploy import carry_out
from services.release.execute import Execution, Say
from services.release.journal import AgentRecord, Deployment
from services.release.live import read_engines
from services.release.plan import AgentPlan, Plan, before_of, changes_of, check_owner, compare
from services.release.secrets import ENABLED, Vault
from services.release.site import Site


@dataclass(frozen=True)
class Earlier:
    """What is gone back to: the deployment, and the newest record of each agent until then."""

    deployment: Deployment
    agents: Mapping[str, AgentRecord]


def choose(site: Site, number: int | None) -> Earlier:
    """The deployment to go back to.

    Args:
        number: None for the last one that succeeded with another release than the live one.

    Raises:
        InputError: there is no such deployment, or it did not succeed.
    """
    done = [d for d in journal.history(site.control) if d.status == "succeeded"]
    where = site.descriptor.environment
    fix = f"slipway history {site.target.named}"
    if number is None:
        found = next((d for d in done[1:] if d.release != done[0].release), None)
        if found is None:
            raise InputError("there is no earlier release to go back to", where=where, fix=fix)
    else:
        found = next((d for d in done if d.number == number), None)
        if found is None:
            raise InputError(f"no deployment {number} succeeded here", where=where, fix=fix)
    agents: dict[str, AgentRecord] = {}
    for deployment in done:
        if deployment.number <= found.number:
            for name, record in deployment.agents.items():
                agents.setdefault(name, record)
    return Earlier(found, agents)


def make_plan(site: Site, to: Earlier) -> Plan:
    """What the rollback would change; nothing is written.

    Raises:
        RemoteError: an engine is another one by now, or the record is too old.
    """
    descriptor = site.descriptor
    live = read_engines(site.transport, descriptor, to.agents)
    pins = _pins(site, to)
    agents = []
    for name, record in to.agents.items():
        check_owner(site.target, descriptor, name, live[name])
        if record.wanted is None or record.engine != descriptor.engines[name].name:
            raise RemoteError(
                f"deployment {to.deployment.number} says of {name} what does not fit any more",
                where=descriptor.engines[name].name,
                fix=f"check out commit {to.deployment.commit or 'of then'}, then slipway deploy "
                f"{site.target.named}",
            )
        wanted = _pinned(record.wanted, pins)
        release = spec.declared(wanted).release or ""
        revisions = site.transport.revisions(record.engine)
        agents.append(
            AgentPlan(
                agent=name,
                engine=record.engine,
                bundle=site.stored(release, name),
                spec=wanted,
                changes=changes_of(live[name], wanted),
                before=before_of(live[name]),
                wave=record.wave,
                smoke=record.smoke,
                kept=_kept(live[name], revisions, wanted),
            )
        )
    return Plan(descriptor.environment, to.deployment.release, tuple(agents))


def rollback(site: Site, number: int | None, say: Say) -> tuple[Plan, Execution | None]:
    """Carries the rollback out; the execution is None where nothing differed.

    Raises:
        InputError, RemoteError: as `choose`, `make_plan` and a deployment do.
    """
    plan = make_plan(site, choose(site, number))
    if plan.changed:
        preflight.require(site, plan)
    with lease.acquire(site.control, "rollback") as held:
        recovery.settle(site, say)
        to = choose(site, number)
        plan = make_plan(site, to)
        if not plan.changed:
            return plan, None
        action = f"rollback to {to.deployment.number}"
        return plan, carry_out(site, plan, held, say, action=action, commit=to.deployment.commit)


def _kept(
    engine: Mapping[str, Any], revisions: Sequence[Mapping[str, Any]], wanted: Mapping[str, Any]
) -> str | None:
    """The newest revision that would serve exactly what is wanted, if there still is one.

    A revision keeps no field that all revisions share, so those are taken from the engine.
    """
    live = engine.get("spec") or {}
    shared = {key: value for key, value in live.items() if spec.snake(key) in spec.UNVERSIONED}
    if not compare(live, wanted):
        return None
    for revision in revisions:
        if not compare({**(revision.get("spec") or {}), **shared}, wanted):
            return str(revision["name"])
    return None


def _pins(site: Site, to: Earlier) -> dict[str, set[str]]:
    """Enabled versions of every secret that the records name, by its ID, the newest first."""
    vault, found = Vault(site.target, site.descriptor), {}
    ids = {name.rpartition("/")[2]: key for key, name in site.descriptor.secrets.items()}
    used = {
        item["secret_ref"]["secret"]
        for record in to.agents.values()
        for item in (record.wanted or {}).get("deployment_spec", {}).get("secret_env", [])
    }
    for id_ in used & set(ids):
        versions = vault.versions(ids[id_])
        found[id_] = {v.number for v in versions if v.state == ENABLED}
    return found


def _pinned(wanted: Mapping[str, Any], enabled: Mapping[str, set[str]]) -> dict[str, Any]:
    """The spec, with the newest version of each secret whose recorded one is disabled by now."""
    deployment = dict(wanted.get("deployment_spec", {}))
    secret_env = []
    for item in deployment.get("secret_env", []):
        reference = dict(item["secret_ref"])
        there = enabled.get(reference["secret"], set())
        if there and str(reference.get("version")) not in there:
            reference["version"] = max(there, key=int)
        secret_env.append({**item, "secret_ref": reference})
    return {**wanted, "deployment_spec": {**deployment, "secret_env": secret_env}}
