"""`slipway package`: builds the agents' bundles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infra.errors import Finding
from scripts import options

if TYPE_CHECKING:
    from infra.manifest import AgentManifest
    from services.release.bundle import Bundle


@click.command("package", short_help="Build the agents' bundles.")
@click.argument("agent", nargs=-1)
@click.option(
    "--check", "again", is_flag=True, help="Build twice, in different conditions, and compare."
)
@click.option("--explain", is_flag=True, help="List every file, and why it is in.")
@options.as_json
@click.pass_obj
def command(root: Path, agent: tuple[str, ...], again: bool, explain: bool, as_json: bool) -> None:
    """Build the deterministic bundle of each AGENT (default: all) and print its digest.

    The same sources give the same digest, on any machine and at any time. With --check, exits
    with 3 when two builds differ.
    """
    from infra import manifest
    from scripts.progress import Progress
    from services.platform import home
    from services.release.packaging import package_all

    known = manifest.load_all(root)
    chosen = manifest.chosen(known, agent)
    if explain:
        show_files(root, chosen, as_json=as_json)
        return
    with Progress(quiet=as_json) as progress:
        with progress.step("package") as step:
            bundles = package_all(root, chosen, home(root) / "cache", step.say)
            step.detail = f"{len(bundles)} bundles"
        if again:
            with progress.step("check") as step:
                compare(root, chosen, bundles)
                step.detail = "built again elsewhere: the same"
    show(bundles, as_json=as_json)


def show(bundles: Mapping[str, Bundle], *, as_json: bool) -> None:
    """Prints digests and sizes."""
    if as_json:
        rows = {
            name: {
                "digest": b.digest,
                "archive_sha256": b.archive_sha256,
                "tree": b.tree,
                "size": b.size,
                "files": b.files,
            }
            for name, b in bundles.items()
        }
        click.echo(json.dumps(rows, indent=1))
        return
    for name, built in bundles.items():
        click.echo(f"{name:<12} {built.digest}  {built.files} files, {len(built.archive)} bytes")


def compare(root: Path, chosen: Mapping[str, AgentManifest], bundles: Mapping[str, Bundle]) -> None:
    """Builds again elsewhere.

    Raises:
        Finding: a bundle is another one there.
    """
    from services.release import reproduce

    second = reproduce.digests(root, chosen.values())
    differing = [name for name, built in bundles.items() if second[name] != built.digest]
    if differing:
        raise Finding(
            f"built again in another place, another bundle came out: {', '.join(differing)}",
            where="agents",
            fix="slipway package --explain, and look for a file that its build writes",
        )


def show_files(root: Path, chosen: Mapping[str, AgentManifest], *, as_json: bool) -> None:
    """Prints what goes into each bundle."""
    from services.release import leaks, sources

    found = {name: sources.collect(root, agent) for name, agent in chosen.items()}
    for files in found.values():
        leaks.refuse(files)
    if as_json:
        rows = {
            name: [
                {"path": f.path, "from": f.from_, "size": len(f.data), "why": f.why} for f in files
            ]
            for name, files in found.items()
        }
        click.echo(json.dumps(rows, indent=1))
        return
    for name, files in found.items():
        click.echo(name)
        for file in files:
            click.echo(f"  {file.path:<44} {len(file.data):>8}  {file.why}")
