"""`slipway infra`: an environment's infrastructure, by Terraform. Its group, and what changes."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infra.errors import Finding
from scripts import infra_existing, infra_reports, options

if TYPE_CHECKING:
    from infra.plan import PlanSummary


@click.group("infra", short_help="Plan, apply and destroy what Terraform owns.")
def command() -> None:
    """Plan, apply and destroy an environment's infrastructure with Terraform."""


allow_destroy = click.option(
    "--allow-destroy",
    "allowed",
    multiple=True,
    metavar="NAME",
    help="Let the plan destroy or replace this agent's engine, or memory-bank.",
)


@command.command("plan")
@options.environment
@options.as_json
@click.option("--exit-code", is_flag=True, help="Exit with 3 when there are changes.")
@allow_destroy
@click.pass_obj
def plan(
    root: Path,
    env: str,
    platform: Any,
    as_json: bool,
    exit_code: bool,
    allowed: tuple[str, ...],
) -> None:
    """Show what an apply would change in ENV; changes nothing."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    with Progress(quiet=as_json) as progress, progress.step("plan") as step:
        with terraform(root, environment, step.say) as run:
            found = run.plan()
        step.detail = "no changes" if found.empty else f"{found.count} resources"
    if as_json:
        shown = {key: value for key, value in asdict(found).items() if key != "path"}
        click.echo(json.dumps(shown, indent=1))
    else:
        show(found)
    found.require_allowed(allowed, f"slipway infra plan {env}")
    if exit_code and not found.empty:
        raise Finding(f"{env} differs from its files", fix=f"slipway infra apply {env}")


@command.command("apply")
@options.environment
@options.yes
@allow_destroy
@click.pass_obj
def apply(root: Path, env: str, platform: Any, yes: bool, allowed: tuple[str, ...]) -> None:
    """Plan ENV, show the plan, and apply it as it was shown."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    with Progress() as progress, terraform(root, environment, progress.note) as run:
        with progress.step("plan"):
            found = run.plan()
        show(found)
        if found.empty:
            return
        found.require_allowed(allowed, f"slipway infra apply {env}")
        options.confirm(f"Apply this to {env}?", yes=yes)
        with progress.step("apply") as step:
            step.detail = f"{len(run.apply(found))} resources"


@command.command("destroy")
@options.environment
@options.yes
@click.pass_obj
def destroy(root: Path, env: str, platform: Any, yes: bool) -> None:
    """Destroy everything that Terraform made in ENV: engines, memory bank, secrets, buckets."""
    from infra import settings
    from infra.plan import PRECIOUS
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    options.require_answer(yes=yes)
    with Progress() as progress, terraform(root, environment, progress.note) as run:
        with progress.step("read") as step:
            held = run.held()
            step.detail = f"{len(held)} resources"
        if not held:
            click.echo(f"There is nothing in {env}.")
            return
        engines = [a.removeprefix(PRECIOUS) for a in held if a.startswith(PRECIOUS)]
        named = f", among them {', '.join(engines)}" if engines else ""
        question = f"Destroy {len(held)} resources of {env}{named}? This cannot be undone."
        options.confirm(question, yes=yes)
        with progress.step("destroy") as step:
            step.detail = f"{len(run.destroy())} resources"


def show(found: PlanSummary) -> None:
    """Prints a plan: a line for each resource it touches, with what changes or forces it."""
    groups = {
        "+": (found.created, "green", "create"),
        "=": (found.adopted, "cyan", "adopt"),
        "~": (found.changed, "yellow", "change"),
        "±": (found.replaced, "red", "replace"),
        "-": (found.destroyed, "red", "destroy"),
    }
    for mark, (addresses, color, _) in groups.items():
        for address in addresses:
            fields = found.fields.get(address, ())
            told = f"  forced by {', '.join(fields)}" if mark == "±" else f"  {', '.join(fields)}"
            click.echo(f"  {click.style(mark, fg=color)} {address}{told if fields else ''}")
    for address in found.drifted:
        click.echo(f"  ! {address} was changed behind Terraform's back")
    if found.empty:
        click.echo("No changes.")
        return
    counts = [f"{len(addresses)} to {verb}" for addresses, _, verb in groups.values() if addresses]
    outputs = f"{len(found.outputs)} outputs to change" if found.outputs else ""
    click.echo(f"Plan: {', '.join([*counts, *filter(None, [outputs])])}.")


for part in (infra_reports, infra_existing):
    for each in part.COMMANDS:
        command.add_command(each)
