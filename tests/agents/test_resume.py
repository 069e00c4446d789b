"""A turn that broke off in any node goes on in another process, where it broke off."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.runners import Runner

from agents.router import workflow
from agents.shared import state
from tests.agents.acting import begin, said
from tests.agents.conftest import Platform, Router, router

QUESTION = "Acme Pure spend and stock in the Nordics"
NODES = ["extract", "route", "approve", "marketing", "collect", "writer"]


class Crash(BaseException):
    """What ends a process: nothing catches it."""


async def resumed(asked: Router, session: str, invocation: str) -> list[Any]:
    """The rest of a turn, by a runner of another process."""
    from agents.router.workflow import build

    runner = Runner(app=build("acme"), session_service=asked.sessions, memory_service=asked.memory)
    return [
        event
        async for event in runner.run_async(
            user_id="maria", session_id=session, invocation_id=invocation
        )
    ]


def crash_at(monkeypatch: pytest.MonkeyPatch, node: str) -> None:
    """From now on the node ends the process, in a model's step before its model is asked."""

    async def crash(*_: Any, **__: Any) -> None:
        raise Crash(node)

    def crash_now(*_: Any, **__: Any) -> None:
        raise Crash(node)

    if node in ("extract", "writer"):
        from agents.router.recall import Recall

        process = Recall.process_llm_request

        async def process_or_crash(self: Any, *, tool_context: Any, llm_request: Any) -> None:
            if tool_context.agent_name == node:
                raise Crash(node)
            await process(self, tool_context=tool_context, llm_request=llm_request)

        monkeypatch.setattr(Recall, "process_llm_request", process_or_crash)
    elif node == "route":
        monkeypatch.setattr(workflow, "settle", crash_now)
    elif node == "approve":
        monkeypatch.setattr("agents.router.approval._interrupt", crash_now)
    elif node == "collect":
        monkeypatch.setattr(workflow, "checked", crash_now)
    else:
        monkeypatch.setattr("agents.shared.services.bearer", crash)


@pytest.mark.parametrize("node", NODES)
async def test_a_turn_goes_on_where_it_broke_off(
    platform: Platform, monkeypatch: pytest.MonkeyPatch, node: str
) -> None:
    asked = router()
    session = await begin(asked, "maria")
    with monkeypatch.context() as crashing:
        crash_at(crashing, node)
        with pytest.raises((Crash, BaseExceptionGroup)):
            await asked.ask(QUESTION, session=session)
    stored = await asked.sessions.get_session(app_name="acme", user_id="maria", session_id=session)
    assert stored is not None
    before = {event.author for event in stored.events}
    sent = len(platform.headers)
    events = await resumed(asked, session, stored.events[0].invocation_id)
    text = said(events)
    assert "€147,220" in text
    assert "stock in the Nordics" in text
    assert "extract" not in {event.author for event in events} or "extract" not in before
    if node == "writer":
        assert len(platform.headers) == sent  # the specialists are not asked again
    assert state.FINDINGS.name in str(await asked.stored())
