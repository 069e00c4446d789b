"""Provisions an environment: its stack, the bucket for its state, and Terraform over both."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from infra.bootstrap import ensure_state_bucket
from infra.errors import InputError, SlipwayError
from infra.settings import Environment, Platform
from infra.terraform import Terraform
from services.connection import connect, terraform_connection
from services.platform import home

Say = Callable[[str], None]


def synthesize(root: Path, env: Environment) -> Path:
    """Synthesizes one environment; returns the stack's Terraform JSON.

    Raises:
        InputError: a file of the environment, an agent or the topics is wrong.
        SlipwayError: the CDK cannot run, or the folder cannot be written.
    """
    return synthesize_into(root, home(root) / "synth", [env.name], env.platform)[env.name]


def synthesize_into(
    root: Path, out: Path, names: Sequence[str], platform: Platform | None
) -> dict[str, Path]:
    """Synthesizes environments into the folder `out`, in a process of its own.

    The CDK runs on Node.js, which would otherwise live for as long as the command does.

    Raises:
        InputError, SlipwayError: as `synthesize` does.
    """
    overlay = ["--platform", platform] if platform else []
    done = subprocess.run(
        [sys.executable, "-m", "infra.main", *overlay, *names],
        cwd=root,
        env={**os.environ, "CDKTF_OUTDIR": str(out)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        start = next(
            (i for i, line in enumerate(lines) if line.startswith("error: ")), len(lines) - 1
        )
        text = "\n".join(lines[start:]).removeprefix("error: ")
        raise InputError(text) if done.returncode == 2 else SlipwayError(text)
    return {name: out / "stacks" / name / "cdk.tf.json" for name in names}


def terraform(root: Path, env: Environment, say: Say) -> Terraform:
    """Terraform over the environment's stack as its files are now; to be used as a context manager.

    Raises:
        SlipwayError: as `synthesize` and `connect` do, or the state bucket cannot be made.
    """
    stack = synthesize(root, env)
    target = connect(root, env)
    if ensure_state_bucket(env, target.endpoints.storage, target.credentials):
        say("made the bucket for Terraform's state")
    played = f"@{env.platform}" if env.platform else ""
    workdir = home(root) / "terraform" / f"{env.name}{played}"
    return Terraform(stack, workdir, env, terraform_connection(root, env), say)
