"""Conversations in which something is done: the workspace that does it, and turns that pause."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.adk.runners import Runner
from google.genai import types
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request

from agents.router import approval
from agents.shared import state
from services.emulator import jobs
from services.emulator.state import Store
from tests.agents.conftest import Router
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


@contextmanager
def databricks(folder: Path) -> Iterator[tuple[str, Workspace]]:
    """The workspace's base URL, and the workspace."""
    made = Workspace(folder)

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
    with on_a_port(Starlette(lifespan=lifespan, middleware=watched)) as url:
        yield url, made


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
