"""`slipway rollback`: an environment goes back to an earlier deployment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options
from scripts.deploy import show


@click.command("rollback", short_help="Go back to an earlier deployment.")
@options.environment
@click.option("--to", "number", type=click.IntRange(1), help="Its number (slipway history ENV).")
@click.option("--plan", "only_plan", is_flag=True, help="Show what would change; change nothing.")
@options.yes
@options.as_json
@click.pass_obj
def command(
    root: Path,
    env: str,
    platform: Any,
    number: int | None,
    only_plan: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Put back on ENV what an earlier deployment put there (default: the release before).

    Its stored bundles are deployed again with their recorded settings, as a new deployment. A
    secret whose version was disabled since is pinned to the newest one.
    """
    from scripts.progress import Progress
    from services.release import rollback

    site = options.site(root, env, platform)
    to = rollback.choose(site, number)
    plan = rollback.make_plan(site, to)
    if only_plan or not plan.changed:
        show(plan, as_json=as_json)
        return
    if not as_json:
        show(plan, as_json=False)
    question = f"Go back to deployment {to.deployment.number}, release {plan.release}?"
    options.confirm(question, yes=yes)
    with Progress(quiet=as_json) as progress, progress.step("rollback") as step:
        plan, run = rollback.rollback(site, to.deployment.number, step.say)
        step.detail = f"release {plan.release}"
    done = run.journal.deployment.number if run is not None else None
    if as_json:
        click.echo(json.dumps({"release": plan.release, "number": done}, indent=1))
        return
    click.echo(f"Release {plan.release} serves again (deployment {done}).")
