"""What the command line calls: deploy the agents of a checkout."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from infra.descriptor import Descriptor
from infra.errors import RemoteError
from infra.manifest import AgentManifest
from services.release import journal, lease, preflight, principal, recovery, releases
from services.release.bundle import Bundle
from services.release.execute import Execution, Say
from services.release.lease import Held
from services.release.live import read_engines
from services.release.plan import Plan, make_plan
from services.release.secrets import Vault
from services.release.site import Site


@dataclass(frozen=True)
class Wanted:
    """What an environment shall serve: these bundles, with these manifests.

    `only`: the agents to deploy, where the others keep what they serve; empty: all.
    """

    manifests: Mapping[str, AgentManifest]
    bundles: Mapping[str, Bundle]
    only: frozenset[str] = frozenset()

    @property
    def chosen(self) -> dict[str, Bundle]:
        """The bundles to deploy."""
        return {n: b for n, b in self.bundles.items() if not self.only or n in self.only}

    @property
    def release(self) -> str:
        """The release's ID."""
        return releases.release_id(self.bundles)


@dataclass(frozen=True)
class DeployResult:
    """`number` is None when nothing differed and nothing was written. Seconds by step."""

    release: str
    number: int | None
    changed: tuple[str, ...]
    plan: Plan = field(repr=False)
    seconds: Mapping[str, float]


def deploy(
    root: Path,
    site: Site,
    wanted: Wanted,
    say: Say,
    *,
    keep_going: bool = False,
    canary: int | None = None,
    allow_incompatible: bool = False,
) -> DeployResult:
    """Puts what is wanted on the environment; where nothing differs, nothing is written.

    Args:
        keep_going: agents that work move on, those that fail go back alone.
        canary: percent of the traffic that the new revisions get until `recovery.resume`.
        allow_incompatible: an agent may lose what others could ask it until now.

    Raises:
        InputError: an agent has no engine, or refers to something the environment does not have.
        RemoteError: an API refused, another run deploys, an engine is another environment's, or an
            agent failed and every engine serves what it served before.
    """
    clock = _Clock()
    plan = plan_only(site, wanted)
    clock.mark("plan")
    if not plan.changed and recovery.unfinished(site) is None:
        lease.drop_dead(site.control)
        say(f"release {plan.release} is live; nothing differs")
        return DeployResult(plan.release, None, (), plan, clock.seconds)
    preflight.require(site, plan, allow_incompatible=allow_incompatible)
    clock.mark("preflight")
    with lease.acquire(site.control, "deploy") as held:
        served = recovery.settle(site, say)
        plan = plan_only(site, wanted)
        if not plan.changed:
            return DeployResult(plan.release, None, (), plan, clock.seconds)
        document = releases.document(root, wanted.bundles)
        stored = releases.store(site.releases, document, wanted.bundles)
        agents = (
            replace(a, bundle=stored[a.agent], before=served.get(a.agent, a.before))
            for a in plan.agents
        )
        plan = replace(plan, agents=tuple(agents))
        clock.mark("upload")
        run = carry_out(
            site,
            plan,
            held,
            say,
            action=f"canary {canary} %" if canary else "deploy",
            commit=document.commit,
            keep_going=keep_going,
            canary=canary,
        )
        number = run.journal.deployment.number
    changed = tuple(agent.agent for agent in plan.changed)
    return DeployResult(plan.release, number, changed, plan, clock.seconds | run.seconds)


def plan_only(site: Site, wanted: Wanted) -> Plan:
    """What `deploy` would change now; nothing is written. Raises as `deploy` does."""
    live = read_engines(site.transport, site.descriptor, wanted.chosen)
    manifests = {name: wanted.manifests[name] for name in wanted.chosen}
    declared = declared_secrets(site.descriptor, manifests)
    pins = Vault(site.target, site.descriptor).newest(declared)
    return make_plan(
        site.target,
        site.descriptor,
        wanted.manifests,
        wanted.chosen,
        release=wanted.release,
        live=live,
        pins=pins,
    )


def declared_secrets(
    descriptor: Descriptor, manifests: Mapping[str, AgentManifest]
) -> frozenset[str]:
    """The secrets that these agents declare and the environment has."""
    declared = {secret for agent in manifests.values() for secret in agent.secrets.values()}
    return frozenset(declared & set(descriptor.secrets))


def carry_out(
    site: Site,
    plan: Plan,
    held: Held,
    say: Say,
    *,
    action: str,
    commit: str | None = None,
    keep_going: bool = False,
    canary: int | None = None,
) -> Execution:
    """Records the plan as a deployment, executes it, and closes the record.

    Raises:
        RemoteError: an agent failed.
    """
    last = journal.last(site.control)
    number = last.deployment.number if last is not None else 0
    record = journal.begin(
        site.control,
        plan,
        last=number,
        action=action,
        commit=commit,
        principal=principal.acting(site.target),
    )
    run = Execution(site.transport, plan, record, held, site.stored, say, keep_going, canary)
    try:
        run.run()
    except RemoteError:
        record.close("failed")
        raise
    record.close("canary" if canary else "succeeded")
    return run


class _Clock:
    """Seconds of each step, one after the other."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.monotonic()

    def mark(self, step: str) -> None:
        now = time.monotonic()
        self.seconds[step] = round(now - self._since, 3)
        self._since = now
