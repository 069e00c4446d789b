"""Planning supply anew: one approval, one run, as the person who approved."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.adk.runners import Runner
from google.genai import types
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request

from agents.router import approval
from agents.shared import state
from agents.shared.approved import digest
from services.emulator import jobs
from services.emulator.state import Store
from tests.agents.conftest import Platform, Router, router
from tests.agents.warehouse.standins import on_a_port

SAM = "local-user-sam"
ASKED = "I would plan supply anew in the Nordics: this starts a Databricks job as you. Approve?"
STARTED = r"Started the planning of supply in the Nordics \(run (\d+)\)"


@dataclass
class Workspace:
    """The local platform's Databricks, over HTTP."""

    folder: Path
    headers: list[dict[str, str]] = field(default_factory=list)
    fail: int = 0
    """How many answers get lost after their effect."""

    @property
    def runs(self) -> list[dict[str, Any]]:
        return Store(self.folder).list(jobs.KIND)


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Workspace]:
    made = Workspace(tmp_path / "state")

    async def watching(request: Request, call_next: Any) -> Any:
        made.headers.append(dict(request.headers))
        answer = await call_next(request)
        if made.fail > 0:
            made.fail -= 1
            answer.status_code = 503
        return answer

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        # A store belongs to the thread that opened it.
        platform: Any = SimpleNamespace(store=Store(made.folder))
        app.router.routes.extend(jobs.routes(platform))
        yield

    watched = [Middleware(BaseHTTPMiddleware, dispatch=watching)]
    app = Starlette(lifespan=lifespan, middleware=watched)
    with on_a_port(app) as url:
        monkeypatch.setenv("DATABRICKS_HOST", url)
        monkeypatch.setenv("DATABRICKS_REPLAN_JOB", str(jobs.JOB))
        yield made


@pytest.fixture
def sam(workspace: Workspace, platform: Platform) -> Router:
    """The router, over specialists that know the workspace."""
    return router("Works on the Nordics")


async def turn(
    asked: Router,
    session: str,
    message: str | dict[str, Any],
    *,
    token: str = SAM,
    invocation: str | None = None,
    user: str = "sam",
) -> list[Any]:
    """One turn's events; by a runner of its own, as another process would have it."""
    from agents.router.workflow import build

    runner = Runner(app=build("acme"), session_service=asked.sessions, memory_service=asked.memory)
    content = (
        types.UserContent(message)
        if isinstance(message, str)
        else types.Content.model_validate(message)
    )
    return [
        event
        async for event in runner.run_async(
            user_id=user,
            session_id=session,
            new_message=content,
            invocation_id=invocation,
            state_delta={state.TOKEN.name: token},
        )
    ]


async def begin(asked: Router, user: str = "sam") -> str:
    return str((await asked.sessions.create_session(app_name="acme", user_id=user)).id)


def question(events: list[Any]) -> tuple[str, str]:
    """The question's text, and its turn."""
    [call] = [
        (part.function_call, event.invocation_id)
        for event in events
        for part in (event.content.parts if event.content else [])
        if part.function_call
    ]
    return str(call[0].args["message"]), str(call[1])


def said(events: list[Any]) -> str:
    texts = [
        "".join(part.text or "" for part in event.content.parts)
        for event in events
        if event.author == "writer" and event.content and event.content.parts
    ]
    return texts[-1]


async def paused(asked: Router, text: str = "Replan the Nordics") -> tuple[str, str]:
    """A conversation that waits for a decision, and its turn."""
    session = await begin(asked)
    words, invocation = question(await turn(asked, session, text))
    assert words.endswith("Approve?")
    return session, invocation


async def decide(
    asked: Router, session: str, invocation: str, decision: str = "approve", **options: Any
) -> str:
    message = approval.answer(invocation, decision)
    return said(await turn(asked, session, message, invocation=invocation, **options))


async def test_nothing_runs_before_it_is_approved(sam: Router, workspace: Workspace) -> None:
    session = await begin(sam)
    words, _ = question(await turn(sam, session, "Please replan the Nordics"))
    assert words == ASKED
    assert workspace.runs == []


async def test_an_approval_starts_one_run_as_that_person(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    text = await decide(sam, session, invocation)
    found = re.match(STARTED, text)
    assert found
    [run] = workspace.runs
    assert (run["run_id"], run["creator_user_name"]) == (int(found[1]), "sam")
    assert run["job_parameters"] == [
        {"name": "regions", "value": "Nordics"},
        {"name": "brands", "value": ""},
    ]


async def test_an_action_writes_declared_keys_alone(sam: Router, workspace: Workspace) -> None:
    session = await begin(sam)
    events = await turn(sam, session, "Replan the Nordics")
    message = approval.answer(question(events)[1], "approve")
    events += await turn(sam, session, message, invocation=question(events)[1])
    written = {key for event in events for key in event.actions.state_delta}
    assert {state.PENDING.name, state.LAST_RUN.name} <= written
    assert written <= {key.name for key in state.KEYS}
    assert SAM not in await sam.stored()


async def test_a_rejection_starts_nothing(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    assert await decide(sam, session, invocation, "reject") == "Nothing was started."
    assert workspace.runs == []


@pytest.mark.parametrize("decision", ["", "yes", "APPROVE", "maybe"])
async def test_only_a_clear_approval_is_one(
    sam: Router, workspace: Workspace, decision: str
) -> None:
    session, invocation = await paused(sam)
    assert "Nothing was started" in await decide(sam, session, invocation, decision)
    assert workspace.runs == []


async def test_a_second_approval_starts_nothing(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    await decide(sam, session, invocation)
    message = approval.answer(invocation, "approve")
    await turn(sam, session, message, invocation=invocation)
    assert len(workspace.runs) == 1
    assert not await approval.waits(sam.sessions, "acme", "sam", session, invocation)


async def test_a_lost_answer_starts_one_run(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    workspace.fail = 2
    assert re.match(STARTED, await decide(sam, session, invocation))
    assert len(workspace.runs) == 1
    assert len(workspace.headers) == 3


async def test_a_late_approval_starts_nothing(
    sam: Router, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, invocation = await paused(sam)
    later = time.time() + approval.LIFETIME_SECONDS + 1
    monkeypatch.setattr(approval, "time", SimpleNamespace(time=lambda: later))
    assert "too late" in await decide(sam, session, invocation)
    assert workspace.runs == []


async def test_nobody_else_can_decide(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    assert not await approval.waits(sam.sessions, "acme", "maria", session, invocation)
    assert not await approval.waits(sam.sessions, "acme", "sam", session, "another turn")
    assert not await approval.waits(sam.sessions, "acme", "sam", "another session", invocation)
    assert await approval.waits(sam.sessions, "acme", "sam", session, invocation)


@pytest.mark.parametrize(
    ("token", "words"),
    [("", "your own Databricks sign-in"), ("expired", "does not let you")],
)
async def test_the_token_comes_fresh_with_the_approval(
    sam: Router, workspace: Workspace, token: str, words: str
) -> None:
    session, invocation = await paused(sam)
    assert words in await decide(sam, session, invocation, token=token)
    assert workspace.runs == []


async def test_another_question_may_come_in_between(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    assert "Acme Bold stock" in said(await turn(sam, session, "How much Acme Bold is in stock?"))
    assert re.match(STARTED, await decide(sam, session, invocation))


async def test_later_somebody_asks_whether_it_is_done(
    sam: Router, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "not had supply planned" in said(await turn(sam, await begin(sam), "is it done?"))
    await decide(sam, *await paused(sam, "replan Acme Bold in the Nordics"))
    elsewhere = await begin(sam)
    text = said(await turn(sam, elsewhere, "Is the replan done?"))
    assert re.search(
        r"in the Nordics for Acme Bold \(run \d+\) is not done; its state is running", text
    )
    monkeypatch.setattr(jobs, "RUN_SECONDS", 0.0)
    assert "ended with success" in said(await turn(sam, elsewhere, "is it done?"))
    maria = await begin(sam, "maria")
    assert "not had supply planned" in said(await turn(sam, maria, "is it done?", user="maria"))


async def test_memory_names_no_region_for_a_write(sam: Router, workspace: Workspace) -> None:
    text = said(await turn(sam, await begin(sam), "Replan Acme Bold"))
    assert text.startswith("For which region")
    assert "Western Europe, Southern Europe, Nordics and North America" in text


async def test_all_regions_can_be_meant(sam: Router, workspace: Workspace) -> None:
    session = await begin(sam)
    words, _ = question(await turn(sam, session, "replan all regions"))
    assert "Western Europe, Southern Europe, the Nordics and North America" in words


async def test_supply_itself_refuses_what_nobody_approved() -> None:
    from agents.supply.jobs import Jobs
    from agents.supply.replan import Replan

    tool = Replan(Jobs("http://127.0.0.1:9", 1)).replan
    approved = digest("turn", "replan", {"regions": ["Nordics"], "brands": []})
    for values, regions in (
        ({}, ["Nordics"]),
        ({state.APPROVED.name: approved}, ["North America"]),
    ):
        context: Any = SimpleNamespace(state=values)
        found = await tool(regions, [], "turn", context)
        assert found["failure"] == "nobody has approved this"
        assert found["run"] is None


async def test_where_no_job_is_named_it_says_so(platform: Platform) -> None:
    asked = router()
    session, invocation = await paused(asked)
    assert "not set up here" in await decide(asked, session, invocation)


def test_what_is_approved_does_not_depend_on_the_order() -> None:
    one = digest("turn", "replan", {"regions": ["a", "b"], "brands": []})
    assert one == digest("turn", "replan", {"brands": [], "regions": ("b", "a", "a")})
    assert one != digest("turn 2", "replan", {"regions": ["a", "b"], "brands": []})
    assert len(one) == jobs.MOST_TOKEN
