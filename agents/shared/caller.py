"""Who asks: a short-lived statement that the router signs and a specialist checks.

An agent that is called over A2A by another one sees that agent's credentials, not the person's.
So the router states the user in the request's metadata, signed with a key that only the agents
share (HS256). The statement is no permission of its own: the request is authenticated by its bearer
token, and the statement is for one specialist and one minute.
"""

from __future__ import annotations

import hashlib
import hmac
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from agents.shared.settings import SetupError, required

METADATA_KEY = "slipway_caller"
LIFETIME_SECONDS = 60
SKEW_SECONDS = 5
"""By how much two machines' clocks may differ."""
MIN_KEY_BYTES = 32
_ALGORITHM = "HS256"
_CLAIMS = ["iss", "sub", "aud", "iat", "exp", "jti"]


class CallerRefused(PermissionError):
    """A request whose caller is not stated, or not credibly."""


def signing_key() -> str:
    """The agents' shared key.

    Raises:
        SetupError: it is missing, or too short to be safe.
    """
    key = required("CALLER_SIGNING_KEY")
    if len(key.encode()) < MIN_KEY_BYTES:
        raise SetupError(
            f"CALLER_SIGNING_KEY has fewer than {MIN_KEY_BYTES} bytes",
            "add a longer version to the secret caller-signing-key, then slipway deploy ENV",
        )
    return key


def derived_key(purpose: str) -> str:
    """A key of its own for another purpose than statements. Raises as `signing_key`."""
    return hmac.new(signing_key().encode(), purpose.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Caller:
    """Who asks, and what that person has approved (see approved.py), if anything."""

    user: str
    approved: str = ""


def sign(user: str, *, issuer: str, audience: str, key: str, approved: str = "") -> str:
    """States that `issuer` asks `audience` on behalf of `user`, for one minute.

    Args:
        approved: what the user has approved, as approved.py writes it.
    """
    now = int(time.time())
    claims = {
        "iss": issuer,
        "sub": user,
        "aud": audience,
        "iat": now,
        "exp": now + LIFETIME_SECONDS,
        "jti": uuid.uuid4().hex,
    } | ({"approved": approved} if approved else {})
    return jwt.encode(claims, key, algorithm=_ALGORITHM)


def caller_of(metadata: Mapping[str, Any], *, audience: str, key: str) -> Caller:
    """The caller that a request's metadata states. Raises as `verified` does."""
    return verified(metadata.get(METADATA_KEY), audience=audience, key=key)


def verified(statement: object, *, audience: str, key: str) -> Caller:
    """Who a signed statement says asks `audience`.

    Raises:
        CallerRefused: there is no statement, or it is forged, too old, or for another agent.
    """
    if not isinstance(statement, str) or not statement:
        raise _refused(audience, "the request does not state its caller")
    try:
        claims = jwt.decode(
            statement,
            key,
            algorithms=[_ALGORITHM],
            audience=audience,
            leeway=SKEW_SECONDS,
            options={"require": _CLAIMS},
        )
    except jwt.ExpiredSignatureError:
        raise _refused(audience, "the caller's statement has expired") from None
    except jwt.InvalidAudienceError:
        raise _refused(audience, "the caller's statement is for another agent") from None
    except jwt.InvalidTokenError as error:
        raise _refused(audience, f"the caller's statement is not valid: {error}") from None
    user = claims["sub"]
    if not isinstance(user, str) or not user.strip():
        raise _refused(audience, "the caller's statement names no user")
    if claims["exp"] - claims["iat"] > LIFETIME_SECONDS:
        raise _refused(audience, "the caller's statement is valid for too long")
    approved = claims.get("approved", "")
    return Caller(user, approved if isinstance(approved, str) else "")


def _refused(audience: str, what: str) -> CallerRefused:
    return CallerRefused(
        f"{audience} refused the request: {what}. "
        "Ask through the router; both agents need the newest version of caller-signing-key."
    )
