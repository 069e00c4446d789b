"""Who calls: bearer tokens that the platform minted for service accounts, anything else the operator.

A token is a random string kept in memory; after a restart an engine's process is started anew, and
every other client asks for a new one.
"""

from __future__ import annotations

import secrets

OPERATOR = "user:operator@slipway.local"
LIFETIME_SECONDS = 3600


class Identity:
    """Mints and resolves bearer tokens."""

    def __init__(self) -> None:
        self._principals: dict[str, str] = {}

    def mint(self, email: str) -> str:
        """A new token for a service account."""
        token = f"ya29.local.{secrets.token_urlsafe(24)}"
        self._principals[token] = f"serviceAccount:{email}"
        return token

    def principal(self, authorization: str | None) -> str | None:
        """`serviceAccount:EMAIL`, or the operator for any other bearer token; None without one."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        return self._principals.get(token.strip(), OPERATOR)
