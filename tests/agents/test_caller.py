"""Only a fresh statement, signed with the shared key and for this agent, names a caller."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest

from agents.shared import caller
from agents.shared.settings import SetupError
from tests.agents.conftest import KEY


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    base = {"iss": "router", "sub": "maria", "aud": "marketing", "iat": now, "exp": now + 60}
    return {**base, "jti": "1", **changes}


def metadata(content: dict[str, Any], key: str = KEY, algorithm: str = "HS256") -> dict[str, str]:
    return {caller.METADATA_KEY: jwt.encode(content, key, algorithm=algorithm)}


def test_a_statement_names_the_user() -> None:
    statement = caller.sign("maria", issuer="router", audience="marketing", key=KEY)
    found = caller.caller_of({caller.METADATA_KEY: statement}, audience="marketing", key=KEY)
    assert found == caller.Caller("maria")
    content = jwt.decode(statement, KEY, algorithms=["HS256"], audience="marketing")
    assert content["exp"] - content["iat"] == 60
    assert set(content) == {"iss", "sub", "aud", "iat", "exp", "jti"}


def test_two_statements_differ() -> None:
    first, second = (caller.sign("m", issuer="r", audience="a", key=KEY) for _ in range(2))
    assert first != second


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "does not state its caller"),
        ({caller.METADATA_KEY: ""}, "does not state its caller"),
        ({caller.METADATA_KEY: 7.0}, "does not state its caller"),
        ({caller.METADATA_KEY: "maria"}, "not valid"),
        (metadata(claims(exp=int(time.time()) - 60)), "expired"),
        (metadata(claims(aud="supply")), "for another agent"),
        (metadata(claims(), key="another-key-that-is-long-enough-as-well"), "not valid"),
        (metadata(claims(sub=" ")), "names no user"),
        (metadata(claims(exp=int(time.time()) + 3600)), "too long"),
        (metadata({k: v for k, v in claims().items() if k != "sub"}), "not valid"),
        (metadata({k: v for k, v in claims().items() if k != "exp"}), "not valid"),
        (metadata({k: v for k, v in claims().items() if k != "aud"}), "not valid"),
        (metadata(claims(), key=KEY * 2, algorithm="HS384"), "not valid"),
    ],
)
def test_anything_else_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(caller.CallerRefused, match=words) as refused:
        caller.caller_of(given, audience="marketing", key=KEY)
    assert KEY not in str(refused.value)


def test_an_unsigned_statement_is_refused() -> None:
    unsigned = jwt.encode(claims(), "", algorithm="none")
    with pytest.raises(caller.CallerRefused):
        caller.caller_of({caller.METADATA_KEY: unsigned}, audience="marketing", key=KEY)


def test_a_short_key_is_refused_at_start_up(env: pytest.MonkeyPatch) -> None:
    env.setenv("CALLER_SIGNING_KEY", "short")
    with pytest.raises(SetupError, match="32 bytes"):
        caller.signing_key()
