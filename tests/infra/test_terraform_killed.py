"""A run that is cut off in the middle of an apply is repaired by the next, and makes no twins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.emulator.conftest import Local
from tests.infra.applied import Site
from tests.infra.synth import ROOT, stack_path

AGENTS = {"marketing", "memory-bank", "router", "supply"}


@pytest.fixture
def site(tmp_path: Path, synthesized: Path) -> Iterator[Site]:
    """A fresh platform that a test may kill."""
    platform = Local(tmp_path / "platform")
    platform.state.mkdir()
    platform.start()
    stack = tmp_path / "cdk.tf.json"
    shutil.copy(stack_path(synthesized, "local"), stack)
    site = Site(platform, stack, tmp_path / "work")
    assert site.bootstrap()
    yield site
    platform.stop()


def interrupted(site: Site, how: str) -> subprocess.CompletedProcess[str]:
    """Runs an apply that is cut off; see interrupted.py."""
    connection = json.dumps(asdict(site.connection))
    return subprocess.run(
        [sys.executable, str(Path(__file__).with_name("interrupted.py")), how,
         str(site.stack), str(site.workdir), connection],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def assert_repaired(site: Site) -> None:
    """The next run finishes the work; every engine is there once, and nothing is left to do."""
    with site.terraform() as run:
        run.apply(run.plan())
        assert run.plan().empty
    engines = site.engines()
    assert set(engines) == AGENTS
    assert {len(names) for names in engines.values()} == {1}
    with site.terraform() as run:
        assert len(run.destroy()) == site.declared


def test_killed_while_terraform_lives_on(site: Site) -> None:
    done = interrupted(site, "parent")
    assert done.returncode == -9
    assert_repaired(site)
    assert not any("lifting" in line for line in site.said), "the child gave its lock back"


def test_killed_with_terraform(site: Site) -> None:
    done = interrupted(site, "both")
    assert done.returncode == -9
    assert_repaired(site)
    assert any("lifting the state's lock of a killed run" in line for line in site.said)
    assert any("exists already and is ours" in line for line in site.said)


def test_ctrl_c(site: Site) -> None:
    done = interrupted(site, "interrupt")
    assert done.returncode == 130
    assert "stopping Terraform, which stores its state first" in done.stdout
    assert not (site.workdir / "running.json").exists()
    assert_repaired(site)


def test_the_platform_dies(site: Site) -> None:
    assert site.platform.process is not None
    done = interrupted(site, f"platform:{site.platform.process.pid}")
    assert done.returncode == 1
    assert "the local platform died while Terraform worked on it" in done.stdout
    site.platform.restart()
    assert_repaired(site)
