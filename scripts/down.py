"""`slipway down`: stops the local platform and its engines; what it holds stays."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("down", short_help="Stop the local platform; its state stays.")
@click.pass_obj
def command(root: Path) -> None:
    """Stop the local platform and its engines.

    Sessions, memories, buckets and deployments stay under .slipway/ and are there again after
    `slipway up`.
    """
    from services import platform

    if platform.stop(root):
        click.echo("The local platform is stopped. Its state stays; `slipway up` starts it again.")
    else:
        click.echo("The local platform does not run.")
