"""Who calls: a service account by a token that the platform minted, else the operator.

A token is a random string kept in memory; after a restart an engine's process is started anew, and
every other client asks for a new one. It does not expire: `LIFETIME_SECONDS` is what clients are
told, and they renew it by then.
"""

from __future__ import annotations

import secrets

OPERATOR = "user:operator@slipway.local"
LIFETIME_SECONDS = 3600


class Identity:
    """Mints and resolves bearer tokens."""

    def __init__(self) -> None:
        self._tokens: dict[str, str] = {}
        self._principals: dict[str, str] = {}

    def mint(self, email: str) -> str:
        """A service account's token; the same one as long as the platform runs."""
        token = self._tokens.setdefault(email, f"ya29.local.{secrets.token_urlsafe(24)}")
        self._principals[token] = f"serviceAccount:{email}"
        return token

    def operator_token(self) -> str:
        """A token of the operator's."""
        return f"ya29.operator.{secrets.token_urlsafe(24)}"

    def principal(self, authorization: str | None) -> str | None:
        """`serviceAccount:EMAIL`, or the operator for any other bearer token; None without one."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return None
        return self._principals.get(token.strip(), OPERATOR)
