"""The folder of a new agent: whole, or nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import manifest, new_agent
from infra.errors import InputError


def test_it_is_an_agent_that_the_router_asks(checkout: Path) -> None:
    written = new_agent.write(checkout, "spare_parts")
    assert Path("agents/spare_parts/agent.toml") in written
    assert all((checkout / path).is_file() for path in written)
    found = manifest.load_all(checkout)
    assert found["spare_parts"].entrypoint == "agents.spare_parts.agent:app"
    assert "spare_parts" in found["router"].calls
    assert "SPARE_PARTS_ENGINE_ID" in found["router"].env
    texts = [(checkout / path).read_text() for path in written]
    assert not any("@" in text.replace("@click", "") for text in texts)


def test_what_only_it_needs_is_in_a_lock_of_its_own(checkout: Path) -> None:
    new_agent.write(checkout, "forecast", requires=("statsmodels>=0.14",))
    assert (
        manifest.load_all(checkout)["forecast"].requirements == "agents/forecast/requirements.lock"
    )
    lines = (checkout / "agents/forecast/requirements.in").read_text().split()
    assert lines == ["-r", "../requirements.in", "statsmodels>=0.14"]


@pytest.mark.parametrize(
    "name", ["", "Returns", "1st", "a-b", "x" * 32, "shared", "../x", "router", "deployer"]
)
def test_a_name_that_cannot_be_leaves_nothing(checkout: Path, name: str) -> None:
    before = sorted(checkout.rglob("*"))
    with pytest.raises(InputError):
        new_agent.write(checkout, name)
    assert sorted(checkout.rglob("*")) == before
