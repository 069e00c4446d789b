"""`slipway status`: what runs in an environment, and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from scripts import options


@click.command("status", short_help="What runs, and where.")
@options.environment_or("local")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_obj
def command(root: Path, env: str, platform: Any, as_json: bool) -> None:
    """Show the platform, the engines and the release that is live in ENV (default: local)."""
    from infra import settings

    found = read(root, settings.load(root, env, platform))
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        show(found)


def read(root: Path, env: Any) -> dict[str, Any]:
    """The status document of the environment `env` (infra.settings.Environment).

    Raises:
        PlatformError: the local platform does not run.
        RemoteError: nothing is applied yet, or an API refused.
    """
    from infra import manifest
    from services.connection import connect
    from services.release.live import live_release
    from services.release.target import read_descriptor

    target = connect(root, env)
    descriptor = read_descriptor(target)
    live = live_release(target, descriptor)
    front = manifest.front(manifest.load_all(root))
    return {
        "environment": env.name,
        "endpoint": target.endpoints.agent_runtime,
        "project": descriptor.project,
        "region": descriptor.region,
        "app_name": front.app_name,
        "model": env.model,
        "memory_bank": descriptor.memory_bank.name if descriptor.memory_bank else None,
        "engines": {name: entry.name for name, entry in descriptor.engines.items()},
        "release": live.release,
        "bundles": {name: agent.bundle for name, agent in live.agents.items()},
        "updated": {name: agent.updated for name, agent in live.agents.items()},
        "buckets": descriptor.buckets.model_dump(),
    }


def show(found: dict[str, Any]) -> None:
    """Prints the document for a person."""
    rows = [
        ("environment", f"{found['environment']} ({found['project']}, {found['region']})"),
        ("endpoint", found["endpoint"]),
        ("model", found["model"]),
        ("release", found["release"] or "none that every engine serves"),
        ("memory bank", found["memory_bank"] or "none"),
    ]
    for label, value in rows:
        click.echo(f"{label:<12} {value}")
    for name, engine in found["engines"].items():
        bundle = found["bundles"][name]
        served = (
            f"bundle {bundle[:12]} since {found['updated'][name]}" if bundle else "nothing deployed"
        )
        click.echo(f"  {name:<10} {engine}\n  {'':<10} {served}")
