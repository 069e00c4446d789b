"""`slipway scale`: instances and limits of a live agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options
from scripts.deploy import show


@click.command("scale", short_help="Show or change the instances and limits of an agent.")
@options.environment
@click.argument("agent")
@click.option("--min-instances", type=int, metavar="N", help="Instances that always run.")
@click.option("--max-instances", type=int, metavar="N", help="Instances that may run.")
@click.option("--concurrency", type=int, metavar="N", help="Requests at once of one instance.")
@click.option("--cpu", type=click.Choice(["1", "2", "4", "6", "8"]), help="CPUs of one instance.")
@click.option("--memory", metavar="GIBI", help="Memory of one instance, such as 4Gi.")
@click.option("--plan", "only_plan", is_flag=True, help="Show what would change; change nothing.")
@options.yes
@options.as_json
@click.pass_obj
def command(
    root: Path,
    env: str,
    platform: Any,
    agent: str,
    min_instances: int | None,
    max_instances: int | None,
    concurrency: int | None,
    cpu: str | None,
    memory: str | None,
    only_plan: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Show AGENT's instances and limits in ENV; or change them, as a deployment of its own.

    The same bundle is deployed again with the new numbers. The next `slipway deploy` puts back what
    [scaling] of agent.toml says: write there what is to last.

    \b
    slipway scale prod marketing
    slipway scale prod marketing --max-instances 20
    """
    from infra import manifest
    from scripts.progress import Progress
    from services.release import scale

    given = {
        "min_instances": min_instances,
        "max_instances": max_instances,
        "container_concurrency": concurrency,
        "cpu": cpu,
        "memory": memory,
    }
    changes = {name: value for name, value in given.items() if value is not None}
    site = options.site(root, env, platform)
    if not changes:
        found = scale.current(site, agent).model_dump()
        if as_json:
            click.echo(json.dumps(found, indent=1))
        else:
            click.echo("\n".join(f"{name:<22} {value}" for name, value in found.items()))
        return
    manifests = manifest.load_all(root)
    plan = scale.make_plan(site, manifests, agent, changes)
    if only_plan or not plan.changed:
        show(plan, as_json=as_json)
        return
    if not as_json:
        show(plan, as_json=False)
    options.confirm(f"Deploy {agent} again with these numbers?", yes=yes)
    with Progress(quiet=as_json) as progress, progress.step("scale") as step:
        run = scale.scale(site, manifests, agent, changes, step.say)
        step.detail = agent
    done = run.journal.deployment.number if run is not None else None
    if as_json:
        click.echo(json.dumps({"agent": agent, "number": done}, indent=1))
        return
    click.echo(f"{agent} runs with the new numbers (deployment {done}).")
    click.echo(f"  write them into [scaling] of agents/{agent}/agent.toml to keep them")
