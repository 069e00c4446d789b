"""The provider's calls to the platform's REST APIs, as the real provider makes them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import httpx

OPERATION_SECONDS = 1200.0


class ApiFailure(Exception):
    """An API answered with an error: its status and its own words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"Error {status}: {message}")
        self.status = status


class Client:
    """JSON over HTTP to the custom endpoints of a provider configuration."""

    def __init__(self, endpoints: Mapping[str, str], token: str) -> None:
        """Args: endpoints: base URLs ending in `/`, by the name of the API in PATHS."""
        self._endpoints = endpoints
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {token}"}, timeout=120, trust_env=False
        )

    def call(
        self,
        method: str,
        api: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> dict[str, Any]:
        """One call; `path` is relative to the endpoint of `api`.

        Raises:
            ApiFailure: any answer but success.
        """
        params = {"alt": "json", **(query or {})}
        return self._send(method, self._url(api, path), params, json=body)

    def find(
        self, api: str, path: str, query: Mapping[str, str] | None = None
    ) -> dict[str, Any] | None:
        """GET; None for what is not there."""
        try:
            return self.call("GET", api, path, query=query)
        except ApiFailure as failure:
            if failure.status == 404:
                return None
            raise

    def wait(self, api: str, operation: dict[str, Any]) -> dict[str, Any]:
        """The response of a long-running operation.

        Raises:
            ApiFailure: it failed, or did not end in time.
        """
        end = time.monotonic() + OPERATION_SECONDS
        while not operation.get("done"):
            if time.monotonic() > end:
                raise ApiFailure(504, f"{operation['name']} did not end in time")
            operation = self.call("GET", api, operation["name"])
        if error := operation.get("error"):
            raise ApiFailure(int(error.get("code", 0)), str(error.get("message", "")))
        response: dict[str, Any] = operation.get("response", {})
        return response

    def upload(
        self, bucket: str, name: str, metadata: dict[str, Any], data: bytes
    ) -> dict[str, Any]:
        """Writes an object by a multipart upload, at the host's root as the real provider does."""
        import json

        mark = "slipway-part"
        head = f"--{mark}\r\nContent-Type: application/json\r\n\r\n{json.dumps(metadata)}\r\n"
        content_type = metadata.get("contentType", "text/plain; charset=utf-8")
        part = f"--{mark}\r\nContent-Type: {content_type}\r\n\r\n"
        content = (head + part).encode() + data + f"\r\n--{mark}--".encode()
        url = str(httpx.URL(self._endpoints["storage"]).join(f"/upload/storage/v1/b/{bucket}/o"))
        query = {"uploadType": "multipart", "name": name, "alt": "json"}
        header = {"Content-Type": f"multipart/related; boundary={mark}"}
        return self._send("POST", url, query, content=content, headers=header)

    def download(self, path: str) -> bytes:
        """An object's bytes; `path` as for `call` on `storage`."""
        answer = self._http.get(self._url("storage", path), params={"alt": "media"})
        if answer.is_error:
            raise _failure(answer)
        return answer.content

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def _url(self, api: str, path: str) -> str:
        return self._endpoints[api] + path

    def _send(
        self, method: str, url: str, query: Mapping[str, str], **request: Any
    ) -> dict[str, Any]:
        try:
            answer = self._http.request(method, url, params=dict(query), **request)
        except httpx.TransportError as error:
            raise ApiFailure(503, f"{method} {url}: {error}") from None
        if answer.is_error:
            raise _failure(answer)
        body: dict[str, Any] = answer.json() if answer.content else {}
        return body


def _failure(answer: httpx.Response) -> ApiFailure:
    try:
        message = str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = answer.text[:300]
    return ApiFailure(answer.status_code, message)
