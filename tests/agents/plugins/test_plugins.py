"""What every agent runs with, beside its own work."""

from __future__ import annotations

import json
import logging
import time
from types import SimpleNamespace
from typing import Any

import pytest
from google.adk.models import LlmRequest
from google.adk.plugins import ToolCallIntegrityPlugin
from google.genai import types
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agents.shared import looking_up
from agents.shared.plugins import deadline, limit, plugins, redaction, switch
from agents.shared.settings import SetupError
from tests.agents.acting import Workspace, begin, paused, turn
from tests.agents.conftest import Platform, Router, router
from tests.agents.warehouse.standins import on_a_port

SECRETS = ["ya29.a0AfH6SMBx-the-token-of-somebody", "dapi" + "0123456789abcdef" * 2]


def test_all_agents_have_the_same_plugins(env: pytest.MonkeyPatch) -> None:
    names = [[plugin.name for plugin in plugins(agent)] for agent in ("router", "supply")]
    assert names[0] == names[1]
    assert isinstance(plugins("router")[-1], ToolCallIntegrityPlugin)


@pytest.mark.parametrize("secret", SECRETS)
def test_no_log_holds_a_credential(secret: str, caplog: pytest.LogCaptureFixture) -> None:
    redaction.install()
    log = logging.getLogger("somebody.elses")
    log.warning("refused %s", secret)
    log.warning(f"refused {secret}")
    try:
        raise ValueError(f"bad token {secret}")
    except ValueError:
        log.exception("failed")
    formatted = [logging.Formatter().format(record) for record in caplog.records]
    assert all(redaction.GONE in text for text in formatted)
    assert secret not in "\n".join(formatted)
    log.warning("436,449 rows in %s", "acme")
    assert caplog.records[-1].getMessage() == "436,449 rows in acme"


async def test_somebody_who_asks_without_end_is_refused(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_TURNS_PER_MINUTE", "2")
    asked = router()
    for _ in range(2):
        assert "Acme Pure" in (await asked.ask("Acme Pure spend")).text
    sent = len(platform.headers)
    events = await run(asked, "Acme Pure spend")
    assert [text(event) for event in events] == [limit.REFUSED]
    assert len(platform.headers) == sent
    # Others are not held up, and the minute passes.
    assert len(await run(asked, "Acme Pure spend", user="sam")) > 1
    later = time.monotonic() + limit.SECONDS + 1
    monkeypatch.setattr(limit, "time", SimpleNamespace(monotonic=lambda: later))
    assert len(await run(asked, "Acme Pure spend")) > 1


def test_a_limit_that_is_no_number_is_told(env: pytest.MonkeyPatch) -> None:
    env.setenv("SLIPWAY_TURNS_PER_MINUTE", "many")
    with pytest.raises(SetupError, match="many"):
        plugins("router")


class Storage:
    """The control bucket's object, and what goes wrong."""

    def __init__(self) -> None:
        self.body: Any = None
        self.status = 200
        self.reads = 0

    async def __call__(self, request: Request) -> Response:
        self.reads += 1
        assert request.headers["authorization"].startswith("Bearer ")
        if self.status != 200 or self.body is None:
            return Response(status_code=404 if self.status == 200 else self.status)
        return JSONResponse(self.body)


async def test_the_switch_stops_an_agent_and_fails_to_its_last_value(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = Storage()
    app = Starlette(routes=[Route(f"/storage/v1/b/control/o/{switch.PATH}", storage.__call__)])
    with on_a_port(app) as url:
        monkeypatch.setenv("SLIPWAY_CONTROL_BUCKET", "control")
        monkeypatch.setenv("SLIPWAY_STORAGE_ENDPOINT", url)
        asked = router()
        assert "Acme Pure" in (await asked.ask("Acme Pure spend")).text
        await asked.ask("Acme Pure spend")
        assert storage.reads == 1  # cached
        storage.body = {"router": "We look into wrong numbers.", "supply": 7}
        clock = Clock(monkeypatch)
        clock.pass_(switch.SECONDS + 1)
        assert [text(e) for e in await run(asked, "spend")] == ["We look into wrong numbers."]
        storage.status = 503
        clock.pass_(switch.SECONDS + 1)
        assert len(await run(asked, "spend")) == 1  # still off
        storage.status, storage.body = 200, ["nonsense"]
        clock.pass_(switch.SECONDS + 1)
        assert len(await run(asked, "spend")) == 1
        storage.body = None  # the object is gone
        clock.pass_(switch.SECONDS + 1)
        assert len(await run(asked, "spend")) > 1


class Clock:
    """The monotonic clock, moved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._by, real = 0.0, time.monotonic
        clock = SimpleNamespace(monotonic=lambda: real() + self._by)
        monkeypatch.setattr(switch, "time", clock)

    def pass_(self, seconds: float) -> None:
        self._by += seconds


async def test_a_specialist_that_is_switched_off_says_why(platform: Platform) -> None:
    plugin = switch.Switch("supply", looking_up.failed)
    plugin._told = "Stock is being counted."
    told = await plugin.before_run_callback(invocation_context=None)
    assert told is not None
    assert told.parts
    from agents.router.replies import checked
    from agents.shared.query import Query

    _, missing = checked("supply", Query(measures=("stock_units",)), told.parts[0].text)
    assert "Stock is being counted." in missing


async def test_a_call_of_a_model_has_no_more_time_than_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plugin, now = deadline.Deadline(), time.monotonic()
    context: Any = SimpleNamespace(invocation_id="i")
    await plugin.before_run_callback(invocation_context=context)
    for passed, expected in ((0, 20_000), (50, 10_000), (100, 1_000)):
        clock = SimpleNamespace(monotonic=lambda at=now + passed: at)
        monkeypatch.setattr(deadline, "time", clock)
        request = LlmRequest(config=types.GenerateContentConfig(temperature=0))
        await plugin.before_model_callback(callback_context=context, llm_request=request)
        assert request.config.http_options is not None
        assert request.config.http_options.timeout == pytest.approx(expected, abs=200)
        assert request.config.temperature == 0


async def test_a_turn_is_one_line_and_one_trace_through_all_agents(
    platform: Platform, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = router()
    await asked.ask("Acme Pure spend and stock")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    by_agent = {line["agent"]: line for line in lines}
    assert sorted(by_agent) == ["marketing", "router", "supply"]
    traces = {line["logging.googleapis.com/trace"] for line in lines}
    assert len(traces) == 1
    assert traces.pop().startswith("projects/acme-test/traces/")
    assert by_agent["router"]["model_calls"] == 2
    assert by_agent["supply"]["tool_calls"] == 1
    assert by_agent["router"]["seconds"] >= by_agent["supply"]["seconds"]
    assert "maria" not in json.dumps(lines)
    assert "Acme" not in json.dumps(lines)


async def test_a_stored_call_that_was_changed_does_not_run(
    sam: Router, workspace: Workspace
) -> None:
    from agents.router import approval

    session, invocation = await paused(sam)
    stored = sam.sessions.sessions["acme"]["sam"][session]
    for event in stored.events:
        for part in event.content.parts if event.content else []:
            if part.function_call:
                part.function_call.args["message"] = "I would do nothing. Approve?"
    with pytest.raises(Exception, match="integrity"):
        await turn(sam, session, approval.answer(invocation, "approve"), invocation=invocation)
    assert workspace.runs == []


async def run(asked: Router, question: str, user: str = "maria") -> list[Any]:
    """All events of a turn in a new conversation."""
    return [
        event
        async for event in asked.runner.run_async(
            user_id=user,
            session_id=await begin(asked, user),
            new_message=types.UserContent(question),
        )
    ]


def text(event: Any) -> str:
    return "".join(part.text or "" for part in event.content.parts) if event.content else ""
