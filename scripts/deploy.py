"""`slipway deploy`: puts the agents of this checkout on an environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts import options

if TYPE_CHECKING:
    from services.release.plan import Plan


@click.command("deploy", short_help="Deploy the agents to an environment.")
@options.environment
@click.option("--plan", "only_plan", is_flag=True, help="Show what would change; change nothing.")
@options.as_json
@click.pass_obj
def command(root: Path, env: str, platform: Any, only_plan: bool, as_json: bool) -> None:
    """Package the agents and deploy them to ENV; where nothing differs, nothing is written."""
    from infra import manifest, settings
    from scripts.progress import Progress
    from services.connection import connect
    from services.platform import home
    from services.release.deploy import deploy, plan_only
    from services.release.packaging import package_all
    from services.release.target import read_descriptor

    environment = settings.load(root, env, platform)
    agents = manifest.load_all(root)
    target = connect(root, environment)
    descriptor = read_descriptor(target)
    with Progress(quiet=as_json) as progress:
        with progress.step("package") as step:
            bundles = package_all(root, agents, home(root) / "cache", step.say)
        if only_plan:
            show(plan_only(target, descriptor, manifests=agents, bundles=bundles), as_json=as_json)
            return
        with progress.step("deploy") as step:
            done = deploy(root, target, descriptor, manifests=agents, bundles=bundles, say=step.say)
            step.detail = f"release {done.release}"
    if as_json:
        document = {"release": done.release, "number": done.number, "changed": done.changed}
        click.echo(json.dumps(document, indent=1))
    elif done.changed:
        names = ", ".join(done.changed)
        click.echo(f"Release {done.release}: {names} (deployment {done.number}).")
    else:
        click.echo(f"Release {done.release} is live already; nothing was changed.")


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
