"""REST calls to the platform, as the google provider makes them, and waiting for operations."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from services.emulator.provider.errors import ApiFailure, ProviderError

if TYPE_CHECKING:
    import httpx

Body = dict[str, Any]

TIMEOUT_SECONDS = 60.0
"""For one request; the platform holds an operation's GET open for less than that."""
OPERATION_SECONDS = 20 * 60
"""How long to wait for an operation, as the google provider does by default."""
POLL_SECONDS = 0.05


class Client:
    """One connection pool to one platform; may be used by many threads."""

    def __init__(self, endpoint: str, token: str) -> None:
        """Args:
        endpoint: base URL without a slash.
        token: bearer token of every call.
        """
        import httpx  # not needed, and not paid for, by a platform that no Terraform talks to

        self.endpoint = endpoint
        self._http: httpx.Client = httpx.Client(
            base_url=endpoint,
            headers={"Authorization": f"Bearer {token}"},
            timeout=TIMEOUT_SECONDS,
            trust_env=False,
        )

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
    ) -> Body:
        """The JSON answer of one call; {} when there is none.

        Raises:
            ApiFailure: an answer other than success.
            ProviderError: the platform cannot be reached.
        """
        params = {"alt": "json", **(query or {})}
        return self._send(method, path, params=params, json=body)

    def find(self, path: str, *, query: Mapping[str, str] | None = None) -> Body | None:
        """The answer of a GET, or None for 404."""
        try:
            return self.call("GET", path, query=query)
        except ApiFailure as failure:
            if failure.code == 404:
                return None
            raise

    def upload(self, path: str, content: bytes, type_: str, query: Mapping[str, str]) -> Body:
        """A POST of bytes that are no JSON."""
        params = {"alt": "json", **query}
        headers = {"Content-Type": type_}
        return self._send("POST", path, params=params, content=content, headers=headers)

    def wait(self, operation: Body, version: str = "v1") -> Body:
        """The response of a long-running operation, once it has ended.

        Raises:
            ProviderError: it failed, or did not end in time.
        """
        end = time.monotonic() + OPERATION_SECONDS
        while not operation.get("done"):
            if time.monotonic() > end:
                raise ProviderError(
                    f"{operation['name']} did not end within {OPERATION_SECONDS // 60} minutes"
                )
            time.sleep(POLL_SECONDS)
            operation = self.call("GET", f"/{version}/{operation['name']}")
        if error := operation.get("error"):
            raise ProviderError(
                f"Error code {error.get('code')}, message: {error.get('message')}",
                f"The operation was: {operation['name']}",
            )
        response: Body = operation.get("response", {})
        return response

    def _send(self, method: str, path: str, **request: Any) -> Body:
        import httpx

        try:
            answer = self._http.request(method, path, **request)
        except httpx.HTTPError as error:
            raise ProviderError(
                f"the local platform at {self.endpoint} does not answer: {error}",
                f"The request was: {method} {path}",
            ) from error
        if answer.is_success:
            return answer.json() if answer.content else {}
        raise _failure(answer, f"{method} {answer.request.url.path}")


def _failure(answer: httpx.Response, call: str) -> ApiFailure:
    try:
        error = answer.json()["error"]
        message, status = str(error["message"]), str(error.get("status", ""))
    except (ValueError, KeyError, TypeError):
        message, status = answer.text[:500] or answer.reason_phrase, ""
    return ApiFailure(answer.status_code, status, message, call)
