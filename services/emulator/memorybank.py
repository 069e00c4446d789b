"""Memory Bank: memories, their generation, retrieval and revisions.

Extraction and consolidation are models in the cloud and rules here (see extraction). Two more
differences: events are processed at once, whatever generation rule the bank has, and similarity is
the share of common words instead of a distance between embeddings.
"""

from __future__ import annotations

from starlette.routing import BaseRoute

from services.emulator import engines, filters, generation, masks, memories
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, page, route
from services.emulator.sessions import check_id
from services.emulator.state import Body

PATH = engines.PATH + "/memories"
ONE = PATH + "/{memory:id}"
TOP_K, MAX_TOP_K = 3, 100
_FILTERS = frozenset(
    {"name", "fact", "scope", "topics", "displayName", "createTime", "updateTime", "metadata"}
)
_EMPTY = {"@type": "type.googleapis.com/google.protobuf.Empty"}


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    api = MemoryBank(platform)
    return [
        route("POST", PATH, api.create),
        route("GET", PATH, api.list),
        route("POST", PATH + ":generate", api.generate),
        route("POST", PATH + ":ingestEvents", api.ingest),
        route("POST", PATH + ":retrieve", api.retrieve),
        route("POST", PATH + ":retrieveProfiles", api.profiles),
        route("POST", PATH + ":purge", api.purge),
        route("GET", ONE, api.get),
        route("PATCH", ONE, api.update),
        route("DELETE", ONE, api.delete),
        route("GET", ONE + "/revisions", api.revisions),
        route("GET", ONE + "/revisions/{revision:id}", api.revision),
    ]


class MemoryBank:
    """The handlers."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def create(self, call: Call) -> Result:
        """POST: a fact as it is; `fact` and `scope` are required, an ID may be chosen."""
        engine = self._engine(call)
        body = masks.check(call.body, masks.MEMORY, "memory")
        chosen = call.query.get("memoryId")
        if chosen is not None:
            check_id(chosen, "memory_id")
        if not body.get("fact"):
            raise invalid("memory.fact is required.")
        scope = _scope(body)
        name = f"{engine}/memories/{chosen or self._store.next_id('memory')}"
        if memories.alive(self._store, name) is not None:
            raise ApiError("ALREADY_EXISTS", f"{name} already exists.")
        memory = memories.write(self._store, {**body, "name": name, "scope": scope})
        return self._platform.operations.done(name, engines.typed(call, "Memory", memory))

    async def list(self, call: Call) -> Result:
        """GET of the collection, by `filter`."""
        every = memories.of(self._store, self._engine(call))
        return page(filters.matching(every, call.query.get("filter"), _FILTERS), call, "memories")

    async def get(self, call: Call) -> Result:
        """GET of one."""
        return self._find(call)

    async def update(self, call: Call) -> Result:
        """PATCH by mask; a new fact is a new revision."""
        current = self._find(call)
        body = masks.check(call.body, masks.MEMORY, "memory")
        new = masks.merge(current, body, call.query.get("updateMask"), masks.MEMORY)
        memory = memories.write(self._store, {**new, "scope": _scope(new)})
        answer = engines.typed(call, "Memory", memory)
        return self._platform.operations.done(str(memory["name"]), answer)

    async def delete(self, call: Call) -> Result:
        """DELETE of one, with its revisions."""
        name = str(self._find(call)["name"])
        memories.remove(self._store, name)
        return self._platform.operations.done(name, _EMPTY)

    async def generate(self, call: Call) -> Result:
        """POST of `:generate`: from contents, from a session, or from facts."""
        bank = engines.find(self._platform, call)
        made = generation.generate(self._store, bank, call.body)
        answer = engines.typed(call, "GenerateMemoriesResponse", {"generatedMemories": made})
        return self._platform.operations.done(str(bank["name"]), answer)

    async def ingest(self, call: Call) -> Result:
        """POST of `:ingestEvents`: like generate; without events it only sets a trigger."""
        bank = engines.find(self._platform, call)
        if (call.body.get("directContentsSource") or {}).get("events"):
            generation.generate(self._store, bank, call.body)
        answer = engines.typed(call, "IngestEventsResponse", {})
        return self._platform.operations.done(str(bank["name"]), answer)

    async def retrieve(self, call: Call) -> Result:
        """POST of `:retrieve`: the memories of exactly this scope, by likeness or all."""
        engine, scope = self._engine(call), _scope(call.body)
        found = [m for m in memories.of(self._store, engine) if m["scope"] == scope]
        found = filters.matching(found, call.body.get("filter"), _FILTERS)
        found = memories.by_metadata(found, call.body.get("filterGroups"))
        search = call.body.get("similaritySearchParams")
        if search is None:
            return _page(found, call.body.get("simpleRetrievalParams"))
        if not search.get("searchQuery"):
            raise invalid("similarity_search_params.search_query is required.")
        top = int(search.get("topK") or TOP_K)
        if not 1 <= top <= MAX_TOP_K:
            raise invalid(f"similarity_search_params.top_k must be 1 to {MAX_TOP_K}.")
        ranked = memories.ranked(found, str(search["searchQuery"]))
        near = [{"memory": memory, "distance": distance} for distance, memory in ranked[:top]]
        return {"retrievedMemories": near}

    async def profiles(self, call: Call) -> Result:
        """POST of `:retrieveProfiles`: there are no structured memories here."""
        self._engine(call)
        _scope(call.body)
        return {"profiles": {}}

    async def purge(self, call: Call) -> Result:
        """POST of `:purge`: without `force` it only counts."""
        engine = self._engine(call)
        wanted, groups = call.body.get("filter"), call.body.get("filterGroups")
        if not wanted and not groups:
            raise invalid("filter is required.")
        found = filters.matching(memories.of(self._store, engine), wanted, _FILTERS)
        found = memories.by_metadata(found, groups)
        if call.body.get("force") is True:
            for memory in found:
                memories.remove(self._store, str(memory["name"]))
        answer = engines.typed(call, "PurgeMemoriesResponse", {"purgeCount": len(found)})
        return self._platform.operations.done(engine, answer)

    async def revisions(self, call: Call) -> Result:
        """GET of a memory's revisions, the newest first."""
        name = str(self._find(call)["name"])
        return page(memories.revisions(self._store, name), call, "memoryRevisions")

    async def revision(self, call: Call) -> Result:
        """GET of one revision."""
        name = f"{self._find(call)['name']}/revisions/{call.path['revision']}"
        body = self._store.get(memories.REVISION, name)
        if body is None:
            raise not_found(name)
        return body

    def _engine(self, call: Call) -> str:
        return str(engines.find(self._platform, call)["name"])

    def _find(self, call: Call) -> Body:
        name = f"{self._engine(call)}/memories/{call.path['memory']}"
        body = memories.alive(self._store, name)
        if body is None:
            raise not_found(name)
        return body


def _page(found: list[Body], params: Body | None) -> Body:
    """A page of a retrieval without a search; without parameters, as many as there can be."""
    try:
        size = MAX_TOP_K if params is None else int(params.get("pageSize") or TOP_K)
        start = 0 if params is None else int(params.get("pageToken") or 0)
    except ValueError:
        raise invalid("simple_retrieval_params: numbers are expected.") from None
    answer: Body = {"retrievedMemories": [{"memory": m} for m in found[start : start + size]]}
    if len(found) > start + size:
        answer["nextPageToken"] = str(start + size)
    return answer


def _scope(body: Body) -> dict[str, str]:
    """The body's scope: one to five keys (the API's limit), all texts.

    Raises:
        ApiError: INVALID_ARGUMENT.
    """
    scope = body.get("scope")
    if not isinstance(scope, dict) or not 1 <= len(scope) <= 5:
        raise invalid("scope is required: 1 to 5 keys.")
    if not all(isinstance(value, str) and "*" not in value for value in scope.values()):
        raise invalid("scope: every value must be a text without '*'.")
    return scope
