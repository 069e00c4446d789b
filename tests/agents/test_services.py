"""The factory's clients: one for all event loops, and credentials that are renewed off the loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from agents.shared import services
from tests.agents.conftest import TOKEN, Platform


def test_connections_are_never_shared_between_event_loops(platform: Platform) -> None:
    client = services.a2a_client()

    async def post() -> int:
        return (await client.post(f"{platform.endpoint}/token")).status_code

    assert [asyncio.run(post()) for _ in range(2)] == [200, 200]


async def test_a_token_is_fetched_once_and_not_on_the_loop(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    renewed = services._Credentials._renewed

    def watched(self: services._Credentials) -> Any:
        threads.append(threading.current_thread())
        return renewed(self)

    monkeypatch.setattr(services._Credentials, "_renewed", watched)
    headers = [await services.bearer() for _ in range(3)]
    assert headers == [f"Bearer {TOKEN}"] * 3
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


async def test_no_memory_finds_and_keeps_nothing(env: pytest.MonkeyPatch) -> None:
    env.setenv("SLIPWAY_MEMORY", "none")
    memory = services.memory()
    await memory.add_events_to_memory(app_name="acme", user_id="maria", events=[])
    found = await memory.search_memory(app_name="acme", user_id="maria", query="euros")
    assert found.memories == []
    assert not services.has_memory()
