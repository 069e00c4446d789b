"""Memories as they are kept, with their revisions, and how they are found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from services.emulator.errors import invalid
from services.emulator.rest import camel
from services.emulator.sessions import expired, expiring
from services.emulator.state import Body, Store, now

KIND, REVISION = "memory", "memory_revision"
_INPUT_ONLY = ("revisionLabels", "revisionTtl", "revisionExpireTime", "disableMemoryRevisions")
_STOP = frozenset(
    ("a", "an", "and", "are", "did", "do", "does", "for", "have", "how", "i", "in", "is", "it",
     "me", "my", "of", "on", "our", "the", "they", "to", "was", "we", "were", "what", "which",
     "with", "you")
)  # fmt: skip


def write(store: Store, body: Body, *, extracted: str | None = None) -> Body:
    """Writes a memory (its `name` may be new) and the revision that it now is; returns it.

    Args:
        extracted: the fact as it was extracted, before consolidation.
    """
    before = store.get(KIND, str(body["name"]))
    time = now()
    kept = {key: value for key, value in body.items() if key not in _INPUT_ONLY}
    if "metadata" in kept:
        kept["metadata"] = {key: camel(value) for key, value in kept["metadata"].items()}
    memory = expiring({**kept, "updateTime": time})
    memory.setdefault("createTime", time)
    with store.transaction():
        store.put(KIND, str(memory["name"]), memory)
        changed = before is None or before.get("fact") != memory.get("fact")
        if changed and not body.get("disableMemoryRevisions"):
            _add_revision(store, memory, body, extracted)
    return memory


def _add_revision(store: Store, memory: Body, body: Body, extracted: str | None) -> None:
    name = f"{memory['name']}/revisions/{store.next_id('memory_revision')}"
    revision = {"name": name, "createTime": memory["updateTime"], "fact": memory.get("fact", "")}
    if labels := body.get("revisionLabels"):
        revision["labels"] = labels
    if extracted is not None:
        revision["extractedMemories"] = [{"fact": extracted}]
    ttl = {"ttl": body.get("revisionTtl"), "expireTime": body.get("revisionExpireTime")}
    times = expiring({key: value for key, value in ttl.items() if value is not None})
    store.put(REVISION, name, revision | times)


def alive(store: Store, name: str) -> Body | None:
    """The memory if it exists and has not expired; what has expired is removed."""
    body = store.get(KIND, name)
    if body is not None and expired(body):
        remove(store, name)
        return None
    return body


def of(store: Store, engine: str) -> list[Body]:
    """An engine's memories, in the order of creation."""
    bodies = store.list(KIND, f"{engine}/memories/")
    return [body for body in bodies if alive(store, str(body["name"])) is not None]


def revisions(store: Store, name: str) -> list[Body]:
    """A memory's revisions, the newest first."""
    every = store.list(REVISION, f"{name}/revisions/")
    return [body for body in reversed(every) if not expired(body)]


def remove(store: Store, name: str) -> None:
    """Removes a memory and its revisions."""
    with store.transaction():
        for revision in store.list(REVISION, f"{name}/revisions/"):
            store.delete(REVISION, str(revision["name"]))
        store.delete(KIND, name)


def ranked(found: Iterable[Body], query: str) -> list[tuple[float, Body]]:
    """Memories with their distance, the nearest first; among equals the newest first.

    The distance is 1 minus the share of words that the fact and the query have in common (0: the
    same words, 1: none). Words that say nothing alone are left out, and a plural's s.
    """
    wanted = _words(query)
    pairs = [(_distance(wanted, _words(str(m.get("fact", "")))), m) for m in found]
    pairs.sort(key=lambda pair: datetime.fromisoformat(pair[1]["updateTime"]), reverse=True)
    return sorted(pairs, key=lambda pair: pair[0])


def _words(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W_]+", text.lower())
    return frozenset(word.rstrip("s") or word for word in words if word not in _STOP)


def _distance(left: frozenset[str], right: frozenset[str]) -> float:
    every = left | right
    return 1.0 - len(left & right) / len(every) if every else 1.0


def by_metadata(found: list[Body], groups: Any) -> list[Body]:
    """Memories that one of the groups lets through: all of a group's conditions on metadata hold.

    Raises:
        ApiError: INVALID_ARGUMENT, a condition other than equality.
    """
    if not groups:
        return found
    return [m for m in found if any(_all_hold(m.get("metadata", {}), group) for group in groups)]


def _all_hold(metadata: Body, group: Body) -> bool:
    for condition in group.get("filters", []):
        if condition.get("op", "EQUAL") != "EQUAL":
            raise invalid(f"filter_groups: the operator {condition['op']!r} is not supported here.")
        equal = metadata.get(str(condition.get("key"))) == camel(condition.get("value"))
        if equal == bool(condition.get("negate")):
            return False
    return True


def names(store: Store, engine: str) -> list[str]:
    """Names of an engine's memories."""
    return [str(body["name"]) for body in of(store, engine)]


def remove_all(store: Store, engine: str) -> None:
    """Removes an engine's memories."""
    for name in names(store, engine):
        remove(store, name)
