"""`slipway diff`: what an environment serves, against this checkout and the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from infra.errors import Finding
from scripts import options


@click.command("diff", short_help="Compare what is live with the checkout and the record.")
@options.environment
@options.as_json
@click.pass_obj
def command(root: Path, env: str, platform: Any, as_json: bool) -> None:
    """Compare what ENV serves with this checkout, and with its last deployment.

    Exits with 3 when something differs.
    """
    from scripts.deploy import build
    from scripts.progress import Progress
    from services.release.diff import differences

    site = options.site(root, env, platform)
    with Progress(quiet=as_json) as progress:
        wanted = build(root, site, (), progress)
        found = differences(site, wanted)
    sides = {"checkout": found.desired, "record": found.recorded}
    if as_json:
        rows = {
            side: {name: [vars(change) for change in changes] for name, changes in agents.items()}
            for side, agents in sides.items()
        }
        click.echo(json.dumps(rows, indent=1))
    else:
        for side, agents in sides.items():
            for name, changes in agents.items():
                for change in changes:
                    live, other = change.live or "-", change.wanted or "-"
                    click.echo(f"{name}  {change.field}: live {live}, {side} {other}")
    if not found.empty:
        raise Finding(f"{env} differs", fix=f"slipway deploy {site.target.named} --plan")
    if not as_json:
        click.echo("No differences.")
