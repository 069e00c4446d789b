"""`slipway release`: the immutable releases that an environment holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options


@click.group("release", short_help="List and show releases.")
def command() -> None:
    """Releases: one bundle for each agent, never changed once stored."""


@command.command("list")
@options.environment
@options.as_json
@click.pass_obj
def list_(root: Path, env: str, platform: Any, as_json: bool) -> None:
    """List the releases that ENV holds, and the deployments of each."""
    from services.release import journal, releases

    site = options.site(root, env, platform)
    deployed: dict[str, list[int]] = {}
    for deployment in journal.history(site.control):
        deployed.setdefault(deployment.release, []).append(deployment.number)
    rows = [
        {"release": id_, "deployments": sorted(deployed.get(id_, []))}
        for id_ in releases.stored_ids(site.releases)
    ]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        numbers = ", ".join(map(str, row["deployments"])) or "never"
        click.echo(f"{row['release']}  deployed: {numbers}")


@command.command("show")
@options.environment
@click.argument("release")
@options.as_json
@click.pass_obj
def show(root: Path, env: str, platform: Any, release: str, as_json: bool) -> None:
    """Show what a RELEASE in ENV is made of."""
    from services.release import releases

    site = options.site(root, env, platform)
    found = releases.read(site.releases, release)
    if as_json:
        click.echo(found.model_dump_json(indent=1))
        return
    dirty = " (with changes)" if found.dirty else ""
    click.echo(f"release  {found.id}\ncommit   {found.commit or 'none'}{dirty}")
    for name, agent in found.agents.items():
        click.echo(
            f"{name:<12} {agent.digest}  {agent.files} files, {agent.size} bytes, "
            f"{len(agent.class_methods)} methods, Python {agent.python}, {agent.framework}"
        )
