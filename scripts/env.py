"""`slipway env`: the environments of this checkout, each one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from infra.errors import SlipwayError
from scripts import options


@click.group("env", short_help="List, show, check, make and reap environments.")
def command() -> None:
    """The environments of this checkout: one file in infra/environments each."""


@command.command("list")
@options.as_json
@click.pass_obj
def list_(root: Path, as_json: bool) -> None:
    """List the environments; a file that is wrong is listed with its first error."""
    from infra import settings

    rows: list[dict[str, Any]] = []
    for name in settings.names(root):
        try:
            env = settings.load(root, name)
        except SlipwayError as error:
            rows.append({"name": name, "error": f"{error.where}: {error.what}"})
            continue
        fields = ("project", "region", "endpoint", "model", "deletion_policy", "ephemeral")
        rows.append({"name": name, **{field: getattr(env, field) for field in fields}})
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    heads = ("NAME", "PROJECT", "REGION", "PLATFORM", "MODEL", "DELETION")
    table = [heads, *(_row(row) for row in rows if "error" not in row)]
    widths = [max(len(row[column]) for row in table) for column in range(len(heads))]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
    for row in rows:
        if "error" in row:
            click.echo(f"{row['name']}  wrong: {row['error']}")


@command.command("show")
@options.environment
@options.as_json
@click.pass_obj
def show(root: Path, env: str, platform: Any, as_json: bool) -> None:
    """Print every resolved value of ENV, and the file, variable or default that set it."""
    from infra import settings

    rows = settings.resolved(settings.load(root, env, platform))
    if as_json:
        values = {row.key: {"value": row.value, "source": row.source} for row in rows}
        click.echo(json.dumps(values, indent=1))
        return
    width = max(len(f"{row.key} = {_toml(row.value)}") for row in rows)
    for row in rows:
        text = f"{row.key} = {_toml(row.value)}".ljust(min(width, 60))
        click.echo(f"{text}  {click.style('# ' + row.source, dim=True)}")


@command.command("check")
@click.argument("envs", metavar="[ENV]...", nargs=-1, shell_complete=options.complete_environment)
@click.pass_obj
def check(root: Path, envs: tuple[str, ...]) -> None:
    """Check each ENV (default: all) and everything that Terraform would get; needs no network.

    Reads the environment files, the agents' manifests, the memory topics and the pipelines, and
    checks every resource against the provider's schema and rules.
    """
    from infra.main import declare

    for env, stack in declare(root, envs, None):
        click.echo(f"{env.name}: {len(stack.resources)} resources, nothing is wrong")


@command.command("new")
@click.argument("name")
@click.option("--project", required=True, help="Google Cloud project ID.")
@click.option("--region", help="Region, if not that of the file it extends.")
@click.option("--extends", default="shared/cloud.toml", show_default=True, help="The file below.")
@click.option("--name-prefix", default="", help="Begins all names, where a project is shared.")
@click.option("--ttl-hours", type=click.IntRange(1, 720), help="Ephemeral: lives for so long.")
@click.pass_obj
def new(
    root: Path,
    name: str,
    project: str,
    region: str | None,
    extends: str,
    name_prefix: str,
    ttl_hours: int | None,
) -> None:
    """Write the file of a new environment NAME, and check it.

    \b
    slipway env new qa --project acme-agents-qa
    slipway env new pr-12 --project acme-agents-dev --name-prefix pr12 --ttl-hours 24
    """
    from infra import new_environment

    path = new_environment.write(
        root,
        name,
        project=project,
        region=region,
        extends=extends,
        name_prefix=name_prefix,
        ttl_hours=ttl_hours,
    )
    click.echo(f"Wrote {path}.")
    click.echo(f"  slipway env show {name}           what it says, and where from")
    click.echo(
        f"  slipway infra bootstrap {name}    then what Terraform needs before its first apply"
    )


@command.command("reap")
@options.yes
@click.option(
    "--plan", "only_plan", is_flag=True, help="Say what would be destroyed; destroy nothing."
)
@options.as_json
@click.pass_obj
def reap(root: Path, yes: bool, only_plan: bool, as_json: bool) -> None:
    """Destroy every ephemeral environment whose time is over."""
    from scripts.progress import Progress
    from services import reaping
    from services.provision import terraform

    found = reaping.expired(root)
    if as_json:
        rows = [{"name": e.env.name, "applied": e.applied, "expired": e.expired} for e in found]
        click.echo(json.dumps(rows, indent=1))
    else:
        for item in found:
            click.echo(f"{item.env.name}: applied {item.applied}, expired {item.expired}")
    if not found:
        click.echo("No environment is over its time.", err=True)
    if only_plan or not found:
        return
    options.confirm(f"Destroy {', '.join(item.env.name for item in found)}?", yes=yes)
    with Progress(quiet=as_json) as progress:
        for item in found:
            with (
                progress.step(item.env.name) as step,
                terraform(root, item.env, step.say) as run,
            ):
                step.detail = f"{len(run.destroy())} resources destroyed"


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    name = f"{row['name']} (ephemeral)" if row["ephemeral"] else row["name"]
    platform = "this machine" if row["endpoint"] == "local" else "Google Cloud"
    return (
        name, row["project"], row["region"], platform, row["model"], row["deletion_policy"]
    )  # fmt: skip


def _toml(value: Any) -> str:
    """The value as the file would have it; nothing for what is not set."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value == {}:
        return "(not set)"
    return json.dumps(value, ensure_ascii=False)
