"""Runtime revisions and traffic: which deployed code answers whom."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.emulator.conftest import Deployer, Local

AGENT = """
class Agent:
    def query(self, *, message: str = "") -> str:
        return "{word}"

app = Agent()
"""


def spec(deployer: Deployer, word: str) -> dict[str, Any]:
    return deployer.spec(methods={"query": ""}, agent__py=AGENT.replace("{word}", word))


@pytest.fixture
def engine(deployer: Deployer) -> str:
    """An engine with two deployed revisions, `one` and `two`."""
    name = deployer.engine()
    for word in ("one", "two"):
        assert "error" not in deployer.patch(name, spec(deployer, word))
    return name


def revisions(local: Local, engine: str) -> list[str]:
    """Full names, the oldest first."""
    answer = local.rest("GET", f"v1beta1/{engine}/runtimeRevisions").json()
    return [body["name"] for body in reversed(answer["reasoningEngineRuntimeRevisions"])]


def traffic(local: Local, engine: str, **percent: int) -> Any:
    names = revisions(local, engine)
    if percent:
        targets = [
            {"runtimeRevisionName": names[int(key[1:]) - 1], "percent": value}
            for key, value in percent.items()
        ]
        config: dict[str, Any] = {"trafficSplitManual": {"targets": targets}}
    else:
        config = {"trafficSplitAlwaysLatest": {}}
    path = f"v1beta1/{engine}?updateMask=trafficConfig"
    return local.rest("PATCH", path, {"trafficConfig": config})


def answers(deployer: Deployer, engine: str, times: int = 1) -> Counter[str]:
    return Counter(deployer.query(engine).json()["output"] for _ in range(times))


def test_traffic_goes_to_the_latest_by_default(deployer: Deployer, engine: str) -> None:
    assert answers(deployer, engine, 3) == {"two": 3}


def test_a_revision_keeps_its_spec_without_its_source(local: Local, engine: str) -> None:
    first = local.rest("GET", f"v1beta1/{revisions(local, engine)[0]}").json()
    assert first["state"] == "ACTIVE"
    assert first["spec"]["classMethods"][0]["name"] == "query"
    assert first["spec"]["sourceCodeSpec"]["inlineSource"] == {}


def test_pinned_traffic_stays_when_a_spec_is_deployed(
    local: Local, deployer: Deployer, engine: str
) -> None:
    assert traffic(local, engine, r1=100).status_code == 200
    assert answers(deployer, engine, 3) == {"one": 3}
    deployer.patch(engine, spec(deployer, "three"))
    assert answers(deployer, engine, 3) == {"one": 3}
    third = revisions(local, engine)[2]
    body = {"classMethod": "query", "input": {}}
    asked = local.rest("POST", f"v1beta1/{third}:query", body)
    assert asked.json()["output"] == "three"
    traffic(local, engine)
    assert answers(deployer, engine, 3) == {"three": 3}


def test_traffic_is_split_by_percent(local: Local, deployer: Deployer, engine: str) -> None:
    traffic(local, engine, r1=50, r2=50)
    found = answers(deployer, engine, 60)
    # Less than 10 of 60 at one half: once in ten million runs.
    assert min(found["one"], found["two"]) >= 10


def test_an_older_revision_can_be_asked_after_its_process_ended(
    local: Local, deployer: Deployer, engine: str
) -> None:
    first = revisions(local, engine)[0]
    body = {"classMethod": "query", "input": {}}
    assert local.rest("POST", f"v1beta1/{first}:query", body).json()["output"] == "one"


@pytest.mark.parametrize(
    "percent", [{"r1": 99}, {"r1": 60, "r2": 60}, {"r1": -1, "r2": 101}, {"r1": 0, "r2": 0}]
)
def test_a_split_that_is_none_is_refused(
    local: Local, engine: str, percent: dict[str, int]
) -> None:
    answer = traffic(local, engine, **percent)
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


def test_traffic_to_another_engines_revision_is_refused(
    local: Local, deployer: Deployer, engine: str, echo: str
) -> None:
    foreign = revisions(local, echo)[0]
    config = {"trafficSplitManual": {"targets": [{"runtimeRevisionName": foreign, "percent": 100}]}}
    path = f"v1beta1/{engine}?updateMask=trafficConfig"
    assert local.rest("PATCH", path, {"trafficConfig": config}).status_code == 400


def test_a_revision_that_serves_cannot_be_deleted(local: Local, engine: str) -> None:
    first, second = revisions(local, engine)
    assert local.rest("DELETE", f"v1beta1/{second}").status_code == 400
    assert local.rest("DELETE", f"v1beta1/{first}").status_code == 200
    assert revisions(local, engine) == [second]


def test_pinned_traffic_survives_a_restart(own: Local) -> None:
    deployer = Deployer(own)
    name = deployer.engine()
    for word in ("one", "two"):
        deployer.patch(name, spec(deployer, word))
    traffic(own, name, r1=100)
    own.restart()
    assert answers(deployer, name, 3) == {"one": 3}


def test_the_sdk_lists_and_reads_them(sdk: Any, local: Local, engine: str) -> None:
    listed = sdk.runtimes.revisions.list(name=engine)
    names = [revision.api_resource.name for revision in listed]
    assert names == list(reversed(revisions(local, engine)))
    one = sdk.runtimes.revisions.get(name=names[0])
    assert one.api_resource.state == "ACTIVE"


def test_an_etag_that_is_no_longer_its_own_is_refused(local: Local, engine: str) -> None:
    etag = local.rest("GET", f"v1beta1/{engine}").json()["etag"]
    path = f"v1beta1/{engine}?updateMask=displayName"
    first = local.rest("PATCH", path, {"displayName": "a", "etag": etag})
    assert first.status_code == 200
    second = local.rest("PATCH", path, {"displayName": "b", "etag": etag})
    assert (second.status_code, second.json()["error"]["status"]) == (409, "ABORTED")
