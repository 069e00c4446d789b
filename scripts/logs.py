"""`slipway logs`: what an agent wrote to its log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options


@click.command("logs", short_help="Show what an agent wrote to its log.")
@options.environment
@click.argument("agent")
@click.option(
    "--lines", "-n", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many."
)
@options.as_json
@click.pass_obj
def command(root: Path, env: str, platform: Any, agent: str, lines: int, as_json: bool) -> None:
    """Print the last lines that AGENT wrote in ENV, the newest last."""
    from services.release import logs

    found = logs.tail(options.site(root, env, platform), agent, lines)
    if as_json:
        click.echo(json.dumps([vars(line) for line in found], indent=1))
        return
    for line in found:
        click.echo(line.text)
