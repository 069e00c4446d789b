"""Generating memories: what a source says, which topics allow it, and what is known already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from services.emulator import extraction, memories, sessions
from services.emulator.errors import invalid, not_found
from services.emulator.state import Body, Store

MAX_DIRECT = 5
# Without topics of its own a bank has all of Google's; which sort of fact each of them keeps.
MANAGED: dict[str, tuple[extraction.Sort, ...]] = {
    "USER_PREFERENCES": ("preference",),
    "USER_PERSONAL_INFO": ("scope",),
    "EXPLICIT_INSTRUCTIONS": (),
    "KEY_CONVERSATION_DETAILS": (),
}
# A custom topic keeps a sort when its label or description has one of these in it.
_HINTS: dict[extraction.Sort, tuple[str, ...]] = {
    "preference": ("prefer", "wish", "likes"),
    "scope": ("scope", "works on", "work on", "responsib", "team", "role"),
}
_SOURCES = ("directContentsSource", "directMemoriesSource", "vertexSessionSource")


@dataclass(frozen=True)
class _Candidate:
    text: str
    slot: str
    topic: Body | None


def generate(store: Store, bank: Body, request: Body) -> list[Body]:
    """Writes what the request's source says; returns the API's `generatedMemories`.

    Args:
        bank: the engine.
        request: of generate or ingestEvents, in camelCase.

    Raises:
        ApiError: INVALID_ARGUMENT or NOT_FOUND.
    """
    given = [source for source in _SOURCES if request.get(source) is not None]
    if len(given) != 1:
        raise invalid(f"Exactly one source is required; given: {', '.join(given) or 'none'}.")
    source = request[given[0]]
    scope = request.get("scope")
    if given[0] == "vertexSessionSource":
        session, texts = _session(store, bank, source)
        scope = scope or {"user_id": session["userId"]}
    if not isinstance(scope, dict) or not scope:
        raise invalid("scope is required.")
    if given[0] == "directMemoriesSource":
        found = _direct(source)
    else:
        if given[0] == "directContentsSource":
            texts = _texts(source.get("events", []))
        found = _extracted(texts, _topics(bank, scope, request.get("allowedTopics")))
    return [made for item in found if (made := _consolidate(store, bank, scope, request, item))]


def _session(store: Store, bank: Body, source: Body) -> tuple[Body, list[str]]:
    """The session (its engine's ID and its own are what counts), and what the user said in it."""
    parts = str(source.get("session", "")).split("/")
    engine = str(bank["name"]).rpartition("/")[0] + f"/{parts[-3] if len(parts) > 2 else ''}"
    name = f"{engine}/sessions/{parts[-1]}"
    body = sessions.alive(store, name)
    if body is None:
        raise not_found(name)
    events = store.list(sessions.EVENT, f"{name}/events/")
    return body, _texts([event for event in events if event.get("author") == "user"])


def _texts(events: list[Body]) -> list[str]:
    """Texts of the contents whose role is the user's."""
    contents = [event.get("content") or {} for event in events]
    return [
        " ".join(str(part["text"]) for part in content.get("parts") or [] if part.get("text"))
        for content in contents
        if content.get("role") == "user"
    ]


def _direct(source: Body) -> list[_Candidate]:
    facts = [str(item.get("fact") or "") for item in source.get("directMemories", [])]
    if not 1 <= len(facts) <= MAX_DIRECT or not all(facts):
        raise invalid(f"direct_memories_source: 1 to {MAX_DIRECT} facts are required.")
    return [_Candidate(fact, extraction.slot(fact), None) for fact in facts]


def _extracted(texts: list[str], topics: dict[extraction.Sort, Body]) -> list[_Candidate]:
    return [
        _Candidate(fact.text, fact.slot, topics[fact.sort])
        for fact in extraction.facts(texts)
        if fact.sort in topics
    ]


def _topics(bank: Body, scope: dict[str, str], allowed: Any) -> dict[extraction.Sort, Body]:
    """The first of the bank's topics that keeps each sort of fact, as memories refer to topics."""
    found: dict[extraction.Sort, Body] = {}
    for topic in _configured(bank, scope):
        custom, managed = topic.get("customMemoryTopic"), topic.get("managedMemoryTopic") or {}
        if custom:
            words = f"{custom.get('label', '')} {custom.get('description', '')}".lower()
            words = words.replace("_", " ")
            reference = {"customMemoryTopicLabel": custom.get("label", "")}
            sorts = [sort for sort, hints in _HINTS.items() if any(h in words for h in hints)]
        else:
            name = str(managed.get("managedTopicEnum", ""))
            reference = {"managedMemoryTopic": name}
            sorts = list(MANAGED.get(name, ()))
        if not allowed or reference in allowed:
            for sort in sorts:
                found.setdefault(sort, reference)
    return found


def _configured(bank: Body, scope: dict[str, str]) -> list[Body]:
    """The topics for a scope: of the configuration for its keys, or of the one for any."""
    config = bank.get("contextSpec", {}).get("memoryBankConfig", {})
    customized = config.get("customizationConfigs", [])
    default: list[Body] = [{"managedMemoryTopic": {"managedTopicEnum": name}} for name in MANAGED]
    if not customized:
        return default
    for keys in (sorted(scope), []):
        for item in customized:
            if sorted(item.get("scopeKeys") or []) == keys:
                return list(item.get("memoryTopics") or default)
    return []


def _consolidate(
    store: Store, bank: Body, scope: dict[str, str], request: Body, item: _Candidate
) -> Body | None:
    """Writes the fact: over the memory of the same slot, or as a new one. None: it is known."""
    extra = {key: request[key] for key in ("revisionLabels", "revisionTtl", "metadata",
             "disableMemoryRevisions") if request.get(key) is not None}  # fmt: skip
    if item.topic is not None:
        extra["topics"] = [item.topic]
    same = None
    if not request.get("disableConsolidation"):
        own = [m for m in memories.of(store, str(bank["name"])) if m["scope"] == scope]
        same = next((m for m in own if extraction.slot(str(m.get("fact"))) == item.slot), None)
    if same is not None and same["fact"] == item.text:
        return None
    if same is not None:
        before = memories.revisions(store, str(same["name"]))
        written = memories.write(store, {**same, **extra, "fact": item.text}, extracted=item.text)
        made: Body = {"memory": {"name": written["name"]}, "action": "UPDATED"}
        if before:
            made["previousRevision"] = before[0]["name"]
        return made
    name = f"{bank['name']}/memories/{store.next_id('memory')}"
    new = {**extra, "name": name, "scope": scope, "fact": item.text}
    memories.write(store, new, extracted=item.text)
    return {"memory": {"name": name}, "action": "CREATED"}
