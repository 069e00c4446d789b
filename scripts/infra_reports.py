"""`slipway infra synth|validate|drift|output`: what reads and reports, and changes nothing."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from infra.errors import Finding
from scripts import options


@click.command("synth")
@click.argument("envs", metavar="[ENV]...", nargs=-1, shell_complete=options.complete_environment)
@click.option(
    "--platform", type=click.Choice(["local"]), help="Synthesize for this machine's platform."
)
@click.pass_obj
def synth(root: Path, envs: tuple[str, ...], platform: Any) -> None:
    """Write the Terraform JSON of each ENV (default: all) to cdktf.out; needs no network."""
    from infra import settings
    from services.provision import synthesize_into

    names = list(envs) or settings.names(root)
    settings.load_all(root, names, platform)
    for name, path in synthesize_into(root, root / "cdktf.out", names, platform).items():
        shown = path.relative_to(root)
        click.echo(f"{name}: {shown} ({_count(path)} resources)")


@click.command("validate")
@options.environment
@click.pass_obj
def validate(root: Path, env: str, platform: Any) -> None:
    """Let Terraform and its provider check what ENV's files say; reads no resource."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    with (
        Progress() as progress,
        progress.step("validate") as step,
        terraform(root, environment, step.say) as run,
    ):
        run.validate()
    click.echo(f"{env} is valid.")


@click.command("drift")
@options.environment
@options.as_json
@click.pass_obj
def drift(root: Path, env: str, platform: Any, as_json: bool) -> None:
    """Report what was changed in ENV behind Terraform's back; exits with 3 if anything was."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    with Progress(quiet=as_json) as progress, progress.step("drift") as step:
        with terraform(root, environment, step.say) as run:
            found = run.drift()
        step.detail = f"{len(found)} resources" if found else "none"
    if as_json:
        click.echo(json.dumps([asdict(item) for item in found], indent=1))
    else:
        for item in found:
            what = "is gone" if item.fields == ("*",) else f"differs in {', '.join(item.fields)}"
            click.echo(f"  ! {item.address} {what}")
    if found:
        raise Finding(
            f"{len(found)} resources of {env} were changed behind Terraform's back",
            fix=f"slipway infra plan {env} says what an apply would set back",
        )
    if not as_json:
        click.echo("No drift.")


@click.command("output")
@options.environment
@options.as_json
@click.pass_obj
def output(root: Path, env: str, platform: Any, as_json: bool) -> None:
    """Print what the last apply of ENV gave out: engines, memory bank, descriptor."""
    from infra import settings
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    with Progress(quiet=True) as progress, terraform(root, environment, progress.note) as run:
        values = run.output()
    if as_json:
        click.echo(json.dumps(values, indent=1))
        return
    for name, value in values.items():
        rows = value.items() if isinstance(value, dict) else [(None, value)]
        for key, item in rows:
            click.echo(f"{name}.{key} = {item}" if key else f"{name} = {item}")
    if not values:
        click.echo(f"Nothing was applied to {env} yet: slipway infra apply {env}")


def _count(path: Path) -> int:
    resources = json.loads(path.read_text(encoding="utf-8"))["resource"]
    return sum(len(bodies) for bodies in resources.values())


COMMANDS = (synth, validate, drift, output)
