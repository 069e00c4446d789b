"""`slipway infra bootstrap|import|recover`: beginnings, and what is there already."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from infra.errors import InputError
from scripts import options


@click.command("bootstrap")
@options.environment
@click.pass_obj
def bootstrap(root: Path, env: str, platform: Any) -> None:
    """Enable ENV's APIs, make the bucket for Terraform's state, and list what is left to you.

    Safe to run again at any time.
    """
    from infra import settings
    from infra.bootstrap import bootstrap as run
    from scripts.progress import Progress
    from services.connection import connect

    environment = settings.load(root, env, platform)
    target = connect(root, environment)
    with Progress() as progress, progress.step("bootstrap") as step:
        done = run(environment, target.endpoints, target.credentials, step.say)
        bucket = "made the state bucket" if done.made_bucket else "the state bucket is there"
        step.detail = f"{bucket}; {len(done.enabled) or 'no'} APIs enabled now"
    click.echo("\nWhat only a person can do, and nothing here can check:")
    for line in done.checklist:
        click.echo(f"  [ ] {line}")
    click.echo(f"\nThen: slipway infra apply {env}")


@click.command("import")
@options.environment
@click.argument("agent")
@click.argument("engine_id")
@options.yes
@click.pass_obj
def import_(root: Path, env: str, platform: Any, agent: str, engine_id: str, yes: bool) -> None:
    """Take over the engine ENGINE_ID, made by hand, as AGENT's (or memory-bank) in ENV.

    What it holds stays: sessions, memories, and the code that it runs until the next deployment.

    \b
    slipway infra import dev memory-bank 1234567890123456789
    """
    from infra import manifest, names, settings
    from scripts.infra import show
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    known = [*manifest.load_all(root), names.MEMORY_BANK]
    if agent not in known:
        raise InputError(f"there is no engine {agent!r}", fix=f"known: {', '.join(known)}")
    if not re.fullmatch(r"[0-9]{1,20}", engine_id):
        raise InputError(f"{engine_id!r} is no engine ID", fix="give the number at the name's end")
    home = f"projects/{environment.project}/locations/{environment.region}"
    with Progress() as progress, terraform(root, environment, progress.note) as run:
        with progress.step("plan"):
            address = f"google_vertex_ai_reasoning_engine.{agent}"
            found = run.take_over(address, f"{home}/reasoningEngines/{engine_id}")
        show(found)
        if address not in found.adopted:
            click.echo(f"{agent} is in the state of {env} already; nothing was imported.")
            return
        options.confirm(f"Apply this to {env}?", yes=yes)
        with progress.step("apply") as step:
            step.detail = f"{len(run.apply(found))} resources"


@click.command("recover")
@options.environment
@options.yes
@click.pass_obj
def recover(root: Path, env: str, platform: Any, yes: bool) -> None:
    """Rebuild the lost state of ENV from what is there and carries its labels."""
    from infra import settings
    from scripts.infra import show
    from scripts.progress import Progress
    from services.provision import terraform

    environment = settings.load(root, env, platform)
    with Progress() as progress, terraform(root, environment, progress.note) as run:
        with progress.step("look"):
            found = run.recover()
        show(found)
        if found.empty:
            return
        found.require_allowed((), f"slipway infra apply {env}")
        options.confirm(f"Apply this to {env}?", yes=yes)
        with progress.step("apply") as step:
            step.detail = f"{len(run.apply(found))} resources"


COMMANDS = (bootstrap, import_, recover)
