"""Requests that go on to an engine's process: queries, streams and A2A."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterable

import httpx
from starlette.responses import Response, StreamingResponse

from services.emulator import deployments
from services.emulator.errors import ApiError
from services.emulator.platform import Platform
from services.emulator.processes import Running
from services.emulator.rest import Call

# Of one connection only (RFC 9110), or written anew for the next one.
_OWN = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer",
        "transfer-encoding", "upgrade", "host", "content-length", "accept-encoding", "server",
        "date",
    }
)  # fmt: skip
_GOOGLE = re.compile(rb"https://[a-z0-9-]+-aiplatform\.googleapis\.com")
_CARD = re.compile(r"/(extendedAgentCard|card|agent-card\.json)$")


async def query(
    platform: Platform, engine: str, call: Call, *, stream: bool, revision: str | None = None
) -> Response:
    """`:query` or `:streamQuery`; the API's `classMethod` is the runtime's `class_method`.

    Args:
        revision: the one that is asked; None: the one that traffic goes to.

    Raises:
        ApiError: the engine cannot be asked.
    """
    body = call.body
    inner = {"class_method": body.get("classMethod") or "", "input": body.get("input") or {}}
    path = "/api/stream_reasoning_engine" if stream else "/api/reasoning_engine"
    content = json.dumps(inner).encode()
    return await _forward(platform, engine, call, path, content, in_band=stream, revision=revision)


async def a2a(platform: Platform, engine: str, call: Call) -> Response:
    """`/a2a/…`, as it is. A card names the cloud's host, and a client follows it: ours instead.

    Raises:
        ApiError: the engine cannot be asked.
    """
    path = f"/a2a/{call.path['rest']}"
    response = await _forward(platform, engine, call, path, call.raw, in_band=False)
    if not _CARD.search(path) or not isinstance(response, StreamingResponse):
        return response
    parts = [part async for part in response.body_iterator]
    card = b"".join(part.encode() if isinstance(part, str) else bytes(part) for part in parts)
    card = _GOOGLE.sub(platform.endpoint.encode(), card)
    headers = {key: value for key, value in response.headers.items() if key != "content-length"}
    return Response(card, response.status_code, headers)


async def _forward(
    platform: Platform,
    engine: str,
    call: Call,
    path: str,
    content: bytes,
    *,
    in_band: bool,
    revision: str | None = None,
) -> Response:
    running = await deployments.serving(platform, engine, revision)
    request = platform.http.build_request(
        call.request.method,
        f"http://127.0.0.1:{running.port}{path}",
        params=[(key, value) for key, value in call.query.items() if key != "alt"],
        headers=_passed(call.request.headers.items()),
        content=content,
    )
    running.requests += 1
    try:
        answer = await platform.http.send(request, stream=True)
    except BaseException as error:
        running.requests -= 1
        if isinstance(error, httpx.TransportError):
            raise _broken(engine) from None
        raise
    return StreamingResponse(
        _body(running, engine, answer, in_band=in_band),
        answer.status_code,
        _passed(answer.headers.items()),
    )


async def _body(
    running: Running, engine: str, answer: httpx.Response, *, in_band: bool
) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.aiter_raw():
            yield chunk
    except httpx.TransportError:
        if not in_band:
            raise
        yield bytes(_broken(engine).response().body) + b"\n"
    finally:
        running.requests -= 1
        await answer.aclose()


def _passed(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {key: value for key, value in headers if key.lower() not in _OWN}


def _broken(engine: str) -> ApiError:
    return ApiError("UNAVAILABLE", f"{engine} ended while it was asked.")
