"""`slipway dev`: an agent from the working tree, beside the deployed others."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import click

from scripts import options


@click.command("dev", short_help="Run an agent from the working tree.")
@click.argument("agent")
@click.option("--env", default="local", show_default=True, help="The environment to run it in.")
@click.option("--platform", type=click.Choice(["local"]), help="Play it on this machine.")
@click.pass_obj
def command(root: Path, agent: str, env: str, platform: Any) -> None:
    """Let AGENT answer from the working tree, on the local platform, until Ctrl-C.

    The other agents stay as they are deployed. Every save reloads it; what does not start leaves
    the last one that worked. Ask in another terminal: slipway ask local "…" --user maria
    """
    from services import development

    site = options.site(root, env, platform)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    click.echo(f"{agent}: starting from {root / 'agents' / agent} (Ctrl-C ends it)")
    development.run(root, site, agent, lambda line: click.echo(f"{agent}: {line}"), stop)
    click.echo(f"{agent}: what is deployed answers again")
