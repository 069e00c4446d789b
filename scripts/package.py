"""`slipway package`: builds the agents' bundles."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("package", short_help="Build the agents' bundles.")
@click.argument("agent", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print digests and sizes as JSON.")
@click.pass_obj
def command(root: Path, agent: tuple[str, ...], as_json: bool) -> None:
    """Build the deterministic bundle of each AGENT (default: all) and print its digest.

    The same sources give the same digest, on any machine and at any time.
    """
    from infra import manifest
    from infra.errors import InputError
    from scripts.progress import Progress
    from services.platform import home
    from services.release.packaging import package_all

    known = manifest.load_all(root)
    for name in agent:
        if name not in known:
            raise InputError(
                f"there is no agent {name!r}", where="agents", fix=f"known: {', '.join(known)}"
            )
    chosen = {name: known[name] for name in agent or known}
    with Progress(quiet=as_json) as progress, progress.step("package") as step:
        bundles = package_all(root, chosen, home(root) / "cache", step.say)
        step.detail = f"{len(bundles)} bundles"
    if as_json:
        rows = {
            name: {
                "digest": b.digest,
                "archive_sha256": b.archive_sha256,
                "size": b.size,
                "files": b.files,
            }
            for name, b in bundles.items()
        }
        click.echo(json.dumps(rows, indent=1))
        return
    for name, built in bundles.items():
        click.echo(f"{name:<12} {built.digest}  {built.files} files, {len(built.archive)} bytes")
