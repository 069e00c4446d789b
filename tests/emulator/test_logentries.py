"""Cloud Logging's listing of what engines wrote."""

from __future__ import annotations

from typing import Any

from tests.emulator.conftest import PROJECT, Deployer, Local


def listed(local: Local, engine: str, **options: Any) -> Any:
    id_ = engine.rpartition("/")[2]
    body = {
        "resourceNames": [f"projects/{PROJECT}"],
        "filter": f'resource.labels.reasoning_engine_id="{id_}"',
        **options,
    }
    return local.rest("POST", "v2/entries:list", body)


def test_lines_of_an_engine_in_both_orders(local: Local, deployer: Deployer) -> None:
    name = deployer.deployed()
    assert "error" not in deployer.patch(name, deployer.spec())
    up = listed(local, name).json()["entries"]
    down = listed(local, name, orderBy="timestamp desc").json()["entries"]
    assert up == down[::-1]
    revisions = [entry["resource"]["labels"]["runtime_revision"] for entry in up]
    assert set(revisions) == {"1", "2"}
    assert revisions == sorted(revisions)
    assert any(entry["textPayload"].startswith("serving after") for entry in up)


def test_the_newest_are_kept_of_too_many(local: Local, echo: str) -> None:
    [last] = listed(local, echo, pageSize=1).json()["entries"]
    assert last == listed(local, echo).json()["entries"][-1]


def test_an_engine_that_is_not_there_wrote_nothing(local: Local) -> None:
    assert listed(local, "projects/x/locations/y/reasoningEngines/99").json() == {"entries": []}


def test_what_is_refused(local: Local, echo: str) -> None:
    assert listed(local, echo, filter="severity>=ERROR").status_code == 400
    assert listed(local, echo, pageSize=0).status_code == 200, "0 is the default"
    assert listed(local, echo, pageSize="many").status_code == 400
