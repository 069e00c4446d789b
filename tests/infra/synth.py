"""Runs `python -m infra.main` as a user would, and reads what it wrote."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"

Stack = dict[str, Any]


def run_main(
    *environments: str, out: Path, root: Path = ROOT, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Runs the command in the checkout `root`, with the CDK's output folder `out`."""
    return subprocess.run(
        [sys.executable, "-m", "infra.main", *environments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), "CDKTF_OUTDIR": str(out), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def stack_path(out: Path, name: str) -> Path:
    """Where the command writes the Terraform JSON of one environment."""
    return out / "stacks" / name / "cdk.tf.json"


def read_stack(out: Path, name: str) -> Stack:
    """The Terraform JSON of one environment."""
    document: Stack = json.loads(stack_path(out, name).read_text())
    return document


def inventory(stack: Stack) -> Stack:
    """How many resources there are of each type, and every field of each but long texts.

    The CDK's own notes change with its version; what a pipeline does is in its own file.
    """
    resources = {
        type_: {name: _fields(body) for name, body in sorted(bodies.items())}
        for type_, bodies in sorted(stack["resource"].items())
    }
    counts = {type_: len(bodies) for type_, bodies in resources.items()}
    rest = {key: value for key, value in stack.items() if key not in {"//", "resource"}}
    return {"counts": counts, **rest, "resource": resources}


def _fields(body: dict[str, Any]) -> dict[str, Any]:
    fields = {key: value for key, value in body.items() if key not in {"//", "description"}}
    if "build" in fields:
        fields["build"] = [step["id"] for step in fields["build"]["step"]]
    return fields
