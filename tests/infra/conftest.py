"""What the infra tests share: the stacks synthesized once, and a checkout to break."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.infra.synth import ROOT, Stack, read_stack, run_main

Rewrite = Callable[[str, str, str], None]


@pytest.fixture(scope="session")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The CDK's output folder for every environment of this checkout, from one run."""
    out = tmp_path_factory.mktemp("synth")
    done = run_main(out=out)
    assert (done.returncode, done.stderr) == (0, "")
    return out


@pytest.fixture(scope="session")
def stacks(synthesized: Path) -> dict[str, Stack]:
    """Every environment's Terraform JSON."""
    return {name: read_stack(synthesized, name) for name in ("dev", "local", "prod", "staging")}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the synthesis reads, to be changed at will."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT / "infra", root / "infra", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "pipelines", root / "pipelines")
    for path in ROOT.glob("agents/*/agent.toml"):
        target = root / path.relative_to(ROOT)
        target.parent.mkdir(parents=True)
        shutil.copy(path, target)
    return root


@pytest.fixture
def rewrite(checkout: Path) -> Rewrite:
    """`rewrite(path, old, new)` changes one text in a file of the checkout."""

    def change(path: str, old: str, new: str) -> None:
        file = checkout / path
        text = file.read_text()
        assert old in text, f"{path} has no {old!r} to change"
        file.write_text(text.replace(old, new, 1))

    return change
