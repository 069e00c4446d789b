"""`slipway traffic`: which revisions of an agent serve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from infra.errors import InputError
from scripts import options


@click.command("traffic", short_help="Show or split the traffic of an agent.")
@options.environment
@click.argument("agent")
@click.option(
    "--split", "shares", metavar="REV=PERCENT", multiple=True, help="Give a revision so much."
)
@click.option("--latest", is_flag=True, help="Let all of it go to the latest revision again.")
@options.as_json
@click.pass_obj
def command(
    root: Path,
    env: str,
    platform: Any,
    agent: str,
    shares: tuple[str, ...],
    latest: bool,
    as_json: bool,
) -> None:
    """Show AGENT's revisions in ENV and the traffic of each; or split it.

    The next deployment moves all traffic to what it deployed.

    \b
    slipway traffic dev marketing
    slipway traffic dev marketing --split 3=90 --split 4=10
    slipway traffic dev marketing --latest
    """
    from services.release import splitting

    if shares and latest:
        raise InputError("--split and --latest exclude each other", fix="give one of them")
    site = options.site(root, env, platform)
    if shares or latest:
        splitting.split(site, agent, dict(_share(text) for text in shares))
    found = splitting.revisions(site, agent)
    if as_json:
        click.echo(json.dumps([vars(revision) for revision in found], indent=1))
        return
    for revision in found:
        bundle = (revision.bundle or "-")[:12]
        click.echo(
            f"{revision.number:>5}  {revision.percent:>3} %  bundle {bundle}  "
            f"release {revision.release or '-'}  {revision.created}"
        )


def _share(text: str) -> tuple[str, int]:
    revision, _, percent = text.partition("=")
    if not revision or not percent.isdigit():
        raise InputError(f"--split {text!r} is no share", fix="write it as --split 3=90")
    return revision, int(percent)
