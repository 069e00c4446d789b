"""`slipway ask`: one question to the deployed front agent, or a decision that it waits for."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from scripts import options

if TYPE_CHECKING:
    from services.conversation import Answer, Conversation

TOKEN = "DATABRICKS_TOKEN"
"""The variable in which Databricks' own tools look for a person's token."""
LOCAL_TOKEN = "local-user-{user}"
"""How a person signs in to the local platform's Databricks."""


@click.command("ask", short_help="Ask the deployed agents a question.")
@options.environment
@click.argument("question", required=False)
@click.option("--user", required=True, help="Who asks; memories belong to this person.")
@click.option(
    "--session", help="Go on in this conversation (its ID is printed); default: a new one."
)
@click.option("--approve", metavar="TURN", help="Approve what this turn of the session asks.")
@click.option("--reject", metavar="TURN", help="Reject it.")
@click.option("--resume", is_flag=True, help="Go on with the session's last turn: it broke off.")
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
    question: str | None,
    user: str,
    session: str | None,
    approve: str | None,
    reject: str | None,
    resume: bool,
    timeout: float,
    as_json: bool,
) -> None:
    """Ask the router deployed to ENV, through Google's SDK, and print the answer with its sources.

    An agent that reads or acts as you needs your own Databricks token, in DATABRICKS_TOKEN. Before
    it acts it asks: at a terminal on the spot, else the command that decides is printed.

    \b
    slipway ask local "What did we spend on Acme Pure?" --user maria
    slipway ask local "Replan the Nordics" --user sam
    """
    from infra import manifest, settings
    from services.connection import connect
    from services.conversation import Conversation
    from services.release.target import read_descriptor

    _check(user, session, question=question, approve=approve, reject=reject, resume=resume)
    environment = settings.load(root, env, platform)
    front = manifest.front(manifest.load_all(root))
    target = connect(root, environment)
    local = LOCAL_TOKEN.format(user=user) if environment.endpoint == "local" else ""
    given: dict[str, Any] = {
        "user": user, "token": os.environ.get(TOKEN) or local, "seconds": timeout,
    }  # fmt: skip
    with Conversation(target, read_descriptor(target), front) as conversation:
        turn = approve or reject
        if turn:
            wanted: Literal["approve", "reject"] = "approve" if approve else "reject"
            answer = conversation.decide(wanted, session=str(session), invocation=turn, **given)
        elif resume:
            last = conversation.last_turn(user, str(session))
            answer = conversation.resume(last, session=str(session), **given)
        else:
            answer = conversation.ask(str(question), session=session, **given)
        if answer.approval and not as_json and sys.stdin.isatty():
            answer = _asked(conversation, answer, given)
    _show(answer, env, user, as_json=as_json)


def _check(user: str, session: str | None, **ways: object) -> None:
    """One way to go on, and what it needs."""
    from infra.errors import InputError

    usage = "slipway ask ENV QUESTION --user NAME"
    if not user.strip():
        raise InputError(
            "memories belong to a person, and this is nobody's name", where="--user", fix=usage
        )
    given = [way for way, value in ways.items() if value]
    if len(given) != 1:
        fix = f"{usage}; or: slipway ask ENV --user NAME --session ID --approve TURN"
        raise InputError("give one: a question, --approve, --reject or --resume", fix=fix)
    if given != ["question"] and session is None:
        raise InputError(
            "this goes on with a conversation",
            where=f"--{given[0]}",
            fix="give --session, as `slipway ask` printed it",
        )


def _asked(conversation: Conversation, answer: Answer, given: dict[str, Any]) -> Answer:
    """Asks the person at the terminal, and goes on."""
    assert answer.approval is not None
    agreed = click.confirm(answer.text.removesuffix(" Approve?"), default=False, err=True)
    return conversation.decide(
        "approve" if agreed else "reject",
        session=answer.session,
        invocation=answer.approval.invocation,
        **given,
    )


def _show(answer: Answer, env: str, user: str, *, as_json: bool) -> None:
    from scripts import answers

    waits = answer.approval
    if as_json:
        body = {
            "answer": answer.text,
            "session": answer.session,
            "user": user,
            "turn": answer.turn,
            "findings": answer.findings,
            "approval": None
            if waits is None
            else {"turn": waits.invocation, "expires": waits.expires},
        }
        click.echo(json.dumps(body, indent=1, ensure_ascii=False))
        return
    answers.show(answer.text, answer.findings)
    here = f"slipway ask {env} --user {user} --session {answer.session}"
    if waits is not None:
        click.secho(f"  yes: {here} --approve {waits.invocation}", err=True)
        click.secho(f"  no:  {here} --reject {waits.invocation}", err=True)
        return
    click.secho(
        f'  go on: slipway ask {env} "…" --user {user} --session {answer.session}',
        dim=True,
        err=True,
    )
