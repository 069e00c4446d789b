"""Whole turns: the router in this process, its specialists over HTTP, memory as the test says."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from agents.router import workflow
from agents.shared import caller
from agents.shared.offline.llm import OfflineLlm
from tests.agents.conftest import KEY, TOKEN, Platform, Router, router


async def test_memory_fills_the_gap_and_the_answer_says_so(maria: Router) -> None:
    answer = await maria.ask("What did we spend on Acme Pure?")
    assert answer.text == (
        "Acme Pure media spend in Western Europe, 2026-W27 to 2026-W39: €436,449 "
        "(Western Europe and euros because you usually ask for them)."
    )
    (finding,) = answer.findings
    assert (finding["agent"], finding["measure"]) == ("marketing", "media_spend_eur")
    assert (finding["value"], finding["unit"], finding["rows"]) == (436449, "EUR", 13)
    assert finding["filters"] == {
        "brand": ["Acme Pure"], "region": ["Western Europe"], "week": [],
    }  # fmt: skip
    assert finding["sql"].startswith("SELECT sum(spend_eur)")
    spoken = [event for event in answer.events if event["author"] == "writer"]
    assert spoken[-1] is answer.events[-1]


async def test_a_region_named_is_not_changed(maria: Router) -> None:
    answer = await maria.ask("Acme Pure spend in Southern Europe?")
    assert "Southern Europe" in answer.text
    assert "Western Europe" not in answer.text
    assert answer.findings[0]["filters"]["region"] == ["Southern Europe"]


async def test_by_region_shows_all(maria: Router) -> None:
    answer = await maria.ask("Acme Pure spend by region")
    assert "- Western Europe: €436,449\n" in answer.text
    assert [group["keys"]["region"] for group in answer.findings[0]["groups"]] == [
        "Nordics", "North America", "Southern Europe", "Western Europe",
    ]  # fmt: skip


async def test_another_currency_and_no_memory(platform: Platform) -> None:
    answer = await router().ask("Acme Pure spend in Western Europe in pounds", user="sam")
    # 436,449 at 0.86
    assert "£375,346 (at a fixed sample rate of 0.86 GBP for €1)" in answer.text


async def test_both_specialists_in_one_question(maria: Router) -> None:
    answer = await maria.ask("Stock and spend of Acme Bold in the Nordics, by week, weeks 36 to 37")
    assert [finding["agent"] for finding in answer.findings] == ["supply", "marketing"]
    assert answer.text.count("- 2026-W36: ") == 2
    assert "Newest: " in answer.text
    assert "Overall: €" in answer.text


async def test_a_statement_is_acknowledged_and_asks_nobody(
    platform: Platform, maria: Router
) -> None:
    answer = await maria.ask("I work on Western Europe. Always show me euros.")
    assert answer.text == "Noted: you work on Western Europe and amounts in euros."
    assert answer.findings == []
    assert platform.headers == []


@pytest.mark.parametrize(
    "question",
    ["hello", "What did we spend on Acme Ultra?", "Why?", "spend in March", "{}", "{settled}",
     "<PAST_CONVERSATIONS>", "💶"],
)  # fmt: skip
async def test_every_turn_ends_with_an_answer(maria: Router, question: str) -> None:
    answer = await maria.ask(question)
    assert "You can ask for media spend" in answer.text
    assert answer.findings == []


async def test_a_week_without_data_is_no_zero(maria: Router) -> None:
    answer = await maria.ask("Acme Pure spend in week 50")
    assert "there is no data for that; the data has 2026-W27 to 2026-W39" in answer.text
    assert "€0" not in answer.text


async def test_findings_are_those_of_the_turn(maria: Router) -> None:
    session = (await maria.sessions.create_session(app_name="acme", user_id="maria")).id
    assert (await maria.ask("Acme Pure spend", session=session)).findings
    assert (await maria.ask("hello", session=session)).findings == []


async def test_memory_gets_the_users_message_and_nothing_else(maria: Router) -> None:
    await maria.ask("What did we spend on Acme Pure?")
    (written,) = maria.memory.written
    assert json.loads(written)["parts"][0]["text"] == "What did we spend on Acme Pure?"
    assert "436" not in written


async def test_nothing_secret_is_stored(maria: Router) -> None:
    answer = await maria.ask("Acme Pure spend and stock")
    for text in (await maria.stored(), json.dumps(answer.events)):
        assert "436449" in text, "the search must see what is stored"
        for secret in (TOKEN, KEY, caller.METADATA_KEY, "eyJ", "Bearer"):
            assert secret not in text
        assert "PAST_CONVERSATIONS" not in text
        assert "temp:" not in text


async def test_a_turn_is_stored_once(maria: Router) -> None:
    await maria.ask("Acme Pure spend")
    stored = await maria.stored()
    assert "a2a:response" not in stored
    assert len(stored) < 30_000


async def test_requests_carry_the_agents_token(platform: Platform, maria: Router) -> None:
    await maria.ask("Acme Pure spend")
    (headers,) = platform.headers
    assert headers["authorization"] == f"Bearer {TOKEN}"


async def test_a_specialist_that_is_down_is_named(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPPLY_ENGINE_ID", "404")
    answer = await router("Works on Western Europe").ask("Acme Pure spend and stock")
    assert "€436,449" in answer.text
    assert "The supply agent could not be asked, so stock is missing." in answer.text
    only = await router().ask("Acme Pure stock")
    assert only.text == "The supply agent could not be asked, so stock is missing."
    assert only.findings == []


async def test_a_specialist_without_credentials_for_it_is_named(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/account.json")
    answer = await router().ask("Acme Pure spend")
    assert answer.text == "The marketing agent could not be asked, so media spend is missing."


async def test_two_keys_that_differ_refuse_each_other(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLER_SIGNING_KEY", "a-newer-key-that-the-specialists-do-not-have")
    answer = await router().ask("Acme Pure spend")
    assert answer.text == "The marketing agent could not be asked, so media spend is missing."


async def _send(platform: Platform, metadata: dict[str, Any], text: str) -> dict[str, Any]:
    """Sends one A2A message to marketing, as any client would."""
    body = {
        "message": {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": text}]},
        "metadata": metadata,
    }
    async with httpx.AsyncClient() as client:
        reply = await client.post(
            f"{platform.a2a('marketing')}/message:send",
            json=body,
            headers={"A2A-Version": "1.0"},
        )
    task: dict[str, Any] = reply.json()["task"]
    return task


def _stated(audience: str = "marketing") -> dict[str, str]:
    statement = caller.sign("maria", issuer="router", audience=audience, key=KEY)
    return {caller.METADATA_KEY: statement}


async def test_a_specialist_understands_words(platform: Platform) -> None:
    task = await _send(platform, _stated(), "What did we spend on Acme Pure in Western Europe?")
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    text = task["artifacts"][-1]["parts"][-1]["text"]
    assert json.loads(text)["findings"][0]["value"] == 436449
    refusal = await _send(platform, _stated(), "Tell me a joke")
    text = refusal["artifacts"][-1]["parts"][-1]["text"]
    assert "media spend" in json.loads(text)["problem"].lower()


@pytest.mark.parametrize("metadata", [{}, {"user": "maria"}, _stated("supply")])
async def test_a_specialist_refuses_who_does_not_say_who_asks(
    platform: Platform, metadata: dict[str, Any]
) -> None:
    task = await _send(platform, metadata, "Acme Pure spend")
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert "marketing refused the request" in task["status"]["message"]["parts"][0]["text"]
    assert "artifacts" not in task


class _Broken(OfflineLlm):
    """A model that cannot be reached."""

    async def generate_content_async(self, *_: Any, **__: Any) -> Any:
        if self.model:
            raise ConnectionError("no model today")
        yield


async def test_a_model_that_fails_leaves_the_rules(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workflow, "model", lambda rule: _Broken(rule=rule))
    answer = await router("Works on Western Europe").ask("What did we spend on Acme Pure?")
    assert "€436,449" in answer.text
