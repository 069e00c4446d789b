"""Whose credentials a command uses: the account that Google knows, not the one on the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.release.target import Target

SECONDS = 10.0
SERVICE_ACCOUNTS = ".gserviceaccount.com"


def acting(target: Target) -> str | None:
    """The principal as IAM writes it, `user:…` or `serviceAccount:…`; None when it is not told.

    A service account's credentials name it. Of others, Google's tokeninfo gives the address behind
    a token; the token goes in the request's body, so that it is in no log of addresses.
    """
    credentials = target.credentials
    email = getattr(credentials, "service_account_email", None)
    if not email or "@" not in email:
        email = _of_token(target)
    if not email:
        return None
    kind = "serviceAccount" if email.endswith(SERVICE_ACCOUNTS) else "user"
    return f"{kind}:{email}"


def _of_token(target: Target) -> str | None:
    import requests
    from google.auth.exceptions import GoogleAuthError
    from google.auth.transport.requests import Request

    credentials = target.credentials
    try:
        if not credentials.valid:
            credentials.refresh(Request())
        answer = requests.post(
            f"{target.endpoints.token_info}/tokeninfo",
            data={"access_token": credentials.token},
            timeout=SECONDS,
        )
        found = answer.json() if answer.ok else {}
    except (requests.RequestException, GoogleAuthError, ValueError):
        return None
    return str(found["email"]) if isinstance(found, dict) and found.get("email") else None
