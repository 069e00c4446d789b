"""`slipway file`: a file that an answer was saved as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from scripts import options


@click.command("file", short_help="Print a file that an answer was saved as.")
@options.environment
@click.argument("name")
@click.option("--user", required=True, help="Whose conversation it is.")
@click.option("--session", required=True, help="Which one, as `slipway ask` printed it.")
@click.option("--version", type=click.IntRange(min=1), help="Which version; default: the newest.")
@click.pass_obj
def command(
    root: Path, env: str, platform: Any, name: str, user: str, session: str, version: int | None
) -> None:
    """Print the file NAME of a conversation to standard output.

    \b
    slipway ask local "Acme Pure spend by week as a CSV" --user maria
    slipway file local media_spend_eur_by_week.csv --user maria --session 1001 > spend.csv
    """
    from infra import manifest, settings
    from services.connection import connect
    from services.conversation import Conversation
    from services.release.target import read_descriptor

    environment = settings.load(root, env, platform)
    front = manifest.front(manifest.load_all(root))
    target = connect(root, environment)
    with Conversation(target, read_descriptor(target), front) as conversation:
        text = conversation.file(name, user=user, session=session, version=version)
    click.echo(text, nl=False)
