"""`slipway history`: the deployments of an environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from scripts import options

if TYPE_CHECKING:
    from services.release.journal import Deployment


@click.command("history", short_help="List the deployments of an environment.")
@options.environment
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@options.as_json
@click.pass_obj
def command(root: Path, env: str, platform: Any, limit: int, as_json: bool) -> None:
    """List ENV's deployments, the newest first: what was done, by whom, and how it ended."""
    from services.release import journal

    site = options.site(root, env, platform)
    found = journal.history(site.control, limit)
    if as_json:
        click.echo(json.dumps([row(item) for item in found], indent=1))
        return
    if not found:
        click.echo(f"Nothing was deployed to {env} yet.")
    for item in found:
        agents = ", ".join(item.agents)
        click.echo(
            f"{item.number:>4}  {item.started}  {item.status:<11}  {item.release}  "
            f"{item.action:<16}  {item.principal or item.who or '-'}  {agents}"
        )


def row(item: Deployment) -> dict[str, Any]:
    """A deployment for scripts: no specs."""
    fields = (
        "number",
        "action",
        "status",
        "release",
        "principal",
        "who",
        "host",
        "commit",
        "started",
        "ended",
    )
    agents = {
        name: {
            "bundle": record.bundle,
            "revision": record.revision,
            "changes": record.changes,
            "facts": [fact.model_dump() for fact in record.facts],
            "error": record.error,
            "restored": record.restored,
        }
        for name, record in item.agents.items()
    }
    return {field: getattr(item, field) for field in fields} | {"agents": agents}
