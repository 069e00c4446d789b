"""Plain JSON calls to Google's REST APIs with Google's credentials, where no client is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra.errors import RemoteError

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

SECONDS = 30.0


class Rest:
    """An authorized session that answers with JSON objects, and None for what is not there."""

    def __init__(self, credentials: Credentials) -> None:
        """Imports Google's transport; nothing is sent."""
        from google.auth.transport.requests import AuthorizedSession

        self._session = AuthorizedSession(credentials)

    def get(self, url: str) -> dict[str, Any] | None:
        """The resource at `url`, or None where there is none.

        Raises:
            RemoteError: any other answer than 200 and 404, or no answer.
        """
        return self._call("GET", url, None)

    def head_of(self, url: str, size: int) -> bytes | None:
        """The first `size` bytes of what is at `url`, or None where there is nothing.

        Raises:
            RemoteError: any other answer than 200, 206, 404 and 416, or no answer.
        """
        answer = self._send("GET", url, None, {"Range": f"bytes=0-{size - 1}"})
        if answer.status_code in {404, 416}:
            return None
        if not answer.ok:
            raise _refused("GET", url, answer)
        return bytes(answer.content[:size])

    def post(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        """Sends `body`; raises RemoteError for any other answer than 200."""
        answer = self._call("POST", url, body)
        if answer is None:
            raise RemoteError("the API has no such method", where=url)
        return answer

    def _call(self, method: str, url: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
        answer = self._send(method, url, body, {})
        if answer.status_code == 404:
            return None
        if not answer.ok:
            raise _refused(method, url, answer)
        found: dict[str, Any] = answer.json()
        return found

    def _send(self, method: str, url: str, body: Any, headers: dict[str, str]) -> Any:
        import requests
        from google.auth.exceptions import GoogleAuthError

        try:
            return self._session.request(method, url, json=body, headers=headers, timeout=SECONDS)
        except (requests.RequestException, GoogleAuthError) as error:
            raise RemoteError(f"no answer: {error}", where=url, fix="try again") from None


def _refused(method: str, url: str, answer: Any) -> RemoteError:
    return RemoteError(f"{answer.status_code}: {_message(answer.text)}", where=f"{method} {url}")


def _message(text: str) -> str:
    """The message inside a Google API error, or the text's beginning."""
    import json

    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text[:200]
