"""`slipway switch`: agents off and on, without a deployment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options

SAY = "This assistant is switched off for the moment. Please try again later."


@click.command("switch", short_help="Switch agents off and on, without a deployment.")
@options.environment
@click.option("--off", "down", metavar="AGENT", multiple=True, help="Let it answer TEXT only.")
@click.option("--on", "up", metavar="AGENT", multiple=True, help="Let it work again.")
@click.option("--say", metavar="TEXT", default=SAY, help="What it answers meanwhile.")
@options.as_json
@click.pass_obj
def command(
    root: Path,
    env: str,
    platform: Any,
    down: tuple[str, ...],
    up: tuple[str, ...],
    say: str,
    as_json: bool,
) -> None:
    """Show which agents of ENV are switched off; or switch some off, or on again.

    Every running instance follows within 15 seconds; one that cannot read it stays as it is.

    \b
    slipway switch dev
    slipway switch dev --off supply --say "Stock is being counted until noon."
    slipway switch dev --on supply
    """
    from services.release import switch

    site = options.site(root, env, platform)
    if down or up:
        switch.turn(site, on=up, off=dict.fromkeys(down, say))
    found = switch.off(site)
    if as_json:
        click.echo(json.dumps(found, indent=1, ensure_ascii=False))
        return
    for agent in site.descriptor.engines:
        click.echo(f"{agent:<12} {'off: ' + found[agent] if agent in found else 'on'}")
