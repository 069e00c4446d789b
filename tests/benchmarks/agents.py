"""The router beside a plain ADK router of the same shape: `python tests/benchmarks/agents.py`.

Both run in this process over in-memory sessions, on the offline model and the sample data, and ask
the same two specialists over HTTP. The plain one is what ADK's documentation leads to: two model
steps with PreloadMemoryTool around two RemoteA2aAgents that are named by the URL of their card.
Prints JSON; times in milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import Agent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.apps.app import App
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.adk.workflow import START, JoinNode, Workflow
from google.genai import types

from agents.router import agent as router_agent
from agents.shared import caller
from agents.shared.offline.llm import OfflineLlm
from agents.shared.offline.reading import read
from tests.agents.conftest import KEY, Notebook, Platform, environment, serving

ROOT = Path(__file__).parents[2]
QUESTIONS = [
    "What did we spend on Acme Pure?",
    "How much Acme Bold is in stock in the Nordics?",
    "Acme Verde spend and stock by region",
    "Acme Pure clicks in the last 4 weeks",
]
WARM, MEASURED, GROWN = 3, 20, 40
START_UP = "from agents.{0}.agent import app; app.set_up()"


@dataclass
class Counted:
    """What a router did, turn by turn."""

    milliseconds: list[float] = field(default_factory=list)
    events: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    models: int = 0
    searches: int = 0


def plain(platform: Platform) -> App:
    """The plain router."""

    def remote(name: str) -> RemoteA2aAgent:
        # The specialists refuse who does not say who asks.
        statement = caller.sign("maria", issuer="router", audience=name, key=KEY)
        return RemoteA2aAgent(
            name=name,
            agent_card=f"{platform.endpoint}/{name}/own-card",
            a2a_request_meta_provider=lambda *_: {caller.METADATA_KEY: statement},
        )

    extract = Agent(
        name="extract",
        model=OfflineLlm(rule=lambda turn: read(turn.text).model_dump_json()),
        tools=[PreloadMemoryTool()],
    )
    writer = Agent(
        name="writer",
        model=OfflineLlm(rule=lambda turn: turn.text[:500]),
        tools=[PreloadMemoryTool()],
    )
    specialists = (remote("marketing"), remote("supply"))
    chain = (START, extract, specialists, JoinNode(name="join"), writer)
    return App(name="acme", root_agent=Workflow(name="router", edges=[chain]))


async def talk(app: App, turns: int, *, one_session: bool) -> Counted:
    """Asks in one conversation, or in a new one each time."""
    counted, memory = Counted(), Notebook("Works on Western Europe", "Prefers euros")
    sessions = InMemorySessionService()
    runner = Runner(app=app, session_service=sessions, memory_service=memory)
    with pytest.MonkeyPatch.context() as patch:
        _count(patch, counted, memory)
        session, size, events = None, 0, 0
        for number in range(turns):
            if session is None or not one_session:
                session = (await sessions.create_session(app_name="acme", user_id="maria")).id
                size, events = 0, 0
            began = time.perf_counter()
            await _ask(runner, session, QUESTIONS[number % len(QUESTIONS)])
            counted.milliseconds.append((time.perf_counter() - began) * 1000)
            stored = sessions.sessions["acme"]["maria"][session]
            whole = sum(len(event.model_dump_json(exclude_none=True)) for event in stored.events)
            counted.stored.append(whole - size)
            counted.events.append(len(stored.events) - events)
            size, events = whole, len(stored.events)
    await runner.close()
    return counted


async def _ask(runner: Runner, session: str, question: str) -> None:
    message = types.UserContent(question)
    async for _ in runner.run_async(user_id="maria", session_id=session, new_message=message):
        pass


def _count(patch: pytest.MonkeyPatch, counted: Counted, memory: Notebook) -> None:
    generate, search = OfflineLlm.generate_content_async, memory.search_memory

    async def generating(self: Any, request: Any, stream: bool = False) -> Any:
        # The specialists' models run in this process as well; those of a router have its names.
        if request.config and "look numbers up" not in str(request.config.system_instruction):
            counted.models += 1
        async for response in generate(self, request, stream):
            yield response

    async def searching(**options: Any) -> Any:
        counted.searches += 1
        return await search(**options)

    patch.setattr(OfflineLlm, "generate_content_async", generating)
    patch.setattr(memory, "search_memory", searching)


def measure(platform: Platform, app: App) -> dict[str, Any]:
    """One router: single questions, then a conversation of 40 turns."""
    asyncio.run(talk(app, WARM, one_session=False))
    platform.paths.clear()
    single = asyncio.run(talk(app, MEASURED, one_session=False))
    cards = sum(path.endswith("/own-card") for path in platform.paths)
    asked = len(platform.paths) - cards
    grown = asyncio.run(talk(app, GROWN, one_session=True))
    # A turn of the same question each time, so that only what lies before it differs.
    early, late = (
        grown.milliseconds[4::4][:2],
        grown.milliseconds[36::4] + grown.milliseconds[32::4][:1],
    )
    return {
        "latency_ms": {
            "median": round(statistics.median(single.milliseconds), 1),
            "p95": round(statistics.quantiles(single.milliseconds, n=20)[-1], 1),
        },
        "events_per_turn": statistics.mean(single.events),
        "bytes_per_turn": round(statistics.mean(single.stored)),
        "memory_searches_per_turn": single.searches / MEASURED,
        "model_calls_per_turn": single.models / MEASURED,
        "a2a_requests_per_turn": asked / MEASURED,
        "card_fetches_per_turn": cards / MEASURED,
        "growth": {
            "turn_5_ms": round(statistics.mean(early), 1),
            "turn_40_ms": round(statistics.mean(late), 1),
            "ratio": round(statistics.mean(late) / statistics.mean(early), 2),
            "bytes_turn_5": grown.stored[4],
            "bytes_turn_37": grown.stored[36],
        },
    }


def cold(agent: str) -> int:
    """Milliseconds until an agent's process could serve: imports and set_up, the best of three."""
    best = float("inf")
    env = os.environ | environment() | {"PYTHONPATH": str(ROOT)}
    for _ in range(3):
        began = time.perf_counter()
        command = [sys.executable, "-W", "ignore", "-c", START_UP.format(agent)]
        subprocess.run(command, env=env, check=True, capture_output=True, cwd=ROOT)
        best = min(best, time.perf_counter() - began)
    return round(best * 1000)


def main() -> None:
    """Measures both."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    from agents.router.workflow import build

    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
        serving(patch, Path(folder), {"SLIPWAY_TURNS_PER_MINUTE": "10000"}) as platform,
        contextlib.redirect_stdout(io.StringIO()),
    ):
        ours = measure(platform, build(router_agent.APP_NAME))
        theirs = measure(platform, plain(platform))
    ratio = ours["bytes_per_turn"] / theirs["bytes_per_turn"]
    found = {
        "slipway": ours,
        "plain_adk": theirs,
        "bytes_ratio": round(ratio, 3),
        "latency_ratio": round(ours["latency_ms"]["median"] / theirs["latency_ms"]["median"], 2),
        "cold_start_ms": {agent: cold(agent) for agent in ("router", "marketing", "supply")},
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
