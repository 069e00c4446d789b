"""Waits for long-running operations: asks soon at first, then every few seconds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from infra.errors import RemoteError
from services.release import remote
from services.release.transport import Transport

DEADLINE_SECONDS = 1800.0
"""How long an update may take; the cloud builds an image from the source."""
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0


def wait(
    transport: Transport, operation: Mapping[str, Any], deadline: float = DEADLINE_SECONDS
) -> dict[str, Any]:
    """The operation once it is done.

    Raises:
        RemoteError: it is not done after `deadline` seconds.
    """
    latest = time.monotonic() + deadline
    pause = FIRST_PAUSE_SECONDS
    current = dict(operation)
    while not current.get("done"):
        asked = time.monotonic()
        current = transport.operation(str(operation["name"]))
        if current.get("done"):
            break
        if time.monotonic() > latest:
            raise RemoteError(
                f"the operation is not done after {deadline:.0f} s; it goes on",
                where=str(operation["name"]),
                fix="run the same command again: it waits for it, then goes on from there",
            )
        # A server that held the answer has made us wait already.
        time.sleep(max(0.0, pause - (time.monotonic() - asked)))
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
    return current


def end(transport: Transport, operation: str | None) -> None:
    """Waits until an operation has ended, however; one that is forgotten has.

    Raises:
        RemoteError: it cannot be asked for, or is not done in time.
    """
    if operation is None:
        return
    try:
        wait(transport, {"name": operation})
    except remote.Refused as error:
        # Operations are forgotten in time; what counts is what the engine says afterwards.
        if error.status != 404:
            raise
