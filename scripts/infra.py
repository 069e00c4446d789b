"""`slipway infra`: an environment's infrastructure, by Terraform."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infra.errors import Finding, InputError

if TYPE_CHECKING:
    from infra.plan import PlanSummary


@click.group("infra", short_help="Plan, apply and destroy what Terraform owns.")
def command() -> None:
    """Plan, apply and destroy an environment's infrastructure with Terraform."""


@command.command("plan")
@click.argument("env")
@click.option("--json", "as_json", is_flag=True, help="Print the changes as JSON.")
@click.option("--exit-code", is_flag=True, help="Exit with 3 when there are changes.")
@click.pass_obj
def plan(root: Path, env: str, as_json: bool, exit_code: bool) -> None:
    """Show what an apply would change in ENV; changes nothing."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env)
    with Progress(quiet=as_json) as progress, progress.step("plan") as step:
        with terraform(root, environment, step.say) as run:
            found = run.plan()
        step.detail = "no changes" if found.empty else f"{found.count} resources"
    if as_json:
        click.echo(json.dumps({k: v for k, v in asdict(found).items() if k != "path"}, indent=1))
    else:
        show(found)
    if exit_code and not found.empty:
        raise Finding(f"{env} differs from its files", fix=f"slipway infra apply {env}")


@command.command("apply")
@click.argument("env")
@click.option("--yes", is_flag=True, help="Do not ask (for CI).")
@click.pass_obj
def apply(root: Path, env: str, yes: bool) -> None:
    """Plan ENV, show the plan, and apply it as it was shown."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env)
    with Progress() as progress, terraform(root, environment, progress.note) as run:
        with progress.step("plan"):
            found = run.plan()
        show(found)
        if found.empty:
            return
        confirm(f"Apply this to {env}?", yes=yes)
        with progress.step("apply") as step:
            step.detail = f"{len(run.apply(found))} resources"


@command.command("destroy")
@click.argument("env")
@click.option("--yes", is_flag=True, help="Do not ask (for CI).")
@click.pass_obj
def destroy(root: Path, env: str, yes: bool) -> None:
    """Destroy everything that Terraform made in ENV: engines, memory bank, secrets, buckets."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env)
    question = f"Destroy the engines, memories, secrets and buckets of {env}?"
    confirm(f"{question} This cannot be undone.", yes=yes)
    with (
        Progress() as progress,
        progress.step("destroy") as step,
        terraform(root, environment, step.say) as run,
    ):
        step.detail = f"{len(run.destroy())} resources"


def confirm(question: str, *, yes: bool) -> None:
    """Asks on a terminal; refuses without one unless `--yes` was given.

    Raises:
        InputError: nobody can be asked.
        click.Abort: the answer was no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("this needs a confirmation, and there is no terminal", fix="add --yes")
    click.confirm(question, abort=True)


def show(found: PlanSummary) -> None:
    """Prints a plan: a line for each resource it touches."""
    marks = {
        "+": (found.created, "green"),
        "=": (found.adopted, "cyan"),
        "~": (found.changed, "yellow"),
        "±": (found.replaced, "red"),
        "-": (found.destroyed, "red"),
    }
    for mark, (addresses, color) in marks.items():
        for address in addresses:
            click.echo(f"  {click.style(mark, fg=color)} {address}")
    for address in found.drifted:
        click.echo(f"  ! {address} was changed behind Terraform's back")
    if found.empty:
        click.echo("No changes.")
