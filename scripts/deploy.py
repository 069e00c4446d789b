"""`slipway deploy`: puts the agents of this checkout on an environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infra.errors import InputError
from scripts import options

if TYPE_CHECKING:
    from infra.manifest import AgentManifest
    from scripts.progress import Progress
    from services.release.deploy import Wanted
    from services.release.plan import Plan
    from services.release.site import Site


@click.command("deploy", short_help="Deploy the agents to an environment.")
@options.environment
@click.argument("agents", metavar="[AGENT]...", nargs=-1)
@click.option("--plan", "only_plan", is_flag=True, help="Show what would change; change nothing.")
@click.option("--keep-going", is_flag=True, help="Let agents that work go on when another fails.")
@click.option(
    "--canary",
    type=click.IntRange(1, 99),
    metavar="PERCENT",
    help="Give the one AGENT's new revision so much of the traffic; then --finish or --abort.",
)
@click.option(
    "--resume", "--finish", is_flag=True, help="Finish what was interrupted, or the canary."
)
@click.option("--abort", is_flag=True, help="Bring back what served before it.")
@click.option(
    "--allow-incompatible",
    is_flag=True,
    help="Let an agent lose what other agents can ask of it now.",
)
@options.as_json
@click.pass_obj
def command(
    root: Path,
    env: str,
    platform: Any,
    agents: tuple[str, ...],
    only_plan: bool,
    keep_going: bool,
    canary: int | None,
    resume: bool,
    abort: bool,
    allow_incompatible: bool,
    as_json: bool,
) -> None:
    """Package the agents (default: all) and deploy them to ENV, all of them or none.

    Where nothing differs, nothing is written. New revisions serve only when every agent's is
    verified; when one fails, all go back to what they served.

    \b
    slipway deploy dev --plan
    slipway deploy dev router
    slipway deploy dev --resume
    slipway deploy dev marketing --canary 10
    slipway deploy dev --finish
    """
    from scripts.progress import Progress
    from services.release.deploy import deploy, plan_only

    if resume + abort + only_plan > 1 or ((resume or abort) and (agents or keep_going or canary)):
        raise InputError("--plan, --resume and --abort go alone", fix="slipway deploy --help")
    if canary and len(agents) != 1:
        told = "a canary is of one agent: an A2A call reaches whichever revision serves it"
        raise InputError(told, fix=f"slipway deploy {env} AGENT --canary {canary}")
    site = options.site(root, env, platform)
    with Progress(quiet=as_json) as progress:
        if resume or abort:
            take_up(site, progress, resume=resume, as_json=as_json)
            return
        wanted = build(root, site, agents, progress)
        if only_plan:
            show(plan_only(site, wanted), as_json=as_json)
            return
        with progress.step("deploy") as step:
            done = deploy(
                root,
                site,
                wanted,
                step.say,
                keep_going=keep_going,
                canary=canary,
                allow_incompatible=allow_incompatible,
            )
            step.detail = f"release {done.release}"
    if as_json:
        document = {
            "release": done.release,
            "number": done.number,
            "changed": done.changed,
            "seconds": done.seconds,
        }
        click.echo(json.dumps(document, indent=1))
    elif done.changed:
        names = ", ".join(done.changed)
        click.echo(f"Release {done.release}: {names} (deployment {done.number}).")
        if canary:
            click.echo(f"  {canary} % of the traffic: slipway deploy {env} --finish, or --abort")
    else:
        click.echo(f"Release {done.release} is live already; nothing was changed.")


def build(root: Path, site: Site, agents: tuple[str, ...], progress: Progress) -> Wanted:
    """Packages the agents; those that were not named keep the bundle that they serve."""
    from infra import manifest
    from services.platform import home
    from services.release.deploy import Wanted
    from services.release.packaging import package_all

    known = manifest.load_all(root)
    chosen = manifest.chosen(known, agents)
    with progress.step("package") as step:
        bundles = package_all(root, chosen, home(root) / "cache", step.say)
    if agents:
        bundles = serving(site, known, agents) | bundles
    ordered = {name: bundles[name] for name in known if name in bundles}
    return Wanted(known, ordered, frozenset(agents))


def serving(site: Site, known: Mapping[str, AgentManifest], agents: tuple[str, ...]) -> Any:
    """The stored bundles of the agents that were not named, where they serve any."""
    from services.release.live import live_release

    live = live_release(site.target, site.descriptor)
    return {
        name: site.stored(agent.release, name)
        for name, agent in live.agents.items()
        if name in known and name not in agents and agent.release
    }


def take_up(site: Site, progress: Progress, *, resume: bool, as_json: bool) -> None:
    """Finishes, or undoes, the deployment that was interrupted."""
    from services.release import recovery

    with progress.step("resume" if resume else "abort") as step:
        done = (recovery.resume if resume else recovery.abort)(site, step.say)
        step.detail = f"deployment {done.number}"
    if as_json:
        click.echo(json.dumps({"number": done.number, "status": done.status}, indent=1))
        return
    end = f"release {done.release} is live" if resume else "what served before serves again"
    click.echo(f"Deployment {done.number}: {end}.")


def show(plan: Plan, *, as_json: bool) -> None:
    """Prints what a deployment would change, field by field."""
    if as_json:
        agents = {agent.agent: [vars(change) for change in agent.changes] for agent in plan.agents}
        click.echo(json.dumps({"release": plan.release, "agents": agents}, indent=1))
        return
    for agent in plan.changed:
        click.echo(agent.agent)
        for change in agent.changes:
            click.echo(f"  ~ {change.field}: {change.live or '-'} → {change.wanted or '-'}")
    if not plan.changed:
        click.echo(f"No changes: release {plan.release} is live.")
