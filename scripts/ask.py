"""`slipway ask`: one question to the deployed front agent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options


@click.command("ask", short_help="Ask the deployed agents a question.")
@options.environment
@click.argument("question")
@click.option("--user", required=True, help="Who asks; memories belong to this person.")
@click.option(
    "--session", help="Go on in this conversation (its ID is printed); default: a new one."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=120.0,
    show_default=True,
    help="Seconds to wait for the answer.",
)
@click.option("--json", "as_json", is_flag=True, help="Print answer, session and sources as JSON.")
@click.pass_obj
def command(
    root: Path,
    env: str,
    platform: Any,
    question: str,
    user: str,
    session: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Ask the router deployed to ENV, through Google's SDK, and print the answer with its sources.

    \b
    slipway ask local "What did we spend on Acme Pure?" --user maria
    """
    from infra import manifest, settings
    from infra.errors import InputError
    from scripts import answers
    from services.connection import connect
    from services.conversation import Conversation
    from services.release.target import read_descriptor

    if not user.strip():
        raise InputError(
            "memories belong to a person, and this is nobody's name",
            where="--user",
            fix="slipway ask ENV QUESTION --user NAME",
        )
    environment = settings.load(root, env, platform)
    front = manifest.front(manifest.load_all(root))
    target = connect(root, environment)
    with Conversation(target, read_descriptor(target), front) as conversation:
        answer = conversation.ask(question, user=user, session=session, seconds=timeout)
    if as_json:
        body = {
            "answer": answer.text,
            "session": answer.session,
            "user": user,
            "findings": answer.findings,
        }
        click.echo(json.dumps(body, indent=1, ensure_ascii=False))
        return
    answers.show(answer.text, answer.findings)
    click.secho(
        f'  go on: slipway ask {env} "…" --user {user} --session {answer.session}',
        dim=True,
        err=True,
    )
