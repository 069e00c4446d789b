"""`slipway agent`: the agents of this checkout, each one folder."""

from __future__ import annotations

import json
from pathlib import Path

import click

from scripts import options


@click.group("agent", short_help="List the agents, and make a new one.")
def command() -> None:
    """The agents of this checkout: one folder in agents each."""


@command.command("list")
@options.as_json
@click.pass_obj
def list_(root: Path, as_json: bool) -> None:
    """List the agents, and which of the others each one asks."""
    from infra import manifest

    found = manifest.load_all(root)
    if as_json:
        rows = [
            {"name": name, "description": item.description, "calls": item.calls}
            for name, item in found.items()
        ]
        click.echo(json.dumps(rows, indent=1))
        return
    for name, item in found.items():
        calls = f"  asks {', '.join(item.calls)}" if item.calls else ""
        click.echo(f"{name:<12} {item.description}{calls}")


@command.command("new")
@click.argument("name")
@click.option(
    "--requires",
    metavar="PACKAGE",
    multiple=True,
    help="A library that only this agent needs, such as polars>=1.",
)
@click.pass_obj
def new(root: Path, name: str, requires: tuple[str, ...]) -> None:
    """Write the folder of a new agent NAME that owns data, and check it.

    The router asks it from its next deployment on; nothing else is to be edited.

    \b
    slipway agent new returns
    slipway agent new forecast --requires "statsmodels>=0.14"
    """
    from infra import new_agent

    written = new_agent.write(root, name, requires=requires)
    for path in written:
        click.echo(f"Wrote {path}.")
    if requires:
        click.echo("  scripts/lock                 first: locks what it needs (development; uv)")
    click.echo(f"  .venv/bin/pytest agents/{name}   its own tests")
    click.echo("  slipway up                   provisions, deploys and asks it, on this machine")
