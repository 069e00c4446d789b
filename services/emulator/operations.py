"""Long-running operations, and a GET that waits until they end.

The SDK polls every ten seconds; holding its GET open until the operation ends (or `HOLD_SECONDS`
pass) means that it loses none.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from services.emulator.errors import RPC, ApiError, not_found
from services.emulator.state import Body, Store, now

HOLD_SECONDS = 25.0
KIND = "operation"


@dataclass(frozen=True)
class Order:
    """What was ordered of an operation: how it ends (`fails`, `hangs`), how long it builds."""

    end: str | None = None
    build: float = 0.0


ORDERED: ContextVar[Order | None] = ContextVar("ordered", default=None)
"""Of the operations that the request at hand starts."""


class Operations:
    """Operations by full name, `PARENT/operations/ID`; they are kept, so they survive a restart."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ended: dict[str, asyncio.Event] = {}
        self._ordered: dict[str, Order] = {}

    def start(self, parent: str, *, metadata: Body | None = None) -> Body:
        """A new operation that is not done; without a parent its name is `operations/ID`."""
        place = f"{parent}/operations" if parent else "operations"
        name = f"{place}/{self._store.next_id('operation')}"
        self._ended[name] = asyncio.Event()
        if (order := ORDERED.get()) is not None:
            self._ordered[name] = order
        time = now()
        meta = {"genericMetadata": {"createTime": time, "updateTime": time}, **(metadata or {})}
        return self._store.put(KIND, name, {"name": name, "metadata": meta})

    async def build(self, name: str) -> None:
        """Takes the time that a build was ordered to take."""
        if (order := self._ordered.get(name)) is not None:
            await asyncio.sleep(order.build)

    def fails(self, name: str) -> bool:
        """Whether it was ordered to fail before its effect."""
        order = self._ordered.get(name)
        return order is not None and order.end == "fails"

    def succeed(self, name: str, response: Body) -> Body:
        """Ends it with a response, which carries its own `@type`."""
        return self._end(name, {"done": True, "response": response})

    def fail(self, name: str, status: str, message: str) -> Body:
        """Ends it with an error; `status` is a google.rpc.Code name."""
        return self._end(name, {"done": True, "error": {"code": RPC[status], "message": message}})

    def done(self, parent: str, response: Body) -> Body:
        """An operation that has ended before it is first seen."""
        return self.succeed(str(self.start(parent)["name"]), response)

    async def wait(self, name: str, seconds: float = HOLD_SECONDS) -> Body:
        """The operation once it is done, or as it is after `seconds`.

        Raises:
            ApiError: NOT_FOUND.
        """
        body = self._store.get(KIND, name)
        if body is None:
            raise not_found(name)
        event = self._ended.get(name)
        if not body.get("done") and event is not None:
            try:
                await asyncio.wait_for(event.wait(), seconds)
            except TimeoutError:
                return body
            body = self._store.get(KIND, name)
            assert body is not None
        return body

    def of(self, parent: str) -> list[Body]:
        """The operations of a parent, the oldest first."""
        return self._store.list(KIND, f"{parent}/operations/")

    def fail_interrupted(self) -> None:
        """Ends what an earlier process left undone; called once, at start."""
        for body in self._store.list(KIND):
            if not body.get("done"):
                self.fail(
                    body["name"], "ABORTED", "The platform stopped before this operation ended."
                )

    def _end(self, name: str, outcome: dict[str, Any]) -> Body:
        body = self._store.get(KIND, name)
        if body is None:
            raise ApiError("INTERNAL", f"unknown operation {name}")
        if (order := self._ordered.pop(name, None)) is not None and order.end == "hangs":
            return body
        body["metadata"].get("genericMetadata", {})["updateTime"] = now()
        self._store.put(KIND, name, {**body, **outcome})
        if event := self._ended.pop(name, None):
            event.set()
        return {**body, **outcome}
