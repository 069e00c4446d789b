"""Faults to order: "answer the next PATCH with 503", a reset, an operation that never ends.

    POST   /_faults    {"method": "PATCH", "path": "reasoningEngines", "times": 1, "status": 503}
    GET    /_faults    every order, with how often it fired
    DELETE /_faults    forgets them all

`path` is a regular expression that is searched for in the request's path. An order has one of:
`status` (with `retryAfter`), `reset` ("before" or "after" the effect), `delay` (seconds),
`operation` ("fails" or "hangs", for a call that starts one), `build` (seconds that the operation
which it starts takes before its effect, as a build in the cloud does), `stale` (true: a GET answers
what it answered before the last change).
"""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.emulator import operations
from services.emulator.errors import HTTP, ApiError, invalid
from services.emulator.platform import Platform

PATH = "/_faults"
REMEMBERED = 200
"""Answers of GET that are kept for a stale read."""
_WORDS = {code: word for word, code in reversed(HTTP.items())}
_KINDS = ("status", "reset", "delay", "operation", "build", "stale")


@dataclass
class Order:
    """One order; `fired` counts."""

    method: str
    path: str
    times: int = 1
    status: int | None = None
    retryAfter: int | None = None
    reset: str | None = None
    delay: float | None = None
    operation: str | None = None
    build: float | None = None
    stale: bool | None = None
    fired: int = 0

    def matches(self, method: str, path: str) -> bool:
        """Whether it is due for this request."""
        return (
            self.fired < self.times
            and self.method in ("*", method)
            and re.search(self.path, path) is not None
        )


class Faults:
    """The orders, and the middleware that carries them out."""

    def __init__(self, app: ASGIApp, platform: Platform) -> None:
        self._app = app
        self._orders: list[Order] = platform.faults
        self._answers: dict[str, list[bytes]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["path"].startswith(PATH):
            await self._app(scope, receive, send)
            return
        order = self._due(scope["method"], scope["path"])
        if order is None:
            await self._remember(scope, receive, send)
            return
        order.fired += 1
        if order.status is not None:
            await _refusal(order)(scope, receive, send)
        elif order.reset == "before":
            _abort(send)
        elif order.reset == "after":
            await self._app(scope, receive, _swallow)
            _abort(send)
        elif order.delay is not None:
            await asyncio.sleep(order.delay)
            await self._app(scope, receive, send)
        elif order.operation is not None or order.build is not None:
            token = operations.ORDERED.set(operations.Order(order.operation, order.build or 0.0))
            await self._app(scope, receive, send)
            operations.ORDERED.reset(token)
        else:
            await self._stale(scope, receive, send)

    def _due(self, method: str, path: str) -> Order | None:
        return next((order for order in self._orders if order.matches(method, path)), None)

    async def _remember(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on, and keeps the last two different answers of a GET."""
        if scope["method"] != "GET" or not self._orders:
            await self._app(scope, receive, send)
            return
        parts: list[bytes] = []

        async def keep(message: Message) -> None:
            if message["type"] == "http.response.body":
                parts.append(message.get("body", b""))
            await send(message)

        await self._app(scope, receive, keep)
        seen = self._answers.setdefault(scope["path"], [])
        body = b"".join(parts)
        if not seen or seen[-1] != body:
            seen.append(body)
            del seen[:-2]
        if len(self._answers) > REMEMBERED:
            self._answers.pop(next(iter(self._answers)))

    async def _stale(self, scope: Scope, receive: Receive, send: Send) -> None:
        seen = self._answers.get(scope["path"])
        if not seen:
            await self._app(scope, receive, send)
            return
        await Response(seen[-1], media_type="application/json")(scope, receive, send)


def routes(platform: Platform) -> list[BaseRoute]:
    """The control API."""

    async def order(request: Request) -> Response:
        try:
            made = _parse(json.loads(await request.body()))
        except (ValueError, TypeError, re.error) as error:
            return invalid(f"no order: {error}").response()
        platform.faults.append(made)
        return JSONResponse({"index": len(platform.faults) - 1})

    async def listed(request: Request) -> Response:
        del request
        return JSONResponse({"faults": [asdict(order) for order in platform.faults]})

    async def forget(request: Request) -> Response:
        del request
        platform.faults.clear()
        return JSONResponse({})

    return [
        Route(PATH, order, methods=["POST"]),
        Route(PATH, listed, methods=["GET"]),
        Route(PATH, forget, methods=["DELETE"]),
    ]


def _parse(body: Any) -> Order:
    made = Order(**{"method": "*", **body, "fired": 0})
    re.compile(made.path)
    if len([kind for kind in _KINDS if getattr(made, kind) is not None]) != 1:
        raise ValueError(f"give exactly one of {', '.join(_KINDS)}")
    if made.reset not in (None, "before", "after"):
        raise ValueError("reset is before or after")
    if made.operation not in (None, "fails", "hangs"):
        raise ValueError("operation is fails or hangs")
    return made


def _refusal(order: Order) -> Response:
    assert order.status is not None
    word = _WORDS.get(order.status, "INTERNAL")
    answer = ApiError(word, "This answer was ordered.").response()
    answer.status_code = order.status
    if order.retryAfter is not None:
        answer.headers["Retry-After"] = str(order.retryAfter)
    return answer


async def _swallow(message: Message) -> None:
    del message


def _abort(send: Send) -> None:
    """Resets the connection: the server's own object is behind its `send`."""
    cycle: Any = getattr(send, "__self__", None)
    cycle.transport.abort()
