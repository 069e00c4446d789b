"""What every REST handler may take for granted of a body."""

from __future__ import annotations

from typing import Any

import pytest

from tests.emulator.conftest import PROJECT, Local

ENGINE = "ENGINE"  # stands for one that the test makes


def _engine(local: Local) -> str:
    made = local.rest("POST", f"v1beta1/{local.parent}/reasoningEngines", {"displayName": "x"})
    return "v1beta1/" + str(made.json()["name"].split("/operations/")[0])


@pytest.mark.parametrize(
    ("path", "body", "where"),
    [
        (f"v1/projects/{PROJECT}/secrets?secretId=s", {"replication": 4}, "replication"),
        (f"v1/projects/{PROJECT}:setIamPolicy", {"policy": 5}, "policy"),
        (f"v1/projects/{PROJECT}:setIamPolicy", {"policy": {"bindings": 5}}, "policy.bindings"),
        (f"v1/projects/{PROJECT}:setIamPolicy", {"policy": {"bindings": [5]}}, "policy.bindings"),
        (
            f"v1/projects/{PROJECT}/serviceAccounts",
            {"accountId": "abcdefg", "serviceAccount": 5},
            "serviceAccount",
        ),
        (f"{ENGINE}/memories:generate", {"direct_contents_source": 5}, "direct_contents_source"),
        (
            f"{ENGINE}/memories:generate",
            {"directContentsSource": {"events": [{"content": {"parts": "hi"}}]}},
            "directContentsSource.events[0].content.parts",
        ),
        (f"{ENGINE}/sessions", {"userId": "u", "sessionState": 5}, "sessionState"),
    ],
)
def test_a_wrong_kind_is_refused_with_its_path(
    local: Local, path: str, body: dict[str, Any], where: str
) -> None:
    if path.startswith(ENGINE):
        path = path.replace(ENGINE, _engine(local), 1)
    answer = local.rest("POST", path, body)
    assert answer.status_code == 400, answer.text
    assert f"'{where}'" in answer.json()["error"]["message"]


def test_maps_hold_what_they_like(local: Local) -> None:
    """Google's clients keep free data under these names: no rule looks inside."""
    state = {"policy": 5, "bindings": "x", "spec": ["y"]}
    engine = _engine(local)
    done = local.rest("POST", f"{engine}/sessions", {"userId": "u", "sessionState": state}).json()
    assert done["response"]["sessionState"] == state
