"""The one module that talks to Agent Runtime about what is deployed.

    GET   /v1beta1/{engine}                    the engine as it is
    PATCH /v1beta1/{engine}?updateMask=spec    one whole spec; answers with an operation
    PATCH …?updateMask=trafficConfig           which revisions serve
    GET   /v1beta1/{engine}/runtimeRevisions   what was deployed, the newest first
    POST  /v1beta1/{revision}:query            asks one revision
    GET   /v1beta1/{operation}                 the operation; a server may hold it until it ends
    GET   /v1beta1/{engine}/operations         those of the engine

Google's SDK offers `runtimes.update` for this. It packs archives of its own, polls every ten
seconds and never gives up, so the same request is sent here: built and checked with the SDK's
types, signed by google-auth. A test compares it with what the SDK sends.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NoReturn

from infra.errors import RemoteError
from services.release import remote, traffic
from services.release.target import Target
from services.sdk import import_guarded

VERSION = "v1beta1"
TIMEOUT_SECONDS = 90.0
"""Of one request; longer than the 25 s that the local platform holds the GET of an operation."""
AGAIN_READ = frozenset({408, 429, 500, 502, 503, 504})
AGAIN_WRITE = frozenset({429, 503})
"""Answers that say that nothing was done. A PATCH holds a whole spec, so sending it again changes
nothing more; one whose answer was lost is not sent again, since the first may still be at work."""


class Transport:
    """Agent Runtime at a target; may be used by several threads."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._base = f"{target.endpoints.agent_runtime}/{VERSION}"

    @cached_property
    def _session(self) -> Any:
        from google.auth.transport.requests import AuthorizedSession

        # A refused token is refreshed and sent again by the session; the rest is decided here.
        return AuthorizedSession(self._target.credentials)

    def engine(self, name: str) -> dict[str, Any]:
        """The engine `projects/…/reasoningEngines/ID`, keys in camelCase as the API answers."""
        return self._send("GET", name, again=AGAIN_READ)

    def operation(self, name: str) -> dict[str, Any]:
        """A long-running operation."""
        return self._send("GET", name, again=AGAIN_READ)

    def running(self, engine: str) -> list[dict[str, Any]]:
        """The engine's operations that are not done."""
        found = self._all(f"{engine}/operations", "operations")
        return [operation for operation in found if not operation.get("done")]

    def revisions(self, engine: str) -> list[dict[str, Any]]:
        """The engine's runtime revisions, the newest first."""
        found = self._all(f"{engine}/runtimeRevisions", "reasoningEngineRuntimeRevisions")
        return sorted(found, key=lambda r: str(r.get("createTime", "")), reverse=True)

    def _all(self, path: str, field: str) -> list[dict[str, Any]]:
        """A list's items, page by page."""
        found: list[dict[str, Any]] = []
        token = ""
        while True:
            query = {"pageToken": token} if token else None
            page = self._send("GET", path, again=AGAIN_READ, query=query)
            found += page.get(field, [])
            token = page.get("nextPageToken", "")
            if not token:
                return found

    def query(self, name: str, method: str, arguments: Mapping[str, Any]) -> Any:
        """The output of a class method of an engine or of one of its revisions."""
        body = {"classMethod": method, "input": dict(arguments)}
        return self._send("POST", f"{name}:query", again=AGAIN_WRITE, body=body).get("output")

    def patch_spec(
        self, name: str, spec: Mapping[str, Any], archive: bytes, etag: str | None = None
    ) -> dict[str, Any]:
        """Replaces the engine's whole spec and source; returns the operation.

        Args:
            spec: in snake_case, without the archive.
            archive: the source, tar and gzip.
            etag: of the engine as it was read; a server that honours it refuses if it changed.
        """
        body = {"spec": request_spec(spec, archive)} | ({"etag": etag} if etag else {})
        return self._send("PATCH", name, again=AGAIN_WRITE, query={"updateMask": "spec"}, body=body)

    def patch_traffic(self, name: str, split: traffic.Split) -> dict[str, Any]:
        """Splits the engine's traffic; returns the operation."""
        query = {"updateMask": "trafficConfig"}
        body = {"trafficConfig": request_traffic(split)}
        return self._send("PATCH", name, again=AGAIN_WRITE, query=query, body=body)

    def _send(
        self,
        method: str,
        path: str,
        *,
        again: frozenset[int],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        import requests

        where = f"{method} {path}"
        for attempt in range(1, remote.ATTEMPTS + 1):
            last = attempt == remote.ATTEMPTS
            with remote.calling(where):
                try:
                    answer = self._session.request(
                        method,
                        f"{self._base}/{path}",
                        params=query,
                        json=body,
                        timeout=TIMEOUT_SECONDS,
                        max_allowed_time=None,
                    )
                except requests.ConnectionError:
                    if last or method != "GET":
                        raise
                    answer = None
            if answer is not None and (last or answer.status_code not in again):
                return self._read(answer, where)
            time.sleep(_pause(answer, attempt))
        raise AssertionError("the last attempt returns or raises")

    def _read(self, answer: Any, where: str) -> dict[str, Any]:
        if answer.status_code >= 400:
            self._refuse(answer, where)
        try:
            result = answer.json()
        except ValueError:
            result = None
        if not isinstance(result, dict):
            raise RemoteError(
                "the answer is no JSON object: something else answers there",
                where=f"{where} at {self._base}",
                fix="check the endpoint of the environment",
            )
        return result

    def _refuse(self, answer: Any, where: str) -> NoReturn:
        try:
            error = answer.json()["error"]
            words = f"{error.get('status', '')} {error['message']}"
        except (ValueError, KeyError, TypeError, AttributeError):
            words = answer.text[:300]
        fix = self._target.provision if answer.status_code == 404 else None
        raise remote.Refused(where, answer.status_code, words, fix)


def request_spec(spec: Mapping[str, Any], archive: bytes) -> dict[str, Any]:
    """The spec as it is sent: checked by the SDK's model (an unknown field is an error), camelCase.

    The model takes 0.7 s to import, so it is imported only when there is something to send.
    """
    import_guarded()
    from agentplatform import types

    source = dict(spec["source_code_spec"]) | {"inline_source": {"source_archive": archive}}
    model = types.ReasoningEngineSpec.model_validate(dict(spec) | {"source_code_spec": source})
    body: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return body


def request_traffic(split: traffic.Split) -> dict[str, Any]:
    """The traffic's split as it is sent, checked by the SDK's model."""
    import_guarded()
    from agentplatform import types

    model = types.ReasoningEngineTrafficConfig.model_validate(traffic.config(split))
    body: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return body


def _pause(answer: Any, attempt: int) -> float:
    """Seconds to wait: what the server asks for (up to a minute), or twice as long each time."""
    asked = answer.headers.get("Retry-After", "") if answer is not None else ""
    if asked.isdigit():
        return min(float(asked), 60.0)
    return float(remote.BACKOFF_SECONDS * 2 ** (attempt - 1))
