"""Traffic by hand."""

from __future__ import annotations

import pytest

from infra.errors import InputError
from services.release import splitting
from tests.release.worlds import World


def shares(world: World) -> dict[str, int]:
    return {r.number: r.percent for r in splitting.revisions(world.site, "supply")}


def test_all_of_it_goes_to_the_latest_until_it_is_split(two: World) -> None:
    assert shares(two) == {"2": 100, "1": 0}
    splitting.split(two.site, "supply", {"1": 100})
    assert shares(two) == {"2": 0, "1": 100}
    assert two.query("supply", "hi")["output"] == "hello"
    splitting.split(two.site, "supply", {})
    assert two.query("supply", "hi")["output"] == "hallo"


def test_the_next_deployment_moves_it_to_what_it_deployed(two: World) -> None:
    splitting.split(two.site, "supply", {"1": 90, "2": 10})
    assert two.deploy().changed == ("supply",)
    assert shares(two) == {"2": 100, "1": 0}


@pytest.mark.parametrize("wanted", [{"9": 100}, {"1": 99}, {"1": 60, "2": 60}, {"1": 150}])
def test_what_is_no_split_changes_nothing(two: World, wanted: dict[str, int]) -> None:
    with pytest.raises(InputError):
        splitting.split(two.site, "supply", wanted)
    assert shares(two) == {"2": 100, "1": 0}


def test_an_agent_that_is_not_there(two: World) -> None:
    with pytest.raises(InputError, match="no engine for the agent 'nobody'"):
        splitting.revisions(two.site, "nobody")
