"""`slipway deploy`: puts the agents of this checkout on an environment."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("deploy", short_help="Deploy the agents to an environment.")
@click.argument("env")
@click.pass_obj
def command(root: Path, env: str) -> None:
    """Package the agents and deploy them to ENV; where nothing differs, nothing is written."""
    from infra import manifest, settings
    from scripts.progress import Progress
    from services.connection import connect
    from services.platform import home
    from services.release.deploy import deploy
    from services.release.packaging import package_all
    from services.release.target import read_descriptor

    environment = settings.load(root, env)
    agents = manifest.load_all(root)
    target = connect(root, environment)
    descriptor = read_descriptor(target)
    with Progress() as progress:
        with progress.step("package") as step:
            bundles = package_all(root, agents, home(root) / "cache", step.say)
        with progress.step("deploy") as step:
            done = deploy(root, target, descriptor, manifests=agents, bundles=bundles, say=step.say)
            step.detail = f"release {done.release}"
    if done.changed:
        names = ", ".join(done.changed)
        click.echo(f"Release {done.release}: {names} (deployment {done.number}).")
    else:
        click.echo(f"Release {done.release} is live already; nothing was changed.")
