"""Runs `adk eval`: `python -m tests.agents.run_evals [--model MODEL] [AGENT …]`.

Offline by default, over specialists that this process serves. With a Gemini model it needs
application default credentials, and GOOGLE_CLOUD_PROJECT.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

from tests.agents.conftest import serving

ROOT = Path(__file__).parents[2]
AGENTS = ("router", "marketing", "supply")


def evaluate(agent: str, *sets: str) -> subprocess.CompletedProcess[str]:
    """`adk eval` of an agent in the environment as it is; of all its sets, or of those named."""
    folder = ROOT / "agents" / agent / "evals"
    chosen = [str(folder / f"{name}.evalset.json") for name in sets]
    adk = str(Path(sys.executable).with_name("adk"))
    command = [
        adk,
        "eval",
        "",
        *(chosen or sorted(map(str, folder.glob("*.evalset.json")))),
        "--config_file_path",
        str(folder / "config.json"),
        "--print_detailed_results",
    ]
    with tempfile.TemporaryDirectory() as home:
        # It writes its results beside the agent.
        copy = shutil.copytree(folder, Path(home) / agent)
        command[2] = str(copy)
        env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore", "HOME": home}
        return subprocess.run(
            command, cwd=home, env=env, capture_output=True, text=True, check=False
        )


@click.command()
@click.option("--model", default="offline", help="offline, or the name of a Gemini model.")
@click.argument("agents", nargs=-1, type=click.Choice(AGENTS))
def main(model: str, agents: tuple[str, ...]) -> None:
    """Evaluates; exits 1 when an answer is not what it must be."""
    failed = False
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        serving(patch, Path(folder), {"SLIPWAY_MODEL": model}),
    ):
        for agent in agents or AGENTS:
            done = evaluate(agent)
            click.echo(done.stdout)
            failed = failed or done.returncode != 0
            if done.returncode:
                click.echo(done.stderr[-4000:], err=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
