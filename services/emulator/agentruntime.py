"""Agent Runtime: reasoningEngines, their operations, queries and A2A.

An engine with inline Python source runs as a process; one without is kept, such as a memory bank.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from starlette.routing import BaseRoute

from services.emulator import (
    archives,
    deployments,
    engines,
    filters,
    iam,
    launches,
    masks,
    memories,
    policies,
    proxy,
    revisions,
    sessions,
)
from services.emulator.access import ACT_AS, Access
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, page, route
from services.emulator.state import Body, now

_FILTERS = frozenset({"name", "displayName", "description", "labels", "createTime", "updateTime"})


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    api = AgentRuntime(platform)
    many = engines.PATH + "/runtimeRevisions"
    one = many + "/{revision:id}"
    operation = engines.LOCATION_PATH + "/{parent:rest}/operations/{operation:id}"
    return [
        route("GET", operation, api.operation),
        route("GET", engines.PATH + "/operations", api.operations),
        route("POST", engines.COLLECTION_PATH, api.create),
        route("GET", engines.COLLECTION_PATH, api.list),
        route("POST", engines.PATH + ":query", api.query),
        route("POST", engines.PATH + ":streamQuery", api.stream_query),
        route("GET", many, api.revisions),
        route("GET", one, api.revision),
        route("DELETE", one, api.delete_revision),
        route("POST", one + ":query", api.query_revision),
        route("POST", one + ":streamQuery", api.query_revision),
        route("GET", engines.PATH, api.get),
        route("PATCH", engines.PATH, api.update),
        route("DELETE", engines.PATH, api.delete),
        *(
            route(method, engines.PATH + "/a2a/{rest:rest}", api.a2a)
            for method in ("GET", "POST", "DELETE")
        ),
    ]


@asynccontextmanager
async def running(platform: Platform) -> AsyncIterator[None]:
    """Starts the engines that were deployed, and stops every engine's process at the end."""
    starting = asyncio.create_task(deployments.start_all(platform))
    try:
        yield
    finally:
        starting.cancel()
        await platform.processes.stop_all()
        await platform.http.aclose()


class AgentRuntime:
    """The handlers."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store
        self._tasks: set[asyncio.Task[None]] = set()

    async def operation(self, call: Call) -> Result:
        """GET of an operation: waits until it ends (see operations)."""
        where = f"{engines.location(self._platform, call)}/{call.path['parent']}"
        return await self._platform.operations.wait(f"{where}/operations/{call.path['operation']}")

    async def operations(self, call: Call) -> Result:
        """GET of an engine's operations."""
        name = str(engines.find(self._platform, call)["name"])
        return page(self._platform.operations.of(name), call, "operations")

    async def create(self, call: Call) -> Result:
        """POST: an engine without source is there at once; one with source when it serves."""
        body = masks.check(call.body, masks.ENGINE, "reasoning_engine")
        blob = _take_archive(body)
        self._check_act_as(call, body)
        deployments.check(body.get("spec", {}))
        parent = engines.location(self._platform, call)
        time = now()
        engine: Body = {
            **{key: value for key, value in body.items() if key not in masks.OUTPUT},
            "name": f"{parent}/reasoningEngines/{self._store.next_id('engine')}",
            "createTime": time,
            "updateTime": time,
            "etag": self._etag(),
        }
        if blob is None:
            self._store.put(engines.KIND, engine["name"], engine)
            return self._platform.operations.done(engine["name"], _answer(call, engine))
        return self._deploy(engine["name"], lambda: (engine, _answer(call, engine)), blob)

    async def list(self, call: Call) -> Result:
        """GET of a location's engines, by `filter`."""
        parent = engines.location(self._platform, call)
        bodies = self._store.list(engines.KIND, f"{parent}/reasoningEngines/")
        found = filters.matching(bodies, call.query.get("filter"), _FILTERS)
        return page([engines.shown(body) for body in found], call, "reasoningEngines")

    async def get(self, call: Call) -> Result:
        """GET of one."""
        return engines.shown(engines.find(self._platform, call))

    async def update(self, call: Call) -> Result:
        """PATCH by mask; a change of `spec` deploys."""
        current = engines.find(self._platform, call)
        etag = call.body.get("etag")
        if etag and etag != current.get("etag"):
            raise ApiError("ABORTED", f"{current['name']} was changed since this etag was read.")
        body = masks.check(call.body, masks.ENGINE, "reasoning_engine")
        blob = _take_archive(body)
        self._check_act_as(call, body)
        mask, name = call.query.get("updateMask"), str(current["name"])
        change = partial(self._changed, call, name, body, mask)
        engine, answer = change()
        revisions.check(self._platform, engine)
        if not masks.touches(mask, body, masks.ENGINE, "spec"):
            self._store.put(engines.KIND, name, engine)
            deployments.route_traffic(self._platform, engine)
            return self._platform.operations.done(name, answer)
        deployments.check(engine.get("spec", {}))
        if blob is not None and archives.digest(blob) != engines.digest(engine):
            blob = None  # the mask leaves the source as it is
        return self._deploy(name, change, blob)

    async def delete(self, call: Call) -> Result:
        """DELETE; an engine with sessions or memories only with `force`."""
        name = str(engines.find(self._platform, call)["name"])
        force = call.query.get("force") == "true" or call.body.get("force") is True
        async with self._platform.processes.lock(name):
            children = [*sessions.names(self._store, name), *memories.names(self._store, name)]
            if children and not force:
                raise ApiError(
                    "FAILED_PRECONDITION",
                    f"{name} contains child resources ({len(children)} sessions and memories); "
                    "delete them first, or set force to true.",
                )
            sessions.remove_all(self._store, name)
            memories.remove_all(self._store, name)
            self._store.delete(engines.KIND, name)
            policies.remove(self._store, name)
            revisions.remove_all(self._store, name)
            self._platform.processes.stop(name)
            launches.remove(self._platform, name)
        empty = {"@type": "type.googleapis.com/google.protobuf.Empty"}
        return self._platform.operations.done(name, empty)

    async def revisions(self, call: Call) -> Result:
        """GET of an engine's revisions, the newest first."""
        found = revisions.of(self._store, str(engines.find(self._platform, call)["name"]))
        shown = [engines.shown(body) for body in reversed(found)]
        return page(shown, call, "reasoningEngineRuntimeRevisions")

    async def revision(self, call: Call) -> Result:
        """GET of one revision."""
        return engines.shown(self._revision(call))

    async def delete_revision(self, call: Call) -> Result:
        """DELETE of a revision; one with traffic, or the latest, stays."""
        engine, body = engines.find(self._platform, call), self._revision(call)
        latest = revisions.of(self._store, str(engine["name"]))[-1]
        if body["name"] in revisions.split(self._store, engine) or body == latest:
            raise ApiError("FAILED_PRECONDITION", f"{body['name']} serves, or is the latest.")
        self._store.delete(revisions.KIND, str(body["name"]))
        empty = {"@type": "type.googleapis.com/google.protobuf.Empty"}
        return self._platform.operations.done(str(engine["name"]), empty)

    async def query_revision(self, call: Call) -> Result:
        """POST of `runtimeRevisions/R:query` and `:streamQuery`."""
        name = str(engines.find(self._platform, call)["name"])
        revision = str(self._revision(call)["name"])
        stream = call.request.url.path.endswith(":streamQuery")
        return await proxy.query(self._platform, name, call, stream=stream, revision=revision)

    def _revision(self, call: Call) -> Body:
        engine = engines.find(self._platform, call)
        name = f"{engine['name']}/runtimeRevisions/{call.path['revision']}"
        return revisions.find(self._store, name)

    async def query(self, call: Call) -> Result:
        """POST of `:query`."""
        name = str(engines.find(self._platform, call)["name"])
        return await proxy.query(self._platform, name, call, stream=False)

    async def stream_query(self, call: Call) -> Result:
        """POST of `:streamQuery`."""
        name = str(engines.find(self._platform, call)["name"])
        return await proxy.query(self._platform, name, call, stream=True)

    async def a2a(self, call: Call) -> Result:
        """Anything under `/a2a/`."""
        name = str(engines.find(self._platform, call)["name"])
        return await proxy.a2a(self._platform, name, call)

    def _check_act_as(self, call: Call, body: Body) -> None:
        """Whoever gives an engine an account must be allowed to act as it."""
        email = body.get("spec", {}).get("serviceAccount")
        if email:
            resource = iam.account_resource(self._platform, str(email))
            Access(self._platform).require(call.principal, ACT_AS, resource)

    def _changed(self, call: Call, name: str, body: Body, mask: str | None) -> tuple[Body, Body]:
        """The engine after the PATCH, and the operation's response."""
        current = self._store.get(engines.KIND, name)
        if current is None:
            raise not_found(name)
        engine = masks.merge(current, body, mask, masks.ENGINE)
        engine |= {"updateTime": now(), "etag": self._etag()}
        return engine, _answer(call, engine)

    def _etag(self) -> str:
        return f'"{self._store.next_id("etag"):x}"'

    def _deploy(self, name: str, change: deployments.Change, blob: bytes | None) -> Body:
        operation = self._platform.operations.start(name)
        task = asyncio.create_task(
            deployments.deploy(self._platform, str(operation["name"]), change, blob)
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return operation


def _take_archive(body: Body) -> bytes | None:
    """The archive's bytes; its digest takes its place in the body."""
    inline = body.get("spec", {}).get("sourceCodeSpec", {}).get("inlineSource", {})
    if not inline.get("sourceArchive"):
        return None
    if not isinstance(inline["sourceArchive"], str):
        raise invalid(f"Invalid value at '{archives.FIELD}': base64 is expected.")
    blob = archives.decode(inline["sourceArchive"])
    inline["sourceArchive"] = archives.digest(blob)
    return blob


def _answer(call: Call, engine: Body) -> Body:
    return engines.typed(call, "ReasoningEngine", engines.shown(engine))
