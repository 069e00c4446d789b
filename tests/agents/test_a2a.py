"""What a specialist says of itself, and both versions of the protocol."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from agents.shared import caller
from agents.shared.semantic import catalog
from tests.agents.conftest import KEY, Platform

TEXT = [{"text": "How much Acme Bold is in stock?"}]
NEWEST = {"messageId": "m1", "role": "ROLE_USER", "parts": TEXT}
OLDER = {"messageId": "m1", "role": "ROLE_USER", "content": TEXT}


@pytest.mark.parametrize("agent", ["marketing", "supply"])
def test_a_card_names_both_versions_and_everything_that_can_be_asked(
    platform: Platform, agent: str
) -> None:
    card = httpx.get(f"{platform.a2a(agent)}/card").json()
    interfaces = {item["protocolVersion"]: item for item in card["supportedInterfaces"]}
    assert set(interfaces) == {"1.0", "0.3"}
    assert {item["protocolBinding"] for item in interfaces.values()} == {"HTTP+JSON"}
    [url] = {item["url"] for item in interfaces.values()}
    assert url.endswith("/a2a")
    # What a client of 0.3 reads.
    assert (card["protocolVersion"], card["url"]) == ("0.3", url)
    assert {skill["id"] for skill in card["skills"]} == set(catalog().all_of(agent))


@pytest.mark.parametrize(
    ("path", "message", "headers"),
    [
        ("/message:send", {"message": NEWEST}, {"A2A-Version": "1.0"}),
        ("/v1/message:send", {"request": OLDER}, {}),
    ],
    ids=["1.0", "0.3"],
)
def test_it_answers_in_both_versions(
    platform: Platform, path: str, message: dict[str, Any], headers: dict[str, str]
) -> None:
    statement = caller.sign("maria", issuer="router", audience="supply", key=KEY)
    body = {**message, "metadata": {caller.METADATA_KEY: statement}}
    url = f"{platform.a2a('supply')}{path}"
    answer = httpx.post(url, json=body, headers=headers, timeout=30)
    assert answer.status_code == 200
    text = answer.json()["task"]["artifacts"][0]["parts"][0]["text"]
    assert json.loads(text)["findings"][0]["value"] == 108_222
    refused = httpx.post(url, json=message, headers=headers, timeout=30)
    assert "108" not in refused.text
