"""Instances and limits of a live agent."""

from __future__ import annotations

from typing import Any

import pytest

from infra.errors import InputError, RemoteError
from services.release import scale
from tests.release.worlds import World


def scaled(world: World, **changes: Any) -> Any:
    return scale.scale(world.site, world.manifests, "supply", changes, lambda line: None)


def test_the_same_bundle_runs_with_other_numbers_until_the_next_deployment(world: World) -> None:
    world.deploy()
    before = world.engine("supply")["spec"]
    assert scaled(world, max_instances=20, memory="8Gi", cpu="4") is not None
    deployment = world.engine("supply")["spec"]["deploymentSpec"]
    assert deployment["maxInstances"] == 20
    assert deployment["resourceLimits"] == {"cpu": "4", "memory": "8Gi"}
    assert deployment["env"] == before["deploymentSpec"]["env"]
    assert scale.current(world.site, "supply").max_instances == 20
    document = world.document(2)
    assert (document["action"], document["status"]) == ("scale supply", "succeeded")
    assert world.query("supply", "hi")["output"] == "hello"
    assert world.deploy().changed == ("supply",)
    assert scale.current(world.site, "supply").max_instances == 3


def test_numbers_that_are_there_already_write_nothing(world: World) -> None:
    world.deploy()
    assert scaled(world, max_instances=3) is None
    assert world.bucket("control").read("deployments/0002.json") is None


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"max_instances": 0}, "max_instances"),
        ({"min_instances": 5}, "must not be greater than max_instances"),
        ({"memory": "lots"}, "memory"),
        ({"memory": "32Gi"}, "needs cpu = 8"),
    ],
)
def test_numbers_that_do_not_fit_change_nothing(
    world: World, changes: dict[str, Any], what: str
) -> None:
    world.deploy()
    with pytest.raises(InputError, match=what):
        scaled(world, **changes)
    assert world.bucket("control").read("deployments/0002.json") is None


def test_an_agent_that_serves_nothing_or_is_none(world: World) -> None:
    with pytest.raises(RemoteError, match="serves no release"):
        scaled(world, max_instances=20)
    with pytest.raises(InputError, match="no engine for the agent 'nobody'"):
        scale.current(world.site, "nobody")
