"""Waits for long-running operations: asks soon at first, then every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from infra.errors import RemoteError
from services.release import remote
from services.release.transport import Transport

Operation = Mapping[str, Any]

DEADLINE_SECONDS = 1800.0
"""How long an update may take; the cloud builds an image from the source."""
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0


class NotDone(RemoteError):
    """An operation that takes longer than it may; perhaps it never ends."""


def wait(
    transport: Transport, operation: Mapping[str, Any], deadline: float | None = None
) -> dict[str, Any]:
    """The operation once it is done.

    Args:
        deadline: seconds; None for DEADLINE_SECONDS.

    Raises:
        NotDone: it is not done by then.
        RemoteError: it cannot be asked for.
    """
    deadline = DEADLINE_SECONDS if deadline is None else deadline
    latest = time.monotonic() + deadline
    pause = FIRST_PAUSE_SECONDS
    current = dict(operation)
    while not current.get("done"):
        asked = time.monotonic()
        current = transport.operation(str(operation["name"]))
        if current.get("done"):
            break
        if time.monotonic() > latest:
            raise NotDone(
                f"the operation is not done after {deadline:.0f} s",
                where=str(operation["name"]),
                fix="run the same command again: it goes on from what the engine says then",
            )
        # A server that held the answer has made us wait already.
        time.sleep(max(0.0, pause - (time.monotonic() - asked)))
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
    return current


def end(transport: Transport, operation: str | None, deadline: float | None = None) -> bool:
    """Waits until an operation has ended, however; one that is forgotten has.

    Args:
        deadline: as `wait` takes it. One that is not done by then is taken for lost, or nobody
            could ever deploy again: what counts is what the engine says.

    Returns:
        Whether it has ended.

    Raises:
        RemoteError: it cannot be asked for.
    """
    if operation is None:
        return True
    try:
        wait(transport, {"name": operation}, deadline)
    except NotDone:
        return False
    except remote.Refused as error:
        # Operations are forgotten in time; what counts is what the engine says afterwards.
        if error.status != 404:
            raise
    return True


def quiet(
    transport: Transport, engine: str, noted: str | None, time_left: Callable[[Operation], float]
) -> bool:
    """Waits until nothing is at work on an engine; what was sent may be unknown to its sender.

    Args:
        noted: the operation that is on record, if any; others are those that the engine lists.
        time_left: the deadline of one, as `end` takes it.

    Returns:
        Whether all have ended.

    Raises:
        RemoteError: they cannot be asked for.
    """
    found = {str(operation["name"]): operation for operation in transport.running(engine)}
    if noted is not None and noted not in found:
        try:
            found[noted] = transport.operation(noted)
        except remote.Refused as error:
            if error.status != 404:
                raise
    ended = [end(transport, name, time_left(body)) for name, body in found.items()]
    return all(ended)


def left(operation: Mapping[str, Any], now: datetime) -> float:
    """Seconds that an operation may still take; 0 when it is over its time.

    Args:
        now: by the API's clock, which also says when the operation began.
    """
    began = ((operation.get("metadata") or {}).get("genericMetadata") or {}).get("createTime")
    if began is None:
        return DEADLINE_SECONDS
    age = (now - datetime.fromisoformat(str(began).replace("Z", "+00:00"))).total_seconds()
    return max(0.0, DEADLINE_SECONDS - age)
