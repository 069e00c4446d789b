"""Deployments that were killed: finished, brought back, or closed so that another one can begin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from infra.errors import InputError, RemoteError
from services.release import journal, lease, spec
from services.release.execute import Execution, Say
from services.release.journal import AgentRecord, Deployment, Journal
from services.release.parallel import all_of
from services.release.plan import AgentPlan, Before, Change, Plan
from services.release.site import Site
from services.release.waiting import Operation, left, quiet

LOADS_AT_ONCE = 4


def unfinished(site: Site) -> Journal | None:
    """The last deployment's document, if it is still to be finished or aborted."""
    found = journal.last(site.control)
    return found if found is not None and found.deployment.status in journal.OPEN else None


def resume(site: Site, say: Say) -> Deployment:
    """Finishes what was begun; nothing that landed is sent again.

    Raises:
        InputError: nothing is unfinished.
        RemoteError: another run works, or a step failed and what served before serves again.
    """
    return _take_up(site, "deploy --resume", say, Execution.run, "succeeded")


def abort(site: Site, say: Say) -> Deployment:
    """Brings back what served before. Raises as `resume` does."""
    return _take_up(site, "deploy --abort", say, Execution.restore, "aborted")


def _take_up(
    site: Site, command: str, say: Say, act: Callable[[Execution], None], status: journal.Status
) -> Deployment:
    with lease.acquire(site.control, command) as held:
        found = unfinished(site)
        if found is None:
            raise InputError(
                "no deployment is unfinished",
                where=site.descriptor.environment,
                fix=f"slipway deploy {site.target.named}",
            )
        _wait_for_operations(site, found.deployment, say)
        plan = plan_of(site, found.deployment)
        run = Execution(site.transport, plan, found, held, site.stored, say)
        try:
            act(run)
        except RemoteError:
            found.close("failed")
            raise
        found.close(status)
        return found.deployment


def settle(site: Site, say: Say) -> dict[str, Before]:
    """Before another deployment: closes one that was killed, and says so.

    Returns:
        What its agents served before it: what a failure of the next one goes back to.
    """
    found = unfinished(site)
    if found is None:
        return {}
    number = found.deployment.number
    how = "is a canary" if found.deployment.status == "canary" else "was interrupted"
    say(f"deployment {number} {how}; going on from what is live")
    _wait_for_operations(site, found.deployment, say)
    found.close("interrupted")
    records = found.deployment.agents.items()
    return {name: _before(record) for name, record in records if record.wanted is not None}


def plan_of(site: Site, deployment: Deployment) -> Plan:
    """The plan that a document records, with the stored bundles.

    Raises:
        RemoteError: the document is too old to say what it wanted, or a bundle is gone.
    """
    for name, record in deployment.agents.items():
        if record.wanted is None:
            raise RemoteError(
                f"deployment {deployment.number} does not say what {name} was to be",
                where=deployment.environment,
                fix=f"slipway deploy {site.target.named}",
            )
    calls = {name: partial(_agent, site, name, r) for name, r in deployment.agents.items()}
    agents = all_of(calls, at_most=LOADS_AT_ONCE)
    return Plan(deployment.environment, deployment.release, tuple(agents.values()))


def _agent(site: Site, name: str, record: AgentRecord) -> AgentPlan:
    wanted = record.wanted or {}
    release = spec.declared(wanted).release or ""
    return AgentPlan(
        agent=name,
        engine=record.engine,
        bundle=site.stored(release, name),
        spec=wanted,
        changes=tuple(Change(field, None, None) for field in record.changes),
        before=_before(record),
        wave=record.wave,
        smoke=record.smoke,
    )


def _before(record: AgentRecord) -> Before:
    known = record.before
    return Before(known.spec, known.release, known.bundle, known.traffic)


def _wait_for_operations(site: Site, deployment: Deployment, say: Say) -> None:
    def time_left(operation: Operation) -> float:
        # Both clocks are Google's; this machine's may be wrong.
        return left(operation, site.control.now(lease.CLOCK))

    for name, agent in deployment.agents.items():
        if agent.seconds is not None:
            continue  # what was sent has ended
        if agent.operation is not None:
            say(f"{name}: waiting for the update that was under way")
        if not quiet(site.transport, agent.engine, agent.operation, time_left):
            say(f"{name}: that update never ended; going on from what the engine says")
