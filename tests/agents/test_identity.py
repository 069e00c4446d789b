"""The router takes the user from a signed statement, and from nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.shared import caller
from tests.agents.conftest import KEY

METHODS = {
    "async_create_session",
    "async_rewind",
    "async_get_file",
    "async_stream_query",
    "async_stream_decide",
    "async_stream_resume",
    "self_report",
}


@pytest.fixture
def app(env: pytest.MonkeyPatch) -> Any:
    from agents.router.agent import app

    made = app.clone()
    made.set_up()
    return made


def stated(user: str = "maria", audience: str = "router", key: str = KEY) -> str:
    return caller.sign(user, issuer="front", audience=audience, key=key)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (lambda: "", "does not state its caller"),
        (lambda: "maria", "not valid"),
        (lambda: stated("sam"), "of another user"),
        (lambda: stated(audience="supply"), "for another agent"),
        (lambda: stated(key="another key that is long enough for hs256"), "not valid"),
    ],
    ids=["none", "a name", "another user", "another agent", "another key"],
)
async def test_it_refuses_who_does_not_say_who_asks(
    app: Any, statement: Callable[[], str], words: str
) -> None:
    who = {"user_id": "maria", "caller": statement()}  # a statement lasts for a minute
    talk = {"session_id": "s1", **who}
    with pytest.raises(caller.CallerRefused, match=words):
        await app.async_create_session(**who)
    with pytest.raises(caller.CallerRefused, match=words):
        await app.async_rewind(invocation_id="i1", **talk)
    with pytest.raises(caller.CallerRefused, match=words):
        await app.async_get_file(name="spend.csv", **talk)
    for events in (
        app.async_stream_query(message="spend?", **talk),
        app.async_stream_decide(decision="approve", invocation_id="i1", **talk),
        app.async_stream_resume(invocation_id="i1", **talk),
    ):
        with pytest.raises(caller.CallerRefused, match=words):
            await anext(events)


def test_every_method_but_the_report_checks_it(app: Any) -> None:
    registered = app.register_operations()
    assert {name for names in registered.values() for name in names} == METHODS


async def test_an_expired_statement_is_refused(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000_000)
    old = stated()
    monkeypatch.undo()
    with pytest.raises(caller.CallerRefused, match="expired"):
        await app.async_create_session(user_id="maria", caller=old)
