"""`slipway recover`: begins a lost history anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options


@click.command("recover", short_help="Begin a lost history anew, from what is live.")
@options.environment
@options.yes
@options.as_json
@click.pass_obj
def command(root: Path, env: str, platform: Any, yes: bool, as_json: bool) -> None:
    """Record what ENV serves as its first deployment, where the control bucket was emptied.

    Says what cannot be known any more. The infrastructure's state is another matter: slipway
    infra recover.
    """
    from services.release.rebuild import rebuild

    site = options.site(root, env, platform)
    options.confirm(f"Record what {env} serves as its first deployment?", yes=yes)
    done = rebuild(site)
    if as_json:
        document = {"number": done.deployment.number, "release": done.deployment.release}
        click.echo(json.dumps({**document, "unknown": done.unknown}, indent=1))
        return
    agents = ", ".join(done.deployment.agents)
    click.echo(f"Deployment {done.deployment.number}: release {done.deployment.release}, {agents}.")
    for line in done.unknown:
        click.echo(f"  not known: {line}")
