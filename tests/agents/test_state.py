"""Session state: what is written is declared."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.memory.base_memory_service import SearchMemoryResponse

from agents.shared.state import FILE, KEYS, LAST_RUN, PENDING
from tests.agents.conftest import Platform, router

TEAM = "I work in marketing."
DECLARED = {key.name for key in KEYS}


@pytest.mark.parametrize(
    "question",
    ["Acme Pure spend and stock", "I work on the Nordics.", "hello", "spend of Acme Ultra"],
)
async def test_a_turn_writes_declared_keys_alone(platform: Platform, question: str) -> None:
    answer = await router("Works on Western Europe").ask(question)
    assert {key for event in answer.events for key in event["actions"]["state_delta"]} <= DECLARED


async def test_what_is_declared_is_written(platform: Platform) -> None:
    asked = router("Works on Western Europe")
    deltas = [event["actions"]["state_delta"] for event in (await asked.ask("spend")).events]

    async def fails(**_: Any) -> SearchMemoryResponse:
        raise ConnectionError

    deltas += [event["actions"]["state_delta"] for event in (await asked.ask(TEAM)).events]
    asked.memory.search_memory = fails  # type: ignore[method-assign]
    deltas += [event["actions"]["state_delta"] for event in (await asked.ask("spend")).events]
    written = {key for delta in deltas for key in delta}
    # What an action writes is in test_replan.py, and a file in test_table.py.
    keys = [key for key in KEYS if key not in (PENDING, LAST_RUN, FILE)]
    assert {key.name for key in keys} - written <= {k.name for k in KEYS if k.prefix == "temp:"}
    stored = await asked.stored()
    for key in keys:
        assert (f'"{key.name}"' in stored) == (key.prefix != "temp:"), key.name
