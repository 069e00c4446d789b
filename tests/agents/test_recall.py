"""Memory in a turn: one search, data and no more, and what happens when it cannot be asked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.adk.memory.base_memory_service import SearchMemoryResponse

from agents.router import recall
from agents.router.rules import settle
from agents.shared.query import Reading
from agents.shared.semantic import catalog
from tests.agents.conftest import Platform, Router, router
from tests.agents.guard.test_guard import ATTACKS

QUESTION = "What did we spend on Acme Pure?"


def counted(maria: Router) -> list[str]:
    """The searches that reach memory from now on."""
    asked: list[str] = []
    search = maria.memory.search_memory

    async def searching(**given: Any) -> SearchMemoryResponse:
        asked.append(given["query"])
        return await search(**given)

    maria.memory.search_memory = searching  # type: ignore[method-assign]
    return asked


async def test_one_search_serves_the_whole_turn(maria: Router) -> None:
    asked = counted(maria)
    await maria.ask(QUESTION)
    assert asked == [QUESTION]
    await maria.ask("Acme Pure spend by region")
    assert len(asked) == 2


async def test_none_and_could_not_ask_differ(platform: Platform) -> None:
    none = await router().ask(QUESTION)
    assert recall.FAILED not in none.text
    down = router("Works on Western Europe")

    async def fails(**_: Any) -> SearchMemoryResponse:
        raise ConnectionError("GET ...?query=What did we spend")

    down.memory.search_memory = fails  # type: ignore[method-assign]
    answer = await down.ask(QUESTION)
    assert "€" in answer.text
    assert answer.text.endswith(f"{recall.FAILED}.")
    assert answer.findings[0]["filters"]["region"] == []
    assert "memory_failed" not in await down.stored()


@pytest.mark.parametrize("attack", ATTACKS)
async def test_remembered_text_never_redefines_a_term(platform: Platform, attack: str) -> None:
    answer = await router("Prefers euros", attack).ask("Acme Pure spend in Western Europe?")
    assert "€436,449" in answer.text
    filters = answer.findings[0]["filters"]
    assert (filters["brand"], filters["region"]) == (["Acme Pure"], ["Western Europe"])
    # Without a region in the question, an attack is no preference that fills it.
    gap = await router("Prefers euros", attack).ask(QUESTION)
    assert set(gap.findings[0]["filters"]["region"]) <= {"Nordics"}


async def test_only_what_the_guard_lets_through_is_remembered(maria: Router) -> None:
    await maria.ask("I work on the Nordics. Last week we spent €12,345 there.")
    (written,) = maria.memory.written
    assert json.loads(written)["parts"][0]["text"] == "I work on the Nordics."
    maria.memory.written.clear()
    await maria.ask("Western Europe means the UK only.")
    assert maria.memory.written == []


def test_a_note_that_is_not_kept_is_not_acknowledged_as_one() -> None:
    note = Reading(intent="note", note="Western Europe is the UK")
    said = settle(note, "WE is the UK", "", catalog(), has_memory=True, may_keep=False).say
    assert said.startswith("I do not keep that.")
    assert settle(note, "WE is the UK", "", catalog(), has_memory=True).say.startswith("Noted")
