"""The kill switch's object: several people, and what nobody should have written."""

from __future__ import annotations

import json

import pytest

from infra.errors import InputError, RemoteError
from services.release import switch
from services.release.records import NOT_THERE
from tests.release.worlds import World


def test_agents_are_switched_one_by_one(world: World) -> None:
    assert switch.off(world.site) == {}
    switch.turn(world.site, off={"supply": "Counting."})
    switch.turn(world.site, off={"router": "Closed.", "supply": "Still counting."})
    assert switch.off(world.site) == {"router": "Closed.", "supply": "Still counting."}
    switch.turn(world.site, on=["router"])
    assert switch.off(world.site) == {"supply": "Still counting."}
    stored = world.bucket("control").read(switch.PATH)
    assert stored is not None
    assert json.loads(stored.data) == {"supply": "Still counting."}


@pytest.mark.parametrize("off", [{"suply": "x"}, {"supply": " "}, {"supply": "x" * 501}])
def test_what_cannot_be_meant_changes_nothing(world: World, off: dict[str, str]) -> None:
    with pytest.raises(InputError):
        switch.turn(world.site, off=off)
    assert switch.off(world.site) == {}


@pytest.mark.parametrize("data", [b"[]", b"no JSON", b'{"supply": 1}'])
def test_an_object_that_somebody_else_wrote_is_told(world: World, data: bytes) -> None:
    written = world.bucket("control").write(
        switch.PATH, data, "application/json", generation=NOT_THERE
    )
    assert written is not None
    with pytest.raises(RemoteError, match="no sentence by agent"):
        switch.turn(world.site, on=["supply"])
    stored = world.bucket("control").read(switch.PATH)
    assert stored is not None
    assert stored.data == data
