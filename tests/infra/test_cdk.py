"""The CDK's core: imported in one place, and run by a Node.js that is there."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from infra import node
from infra.errors import SlipwayError
from tests.infra.synth import ROOT, read_stack, run_main

CORE = {"cdktf", "cdktn", "constructs", "jsii"}


def imported(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it."""
    found: set[str] = set()
    for item in ast.walk(ast.parse(path.read_text())):
        if isinstance(item, ast.Import):
            found |= {alias.name.split(".")[0] for alias in item.names}
        elif isinstance(item, ast.ImportFrom) and item.module and not item.level:
            found.add(item.module.split(".")[0])
    return found


def test_one_module_imports_the_core() -> None:
    sources = [p for part in ("agents", "infra", "scripts", "services", "tests")
               for p in (ROOT / part).rglob("*.py")]  # fmt: skip
    users = {str(path.relative_to(ROOT)) for path in sources if imported(path) & CORE}
    assert users == {"infra/cdk.py"}


def fake_node(folder: Path, version: str) -> Path:
    """A program called `node` that says it is of a version, and does nothing else."""
    folder.mkdir()
    program = folder / "node"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    return program


def test_a_new_enough_node_on_the_path_is_used(tmp_path: Path) -> None:
    fake_node(tmp_path / "bin", "v18.0.0")
    assert "JSII_NODE" not in node.settings({"PATH": str(tmp_path / "bin")})


@pytest.mark.parametrize("version", ["v16.20.2", "what?", None])
def test_the_packaged_node_otherwise(tmp_path: Path, version: str | None) -> None:
    if version:
        fake_node(tmp_path / "bin", version)
    chosen = node.settings({"PATH": str(tmp_path / "bin")})["JSII_NODE"]
    answer = subprocess.run([chosen, "--version"], capture_output=True, text=True, check=True)
    assert int(answer.stdout.removeprefix("v").split(".")[0]) >= node.OLDEST


def test_a_named_node_is_kept_if_it_is_one(tmp_path: Path) -> None:
    program = fake_node(tmp_path / "bin", "v22.1.0")
    assert "JSII_NODE" not in node.settings({"JSII_NODE": str(program), "PATH": ""})
    old = fake_node(tmp_path / "old", "v12.0.0")
    with pytest.raises(SlipwayError, match="no Node"):
        node.settings({"JSII_NODE": str(old)})


def test_synthesis_without_node_on_the_path(tmp_path: Path) -> None:
    done = run_main("local", out=tmp_path / "out", PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    assert read_stack(tmp_path / "out", "local")["resource"]
