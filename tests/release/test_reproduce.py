"""A second build in other conditions, of the real agents, and why each file is in a bundle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from infra import manifest
from infra.errors import Finding
from scripts.package import compare
from services.release import reproduce, sources
from services.release.packaging import package
from tests.infra.synth import ROOT


def test_the_real_agents_are_the_same_elsewhere(cache: Path) -> None:
    agents = manifest.load_all(ROOT)
    found = reproduce.digests(ROOT, agents.values())
    assert found == {name: package(ROOT, agent, cache).digest for name, agent in agents.items()}


def test_a_difference_is_a_finding(cache: Path) -> None:
    agents = {"supply": manifest.load_all(ROOT)["supply"]}
    built = package(ROOT, agents["supply"], cache)
    with pytest.raises(Finding, match="another bundle came out: supply") as caught:
        compare(ROOT, agents, {"supply": replace(built, digest="0" * 64)})
    assert caught.value.exit_code == 3


def test_every_file_says_why_it_is_in(checkout: Path) -> None:
    agent = manifest.load_all(checkout)["router"]
    why = {file.path: file.why for file in sources.collect(checkout, agent)}
    assert all(why.values())
    assert why["agents/router/data/a.csv"] == "include = 'data/*.csv'"
    assert why["agents/shared/words.py"].startswith("imported by agents/")
    assert why["agents/shared/words.json"] == "named in agents/shared/words.py"
    assert why["requirements.txt"] == "requirements of agents/router/agent.toml"
