"""`slipway undo`: turns of a conversation, as if they had not been."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options


@click.command("undo", short_help="Undo a turn of a conversation, and all after it.")
@options.environment
@click.argument("turn")
@click.option("--user", required=True, help="Whose conversation it is.")
@click.option("--session", required=True, help="Which one, as `slipway ask` printed it.")
@click.option("--json", "as_json", is_flag=True, help="Print what was undone as JSON.")
@click.pass_obj
def command(
    root: Path, env: str, platform: Any, turn: str, user: str, session: str, as_json: bool
) -> None:
    """Undo TURN and all after it: the conversation goes on as it was before.

    `slipway ask --json` prints the turn of each answer. What it does not undo is said: memories,
    what belongs to the person, and a planning run that was started.
    """
    from infra import manifest, settings
    from services.connection import connect
    from services.conversation import Conversation
    from services.release.target import read_descriptor

    environment = settings.load(root, env, platform)
    front = manifest.front(manifest.load_all(root))
    target = connect(root, environment)
    with Conversation(target, read_descriptor(target), front) as conversation:
        found = conversation.undo(turn, user=user, session=session)
    if as_json:
        click.echo(json.dumps(found, indent=1))
        return
    click.echo(f"{found['undone']} turn{'' if found['undone'] == 1 else 's'} undone. As it was:")
    for what in found["stays"]:
        click.echo(f"  - {what}")
