"""Runs calls side by side on threads that do not outlive an interrupted command."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def side_by_side(calls: Mapping[str, Callable[[], T]], *, at_most: int) -> dict[str, T | Exception]:
    """The result, or the exception, of each call, in the order of `calls`.

    The threads are daemons, unlike those of a ThreadPoolExecutor: an answer may take half an hour
    to come, and Ctrl-C must not wait for it.
    """
    waiting: SimpleQueue[tuple[str, Callable[[], T]]] = SimpleQueue()
    done: SimpleQueue[tuple[str, T | Exception]] = SimpleQueue()
    for item in calls.items():
        waiting.put(item)

    def work() -> None:
        while True:
            try:
                name, call = waiting.get_nowait()
            except Empty:
                return
            try:
                done.put((name, call()))
            except Exception as error:  # noqa: BLE001 - handed to the caller as it is
                done.put((name, error))

    for _ in range(min(at_most, len(calls))):
        threading.Thread(target=work, daemon=True).start()
    results = dict(done.get() for _ in calls)
    return {name: results[name] for name in calls}


def all_of(calls: Mapping[str, Callable[[], T]], *, at_most: int) -> dict[str, T]:
    """As `side_by_side`; the first exception is raised once every call has ended."""
    results = side_by_side(calls, at_most=at_most)
    for result in results.values():
        if isinstance(result, Exception):
            raise result
    return {name: result for name, result in results.items() if not isinstance(result, Exception)}
