"""Sessions and events through Google's client."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from google.genai.errors import ClientError

from .conftest import Deployer, Local

DAY = datetime.datetime(2026, 12, 1, tzinfo=datetime.UTC)


@pytest.fixture(scope="module")
def engine(deployer: Deployer) -> str:
    """A bare engine: sessions need no source."""
    return deployer.engine()


def append(sdk: Any, name: str, *, author: str = "user", day: int = 0, **config: Any) -> None:
    """Appends an event of some day."""
    time = DAY + datetime.timedelta(days=day)
    sdk.sessions.events.append(
        name=name, author=author, invocation_id="i", timestamp=time, config=config
    )


def test_the_client_creates_gets_lists_updates_and_deletes(sdk: Any, engine: str) -> None:
    config = {"display_name": "d", "session_state": {"a_b": 1}, "labels": {"l_m": "v"}}
    made = sdk.sessions.create(name=engine, user_id="crud", config=config).response
    got = sdk.sessions.get(name=made.name)
    assert (got.user_id, got.session_state, got.labels) == ("crud", {"a_b": 1}, {"l_m": "v"})
    sdk.sessions.create(name=engine, user_id='o"ther')
    for user in ("crud", 'o"ther'):
        literal = user.replace('"', '\\"')
        listed = sdk.sessions.list(name=engine, config={"filter": f'user_id="{literal}"'})
        assert [item.user_id for item in listed] == [user]
    sdk.sessions.update(name=made.name, config={"display_name": "e", "session_state": {"b": 2}})
    got = sdk.sessions.get(name=made.name)
    assert (got.display_name, got.session_state, got.labels) == ("e", {"b": 2}, {"l_m": "v"})
    append(sdk, made.name)
    sdk.sessions.delete(name=made.name)
    for gone in (sdk.sessions.get, sdk.sessions.events.list):
        with pytest.raises(ClientError) as error:
            gone(name=made.name)
        assert error.value.code == 404


def test_an_id_may_be_chosen_once(sdk: Any, engine: str) -> None:
    config = {"session_id": "my-own-id"}
    made = sdk.sessions.create(name=engine, user_id="u", config=config).response
    assert made.name == f"{engine}/sessions/my-own-id"
    with pytest.raises(ClientError) as error:
        sdk.sessions.create(name=engine, user_id="u", config=config)
    assert error.value.code == 409


@pytest.mark.parametrize("wrong", ["Abc", "1a", "-a", "a-", "a_b", "a" * 64, "a.b", "c" + "-" * 62])
def test_ids_that_break_the_rule(local: Local, engine: str, wrong: str) -> None:
    answer = local.rest("POST", f"v1beta1/{engine}/sessions?sessionId={wrong}", {"userId": "u"})
    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")


@pytest.mark.parametrize("right", ["a", "c-1", "a" * 63])
def test_ids_that_keep_it(local: Local, engine: str, right: str) -> None:
    path = f"v1beta1/{engine}/sessions?sessionId={right}"
    assert local.rest("POST", path, {"userId": "u"}).status_code == 200


def test_events_keep_their_order_and_their_raw_form(sdk: Any, engine: str) -> None:
    name = sdk.sessions.create(name=engine, user_id="u").response.name
    raw = {"id": "e1", "author": "user", "snake_case": {"camelCase": [1, None, {"x_y": 2}]}}
    parts = [{"function_call": {"name": "f", "args": {"some_arg": 1}, "id": "c"}}]
    append(sdk, name, raw_event=raw, content={"role": "user", "parts": parts})
    append(sdk, name, author="writer", day=-1)
    append(sdk, name, author="writer", day=1)
    events = list(sdk.sessions.events.list(name=name))
    # As appended, whatever their clocks said.
    assert [event.timestamp.day for event in events] == [1, 30, 2]
    assert events[0].raw_event == raw
    assert events[0].content.parts[0].function_call.args == {"some_arg": 1}


def test_events_by_time(sdk: Any, engine: str) -> None:
    name = sdk.sessions.create(name=engine, user_id="u").response.name
    for day in range(3):
        append(sdk, name, day=day)
    text = f'timestamp>="{(DAY + datetime.timedelta(days=1)).isoformat()}"'
    events = list(sdk.sessions.events.list(name=name, config={"filter": text}))
    assert [event.timestamp.day for event in events] == [2, 3]


def test_long_conversations_come_in_pages(sdk: Any, engine: str) -> None:
    name = sdk.sessions.create(name=engine, user_id="u").response.name
    for number in range(105):
        append(sdk, name, actions={"state_delta": {"n": number}})
    assert len(list(sdk.sessions.events.list(name=name))) == 105
    assert sdk.sessions.get(name=name).session_state == {"n": 104}


def test_state_belongs_to_whom_its_prefix_says(sdk: Any, deployer: Deployer) -> None:
    engine = deployer.engine()
    state = {"own": 1, "user:currency": "EUR", "app:title": "Acme", "temp:x": 1}
    config = {"session_state": state}
    first = sdk.sessions.create(name=engine, user_id="maria", config=config).response
    second = sdk.sessions.create(name=engine, user_id="maria").response
    other = sdk.sessions.create(name=engine, user_id="sam").response
    delta = {"user:currency": "GBP", "temp:y": 2, "own": None}
    append(sdk, first.name, actions={"state_delta": delta})
    seen = [sdk.sessions.get(name=s.name).session_state for s in (first, second, other)]
    assert seen == [
        {"own": None, "user:currency": "GBP", "app:title": "Acme"},
        {"user:currency": "GBP", "app:title": "Acme"},
        {"app:title": "Acme"},
    ]


def test_a_session_ends_with_its_time_to_live(sdk: Any, local: Local, engine: str) -> None:
    made = sdk.sessions.create(name=engine, user_id="u", config={"ttl": "3600s"}).response
    assert made.ttl is None
    left = made.expire_time - datetime.datetime.now(datetime.UTC)
    assert 3500 < left.total_seconds() <= 3600
    past = {"userId": "u", "expireTime": "2026-01-01T00:00:00Z"}
    name = local.rest("POST", f"v1beta1/{engine}/sessions?sessionId=over", past).json()["name"]
    assert local.rest("GET", f"v1beta1/{name.rpartition('/operations/')[0]}").status_code == 404


@pytest.mark.parametrize(
    ("body", "said"),
    [({}, "user_id"), ({"userId": "u", "ttl": "1h"}, "ttl"), ({"userId": "u", "x": 1}, '"x"')],
)
def test_sessions_that_are_refused(
    local: Local, engine: str, body: dict[str, Any], said: str
) -> None:
    answer = local.rest("POST", f"v1beta1/{engine}/sessions", body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


def test_a_filter_that_cannot_be_read(local: Local, engine: str) -> None:
    answer = local.rest("GET", f"v1beta1/{engine}/sessions?filter=color=red")
    assert answer.status_code == 400
    assert "color" in answer.json()["error"]["message"]
