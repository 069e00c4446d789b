"""ADK's own Vertex services and the SDK's templates, on the platform, unmodified."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from .conftest import LOCATION, PROJECT, Deployer, Local


@pytest.fixture
def adk(local: Local, deployer: Deployer) -> Any:
    """Session and memory services of a new engine, and a reader of its memories."""
    client = local.sdk()  # imports the SDK light, before ADK imports it
    from google.adk.memory import VertexAiMemoryBankService
    from google.adk.sessions import VertexAiSessionService

    class Sessions(VertexAiSessionService):
        def _build_api_client(self) -> Any:
            return local.sdk().aio

    class Memory(VertexAiMemoryBankService):
        def _build_api_client(self) -> Any:
            return local.sdk().aio

    name = deployer.engine()
    where = (PROJECT, LOCATION, name.rpartition("/")[2])
    return SimpleNamespace(
        engine=name,
        sessions=Sessions(*where),
        memory=Memory(*where),
        facts=lambda: [m.fact for m in client.memory_banks.memories.list(name=name)],
    )


def event(text: str, author: str = "user", **more: Any) -> Any:
    """An ADK event with one text."""
    from google.adk.events import Event
    from google.genai import types

    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(author=author, invocation_id="i", content=content, **more)


def comes(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether it becomes true: ingestion is sent without waiting for it."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


async def test_a_session_comes_back_as_it_went(adk: Any) -> None:
    from google.adk.events import EventActions
    from google.genai import types

    state = {"a": 1, "user:x": 2, "app:y": 3, "temp:z": 4}
    session = await adk.sessions.create_session(app_name="acme", user_id="maria", state=state)
    delta = {"k": {"snake_case": [1]}, "temp:t": 1, "user:x": 5}
    asked = event("hello", actions=EventActions(state_delta=delta))
    call = types.Part(function_call=types.FunctionCall(name="f", args={"x": 1}, id="c"))
    answer = event("noted", "writer", long_running_tool_ids={"c"})
    answer.content.parts.append(call)
    answer.usage_metadata = types.GenerateContentResponseUsageMetadata(total_token_count=5)
    for item in (asked, answer):
        await adk.sessions.append_event(session, item)
    got = await adk.sessions.get_session(app_name="acme", user_id="maria", session_id=session.id)
    assert got.state == {"a": 1, "user:x": 5, "app:y": 3, "k": {"snake_case": [1]}}
    assert [item.id for item in got.events] == [asked.id, answer.id]
    assert got.events[1].model_dump(exclude={"timestamp"}) == answer.model_dump(
        exclude={"timestamp"}
    )
    assert got.events[1].timestamp == pytest.approx(answer.timestamp, abs=1e-5)


async def test_sessions_of_a_user(adk: Any) -> None:
    made = [
        await adk.sessions.create_session(app_name="acme", user_id=user, session_id=name)
        for user, name in (("maria", "one"), ("maria", "two"), ("sam", "three"))
    ]
    listed = await adk.sessions.list_sessions(app_name="acme", user_id="maria")
    assert [session.id for session in listed.sessions] == ["one", "two"]
    everyone = await adk.sessions.list_sessions(app_name="acme")
    assert len(everyone.sessions) == len(made)
    with pytest.raises(ValueError, match="does not belong to user"):
        await adk.sessions.get_session(app_name="acme", user_id="sam", session_id="one")
    await adk.sessions.delete_session(app_name="acme", user_id="maria", session_id="one")
    for gone in ("one", "never"):
        assert (
            await adk.sessions.get_session(app_name="acme", user_id="maria", session_id=gone)
        ) is None


async def test_recent_events_and_events_after_a_time(adk: Any) -> None:
    from google.adk.sessions.base_session_service import GetSessionConfig

    who = {"app_name": "acme", "user_id": "maria"}
    session = await adk.sessions.create_session(**who, session_id="recent")
    events = [event(str(number), timestamp=1000.0 + number) for number in range(4)]
    for item in events:
        await adk.sessions.append_event(session, item)

    async def texts(**config: Any) -> list[str]:
        got = await adk.sessions.get_session(
            **who, session_id="recent", config=GetSessionConfig(**config)
        )
        return [item.content.parts[0].text for item in got.events]

    assert await texts(num_recent_events=2) == ["2", "3"]
    assert await texts(num_recent_events=0) == []
    assert await texts(after_timestamp=1002.0) == ["2", "3"]


async def found(adk: Any, query: str) -> list[str]:
    """What a search says."""
    answer = await adk.memory.search_memory(app_name="acme", user_id="maria", query=query)
    return [memory.content.parts[0].text for memory in answer.memories]


@pytest.mark.parametrize("how", ["events", "session", "generate"])
async def test_what_a_user_said_is_found_in_the_next_conversation(adk: Any, how: str) -> None:
    who = {"app_name": "acme", "user_id": "maria"}
    session = await adk.sessions.create_session(**who)
    said = [event("I work on Western Europe. Always show me euros."), event("€436,449", "writer")]
    for item in said:
        await adk.sessions.append_event(session, item)
    if how == "session":
        await adk.memory.add_session_to_memory(session)
    else:
        metadata = {"wait_for_completion": True} if how == "generate" else None
        await adk.memory.add_events_to_memory(**who, events=said, custom_metadata=metadata)
    await asyncio.sleep(0)  # ingestion is a task of this loop
    for _ in range(200):
        if adk.facts():
            break
        await asyncio.sleep(0.02)
    assert sorted(await found(adk, "What did we spend?")) == [
        "Prefers euros",
        "Works on Western Europe",
    ]
    other = await adk.memory.search_memory(app_name="other", user_id="maria", query="euros")
    assert other.memories == []


async def test_memories_are_added_as_they_are_or_consolidated(adk: Any) -> None:
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types

    def entry(text: str, name: str | None = None) -> MemoryEntry:
        content = types.Content(parts=[types.Part(text=text)])
        return MemoryEntry(id=name, author="user", content=content)

    who = {"app_name": "acme", "user_id": "maria"}
    metadata = {"ttl": "86400s", "source": "chat"}
    await adk.memory.add_memory(
        **who, memories=[entry("Prefers pounds", "pref-1")], custom_metadata=metadata
    )
    assert await found(adk, "pounds") == ["Prefers pounds"]
    answer = await adk.memory.search_memory(**who, query="pounds")
    assert answer.memories[0].custom_metadata == {"source": "chat"}
    await adk.memory.add_memory(
        **who, memories=[entry("Prefers euros")], custom_metadata={"enable_consolidation": True}
    )
    assert adk.facts() == ["Prefers euros"]
    assert await adk.memory.retrieve_profiles(**who) == []


TALK = {"async_stream_query": "async_stream", "async_create_session": "async",
        "async_get_session": "async"}  # fmt: skip


async def test_an_adk_app_keeps_its_conversation_in_its_engines_sessions(
    deployer: Deployer, sdk: Any
) -> None:
    name = deployer.deployed(bundle="talker", methods=TALK)
    app = sdk.runtimes.get(name=name)
    session = await app.async_create_session(user_id="maria")

    async def ask(text: str) -> list[str]:
        who = {"user_id": "maria", "session_id": session["id"]}
        events = [item async for item in app.async_stream_query(message=text, **who)]
        return [part["text"] for item in events for part in item["content"]["parts"]]

    assert await ask("first") == ["1: first"]
    assert await ask("second") == ["2: second"]
    kept = sdk.sessions.events.list(name=f"{name}/sessions/{session['id']}")
    assert [item.author for item in kept] == ["user", "talker", "user", "talker"]


async def test_a2a_through_the_client(deployer: Deployer, local: Local, sdk: Any) -> None:
    from a2a.types import AgentSkill, Message, Part, Role, SendMessageRequest
    from agentplatform.frameworks.a2a import create_agent_card
    from google.protobuf.json_format import MessageToJson

    skill = AgentSkill(id="hear", name="hear", description="hears", tags=["test"])
    card = create_agent_card(agent_name="specialist", description="Hears.", skills=[skill])
    method = {"name": "on_message_send", "api_mode": "a2a_extension"}
    name, spec = deployer.engine(), deployer.spec(bundle="specialist")
    spec["class_methods"] = [method | {"a2a_agent_card": MessageToJson(card)}]
    assert "error" not in deployer.patch(name, spec)
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="ping")])
    answer = await sdk.runtimes.get(name=name).on_message_send(
        request=SendMessageRequest(message=message)
    )
    # The caller's own header arrives at the agent.
    assert "heard ping with Bearer operator" in str(answer)


def test_a_card_leads_back_to_the_platform(deployer: Deployer, local: Local) -> None:
    name = deployer.deployed(bundle="specialist", methods={"on_message_send": "a2a_extension"})
    engine = f"{local.parent}/reasoningEngines/{name.rpartition('/')[2]}"
    card = local.rest("GET", f"v1/{name}/a2a/card").json()
    # The template writes the cloud's host into it.
    assert card["supportedInterfaces"][0]["url"] == f"{local.endpoint}/v1beta1/{engine}/a2a"
