"""Faults that were ordered happen, once each, and the server tells whether they fired."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.emulator.conftest import PROJECT, Deployer, Local

SECRETS = f"v1/projects/{PROJECT}/secrets"


@pytest.fixture
def faulty(local: Local) -> Iterator[Local]:
    yield local
    local.rest("DELETE", "_faults")


def order(local: Local, **fault: Any) -> None:
    answer = local.rest("POST", "_faults", fault)
    assert answer.status_code == 200, answer.text


def fired(local: Local) -> list[int]:
    return [fault["fired"] for fault in local.rest("GET", "_faults").json()["faults"]]


def test_an_answer_is_given_so_many_times(faulty: Local) -> None:
    order(faulty, method="GET", path="/secrets$", times=2, status=503, retryAfter=1)
    found = [faulty.rest("GET", SECRETS) for _ in range(3)]
    assert [answer.status_code for answer in found] == [503, 503, 200]
    assert found[0].json()["error"]["status"] == "UNAVAILABLE"
    assert found[0].headers["Retry-After"] == "1"
    assert fired(faulty) == [2]


def test_other_calls_are_left_alone(faulty: Local) -> None:
    order(faulty, method="PATCH", path="/secrets$", status=500)
    assert faulty.rest("GET", SECRETS).status_code == 200
    assert fired(faulty) == [0]


@pytest.mark.parametrize(("when", "there"), [("before", 404), ("after", 200)])
def test_a_reset_before_or_after_the_effect(faulty: Local, when: str, there: int) -> None:
    order(faulty, method="POST", path="/secrets$", reset=when)
    with pytest.raises(httpx.TransportError):
        faulty.rest("POST", f"{SECRETS}?secretId=reset-{when}", {"replication": {"automatic": {}}})
    assert faulty.rest("GET", f"{SECRETS}/reset-{when}").status_code == there
    assert fired(faulty) == [1]


def test_a_slow_answer(faulty: Local) -> None:
    order(faulty, path="/secrets$", delay=0.3)
    started = time.monotonic()
    assert faulty.rest("GET", SECRETS).status_code == 200
    assert time.monotonic() - started >= 0.3


def test_a_stale_read(faulty: Local) -> None:
    path = f"{SECRETS}/stale"
    faulty.rest("POST", f"{SECRETS}?secretId=stale", {"replication": {"automatic": {}}})
    order(faulty, method="GET", path="/none$", status=500)
    before = faulty.rest("GET", path).json()
    faulty.rest("PATCH", f"{path}?updateMask=labels", {"labels": {"a": "b"}})
    order(faulty, method="GET", path="/stale$", stale=True)
    assert faulty.rest("GET", path).json() == before
    assert faulty.rest("GET", path).json()["labels"] == {"a": "b"}


def test_an_operation_that_fails_has_no_effect(faulty: Local, deployer: Deployer) -> None:
    engine = deployer.engine()
    order(faulty, method="PATCH", path="reasoningEngines", operation="fails")
    assert "was ordered" in deployer.patch(engine, deployer.spec())["error"]["message"]
    assert "spec" not in faulty.rest("GET", f"v1beta1/{engine}").json()


@pytest.mark.parametrize(
    "fault",
    [
        {"path": "x"},
        {"path": "x", "status": 500, "reset": "before"},
        {"path": "(", "status": 500},
        {"path": "x", "reset": "during"},
        {"path": "x", "unknown": 1},
        {"status": 500},
    ],
)
def test_what_is_no_order(faulty: Local, fault: dict[str, Any]) -> None:
    assert faulty.rest("POST", "_faults", fault).status_code == 400
