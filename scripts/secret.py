"""`slipway secret`: values of an environment's secrets. Nothing here ever shows one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infra.errors import InputError
from scripts import options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.manifest import AgentManifest
    from services.release.site import Site


@click.group("secret", short_help="List, set and rotate secrets.")
def command() -> None:
    """Secrets that agents declare: their versions, a new value, a rotation.

    A value comes from a hidden prompt or from standard input, never from an argument.
    """


@command.command("list")
@options.environment
@options.as_json
@click.pass_obj
def list_(root: Path, env: str, platform: Any, as_json: bool) -> None:
    """List ENV's secrets: versions, who uses them, and what each engine is pinned to."""
    from services.release.live import read_engines
    from services.release.rotate import pinned, users
    from services.release.secrets import Vault

    site, agents = _connect(root, env, platform)
    descriptor = site.descriptor
    vault = Vault(site.target, descriptor)
    engines = read_engines(site.transport, descriptor, descriptor.engines)
    rows = []
    for secret, name in sorted(descriptor.secrets.items()):
        id_ = name.rpartition("/")[2]
        pins = {agent: pinned(engine).get(id_) for agent, engine in engines.items()}
        rows.append(
            {
                "secret": secret,
                "name": name,
                "versions": [vars(version) for version in vault.versions(secret)],
                "agents": list(users(agents, secret)),
                "pinned": {agent: version for agent, version in pins.items() if version},
            }
        )
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    for row in rows:
        _show(row)


@command.command("set")
@options.environment
@click.argument("secret")
@options.as_json
@click.pass_obj
def set_(root: Path, env: str, platform: Any, secret: str, as_json: bool) -> None:
    """Add a version to SECRET; the next deployment pins it.

    \b
    slipway secret set dev caller-signing-key            asks for the value, hidden
    openssl rand -base64 32 | slipway secret set dev caller-signing-key
    """
    from services.release.secrets import Vault

    site, agents = _connect(root, env, platform)
    _require_declared(agents, secret)
    version = Vault(site.target, site.descriptor).add(secret, _value(secret))
    if as_json:
        click.echo(json.dumps({"secret": secret, "version": version}))
        return
    click.echo(f"Added version {version} to {secret}.")
    click.echo(f"  slipway deploy {site.target.named}    pins the agents to it")


@command.command("rotate")
@options.environment
@click.argument("secret")
@options.yes
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be done; change nothing.")
@options.as_json
@click.pass_obj
def rotate(
    root: Path, env: str, platform: Any, secret: str, yes: bool, only_plan: bool, as_json: bool
) -> None:
    """Give SECRET a new value: add a version, pin the agents that use it to it, disable the old.

    The agents keep the code that they run. Where something fails, the old version stays enabled
    and the agents keep working; run it again.
    """
    from scripts.progress import Progress
    from services.release.rotate import rotate as run
    from services.release.rotate import users
    from services.release.secrets import ENABLED, Vault

    site, agents = _connect(root, env, platform)
    _require_declared(agents, secret)
    who = users(agents, secret)
    old = [
        v.number for v in Vault(site.target, site.descriptor).versions(secret) if v.state == ENABLED
    ]
    olds = f"disable version {', '.join(sorted(old, key=int))}" if old else "nothing to disable"
    if only_plan:
        click.echo(f"add a version to {secret}; pin {', '.join(who)} to it; {olds}")
        return
    value = _value(secret)
    # Standard input may have held the value: then nobody is left to be asked.
    if sys.stdin.isatty() and not yes:
        options.confirm(f"Update {', '.join(who)} of {env}, then {olds}?", yes=yes)
    elif not yes:
        raise InputError("this needs a confirmation, and there is no terminal", fix="add --yes")
    with Progress(quiet=as_json) as progress, progress.step("rotate") as step:
        done = run(site, agents, secret, value, step.say)
        step.detail = f"{secret} is at version {done.version}"
    if as_json:
        click.echo(json.dumps(vars(done)))
        return
    gone = f"; disabled {', '.join(done.disabled)}" if done.disabled else ""
    click.echo(f"{secret} is at version {done.version} on {', '.join(done.agents)}{gone}.")


def _connect(root: Path, env: str, platform: Any) -> tuple[Site, Mapping[str, AgentManifest]]:
    from infra import manifest

    return options.site(root, env, platform), manifest.load_all(root)


def _require_declared(agents: Mapping[str, AgentManifest], secret: str) -> None:
    import difflib

    known = sorted({name for agent in agents.values() for name in agent.secrets.values()})
    if secret not in known:
        near = difflib.get_close_matches(secret, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise InputError(
            f"no agent declares the secret {secret!r}",
            fix=f"{hint}declared: {', '.join(known) or 'none'}",
        )


def _value(secret: str) -> bytes:
    """The value: asked for twice on a terminal, else all of standard input but one line's end."""
    if sys.stdin.isatty():
        text: str = click.prompt(
            f"Value of {secret}", hide_input=True, confirmation_prompt="Again", err=True
        )
        return text.encode()
    data = sys.stdin.buffer.read()
    for end in (b"\r\n", b"\n"):
        if data.endswith(end):
            return data[: -len(end)]
    return data


def _show(row: dict[str, Any]) -> None:
    click.echo(row["secret"])
    for version in row["versions"]:
        users = ", ".join(a for a, v in row["pinned"].items() if v == version["number"])
        told = f"  pinned by {users}" if users else ""
        created = version["created"][:19]
        click.echo(f"  {version['number']:>3}  {version['state'].lower():<9} {created}{told}")
    if not row["versions"]:
        click.echo("  no version yet")
