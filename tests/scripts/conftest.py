"""A checkout of its own to break, and the command over it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the command reads: settings, manifests, topics, pipelines and schema."""
    root = tmp_path / "checkout"
    for folder in ("infra", "agents", "pipelines"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
    return root


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `slipway ARGS` in a folder, with runtime files of its own."""

    def command(*args: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
        program = str(Path(sys.executable).with_name("slipway"))
        environment = {"PATH": "/usr/bin:/bin", "SLIPWAY_HOME": str(tmp_path / "home"), **env}
        return subprocess.run(
            [program, *args],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return command
