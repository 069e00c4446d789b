"""A new agent, with a library of its own, is provisioned, deployed and asked; nothing is edited."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, Slipway

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("new-agent")]
LIBRARY = "tabulate"
"""The kit has it installed (for its tests); no agent's lock names it."""


@pytest.fixture
def slipway(tmp_path: Path) -> Iterator[Slipway]:
    """The command in a copy of the checkout."""
    checkout = tmp_path / "checkout"
    listed = subprocess.run(
        ["git", "ls-files", "agents", "infra", "pipelines", "cdktf.json"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in listed.stdout.split():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, checkout / name)
    command = Slipway(tmp_path / "home", checkout)
    yield command
    command.run("down")


def test_a_new_agent_is_asked_by_the_router(slipway: Slipway) -> None:
    made = slipway.run("agent", "new", "returns", "--requires", LIBRARY)
    assert made.returncode == 0, made.stderr
    folder = slipway.checkout / "agents/returns"
    lock(folder, slipway.checkout)
    agent = folder / "agent.py"
    agent.write_text(f"{agent.read_text()}\nimport {LIBRARY}\n\nassert {LIBRARY}.tabulate([[1]])\n")

    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", folder],
        cwd=slipway.checkout, env=os.environ | {"PYTHONPATH": str(slipway.checkout)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert tested.returncode == 0, tested.stdout

    up = slipway.json("up")
    assert set(up["deployed"]) == {"marketing", "returns", "router", "supply"}
    question = "How many returns of Acme Pure in the Nordics?"
    answer = slipway.json("ask", "local", question, "--user", "lee")
    with (folder / "data/returns.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["brand"] == "Acme Pure"]
    items = sum(int(row["items"]) for row in rows if row["region"] == "Nordics")
    assert f"{items:,} items" in answer["answer"]
    assert [finding["agent"] for finding in answer["findings"]] == ["returns"]


def lock(folder: Path, checkout: Path) -> None:
    """What scripts/lock makes of the agent's requirements.in, from the kit's own lock."""
    assert LIBRARY in (folder / "requirements.in").read_text()
    text = (checkout / "agents/requirements.lock").read_text()
    assert LIBRARY not in text
    entry = re.search(
        rf"^{LIBRARY}==.*(?:\n    --hash.*)+", (ROOT / "requirements.lock").read_text(), re.M
    )
    assert entry
    (folder / "requirements.lock").write_text(f"{text}{entry[0]}\n")
