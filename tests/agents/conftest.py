"""The agents as they are deployed, but for the platform: specialists over real HTTP, one server."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService, Session
from google.genai import types
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from agents.shared import services

KEY = "a-signing-key-that-is-long-enough-for-hs256"
TOKEN = "ya29.a-token-that-must-not-be-stored"
PARENT = "projects/acme-test/locations/us-central1"
ENGINES = {"marketing": "2001", "supply": "2002"}


def environment(endpoint: str = "http://127.0.0.1:9") -> dict[str, str]:
    """What an engine is told; no network is needed to start with it."""
    return {
        "AGENT_PLATFORM_ENDPOINT": endpoint,
        "SLIPWAY_MODEL": "offline",
        "SLIPWAY_DATA": "sample",
        "SLIPWAY_MEMORY": "bank",
        "GOOGLE_CLOUD_PROJECT": "acme-test",
        "GOOGLE_CLOUD_AGENT_ENGINE_ID": "2000",
        "GOOGLE_CLOUD_AGENT_ENGINE_LOCATION": "us-central1",
        "MEMORY_BANK_ID": "2009",
        "MEMORY_BANK_LOCATION": "us-central1",
        "MARKETING_ENGINE_ID": ENGINES["marketing"],
        "SUPPLY_ENGINE_ID": ENGINES["supply"],
        "CALLER_SIGNING_KEY": KEY,
    }


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A complete environment, to be changed by the test."""
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@dataclass
class Platform:
    """One HTTP server: tokens, both specialists, and a model if the test brings one."""

    endpoint: str
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each A2A request, in lower case."""
    paths: list[str] = field(default_factory=list)
    """Of each A2A request, and of each request of `own-card`."""
    gemini: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Answers `generateContent`: from the request's body, the content of the answer."""

    def a2a(self, agent: str) -> str:
        """Where the agent serves A2A."""
        return f"{self.endpoint}/v1beta1/{PARENT}/reasoningEngines/{ENGINES[agent]}/a2a"


@pytest.fixture
def platform(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Platform]:
    """Both specialists, set up and served; the environment points to them."""
    with serving(monkeypatch, tmp_path, getattr(request, "param", {})) as found:
        yield found


@contextmanager
def serving(
    monkeypatch: pytest.MonkeyPatch, folder: Path, variables: dict[str, str]
) -> Iterator[Platform]:
    """The same for whoever is no test; `variables` are laid over the environment."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    found = Platform(f"http://127.0.0.1:{listener.getsockname()[1]}")
    for name, value in (environment(found.endpoint) | variables).items():
        monkeypatch.setenv(name, value)
    credentials(monkeypatch, folder, f"{found.endpoint}/token")
    server = uvicorn.Server(uvicorn.Config(_app(found), log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    end = time.monotonic() + 10
    while not server.started and time.monotonic() < end:
        time.sleep(0.01)
    yield found
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive()


def _app(platform: Platform) -> Starlette:
    async def token(_: Request) -> Response:
        return JSONResponse({"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})

    async def generate(request: Request) -> Response:
        assert platform.gemini is not None
        content = platform.gemini(await request.json())
        return JSONResponse({"candidates": [{"content": {"role": "model", **content}}]})

    async def card(request: Request) -> Response:
        """A specialist's card, whose address is this server's."""
        agent = request.path_params["agent"]
        async with httpx.AsyncClient() as client:
            body = (await client.get(f"{platform.a2a(agent)}/card")).json()
        for interface in body["supportedInterfaces"]:
            interface["url"] = platform.a2a(agent)
        platform.paths.append(request.url.path)
        return JSONResponse(body | {"url": platform.a2a(agent)})

    models = f"/v1beta1/{PARENT}/publishers/google/models/{{model}}"
    routes: list[Any] = [
        Route("/token", token, methods=["POST"]),
        Route("/{agent}/own-card", card),
        Route(f"{models}:generateContent", generate, methods=["POST"]),
    ]
    for name, engine in ENGINES.items():
        agent = served(name)
        routes.append(
            Mount(f"/v1beta1/{PARENT}/reasoningEngines/{engine}", routes=agent.rest_routes)
        )
    app = Starlette(routes=routes)

    async def recording(scope: Any, receive: Any, send: Any) -> None:
        if "/a2a/" in scope.get("path", ""):
            raw = {name.decode(): value.decode() for name, value in scope["headers"]}
            platform.headers.append(raw)
            platform.paths += [] if scope["path"].endswith("/card") else [scope["path"]]
        await app(scope, receive, send)

    return recording  # type: ignore[return-value]  # an ASGI application is any such function


def served(name: str) -> Any:
    """A specialist's deployable object, new and set up."""
    from agents.marketing import agent as marketing
    from agents.supply import agent as supply

    original = {"marketing": marketing.app, "supply": supply.app}[name]
    app: Any = original.clone()
    app.__class__ = type(original)  # the template's clone is the template's
    app.set_up()
    return app


def credentials(monkeypatch: pytest.MonkeyPatch, folder: Path, token_uri: str) -> None:
    """Application Default Credentials: a service account whose tokens come from `token_uri`."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    file = folder / "account.json"
    account = {
        "type": "service_account",
        "client_email": "router-test@acme-test.iam.gserviceaccount.com",
        "private_key": pem.decode(),
        "token_uri": token_uri,
    }
    file.write_text(json.dumps(account))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setattr(services, "_CREDENTIALS", services._Credentials())


class Notebook(BaseMemoryService):
    """A memory whose facts the test states, and that notes what is written to it."""

    def __init__(self, *facts: str) -> None:
        self.facts = list(facts)
        self.written: list[str] = []

    async def add_session_to_memory(self, session: Session) -> None:
        """Nothing may be written this way."""
        raise AssertionError("the whole session was written to memory")

    async def add_events_to_memory(self, *, events: Any, **_: Any) -> None:
        """Notes each event's whole content."""
        self.written += [event.content.model_dump_json() for event in events]

    async def search_memory(self, **_: Any) -> SearchMemoryResponse:
        """All facts, as the memory bank's service gives them."""
        entries = [
            MemoryEntry(
                author="user",
                content=types.UserContent(fact),
                timestamp="2026-09-28T08:00:00+00:00",
            )
            for fact in self.facts
        ]
        return SearchMemoryResponse(memories=entries)


@dataclass
class Answer:
    """One turn: the writer's text, the findings, and every event as JSON."""

    text: str
    findings: list[dict[str, Any]]
    events: list[dict[str, Any]]


@dataclass
class Router:
    """The router's app over sessions in this process."""

    runner: Runner
    memory: Notebook
    sessions: InMemorySessionService

    async def ask(self, text: str, *, user: str = "maria", session: str | None = None) -> Answer:
        """Asks, in a new conversation unless one is named."""
        if session is None:
            session = (await self.sessions.create_session(app_name="acme", user_id=user)).id
        message = types.UserContent(text)
        events = [
            event.model_dump(mode="json")
            async for event in self.runner.run_async(
                user_id=user, session_id=session, new_message=message
            )
        ]
        last = [e for e in events if e["author"] == "writer" and not e["partial"]][-1]
        deltas = [event["actions"]["state_delta"] for event in events]
        findings = [delta["findings"] for delta in deltas if "findings" in delta]
        assert len(findings) == 1
        return Answer(last["content"]["parts"][0]["text"], findings[0], events)

    async def stored(self) -> str:
        """All that the session store holds, as text."""
        texts = []
        for users in self.sessions.sessions.values():
            for sessions in users.values():
                texts += [session.model_dump_json() for session in sessions.values()]
        return "\n".join(texts)


def router(*facts: str) -> Router:
    """The router for the environment as it is, with these facts in memory."""
    from agents.router.workflow import build

    memory, sessions = Notebook(*facts), InMemorySessionService()
    runner = Runner(app=build("acme"), session_service=sessions, memory_service=memory)
    return Router(runner, memory, sessions)


@pytest.fixture
def maria(platform: Platform) -> Router:
    """The router; memory holds where Maria works and that she wants euros."""
    return router("Works on Western Europe", "Prefers euros")


@pytest.fixture
def workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """The local platform's Databricks, over HTTP; agents that start now know it."""
    from services.emulator import jobs
    from tests.agents.acting import databricks

    with databricks(tmp_path / "workspace") as (url, made):
        monkeypatch.setenv("DATABRICKS_HOST", url)
        monkeypatch.setenv("DATABRICKS_REPLAN_JOB", str(jobs.JOB))
        yield made


@pytest.fixture
def sam(workspace: Any, platform: Platform) -> Router:
    """The router, over specialists that know the workspace."""
    return router("Works on the Nordics")
