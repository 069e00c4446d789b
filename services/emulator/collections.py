"""Plain resource collections: create, get, list, change and delete, by one table (catalog.py).

Most of Google's APIs are this: a collection under a project or a location, an ID from the query,
the body or the server, an update mask, and perhaps an operation around each change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

from starlette.routing import BaseRoute

from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.masks import copy_path
from services.emulator.platform import Platform
from services.emulator.projects import canonical
from services.emulator.rest import Call, Handler, Result, page, route
from services.emulator.state import Body, now

Check = Callable[[Body], None]
Complete = Callable[[Body, "Place"], Body]


@dataclass(frozen=True)
class Place:
    """Where a resource lies: `parent` is its collection without a version, `id` its last part."""

    parent: str
    id: str
    number: int
    """A number of its own, for what the server makes up."""

    @property
    def name(self) -> str:
        """The full resource name."""
        return f"{self.parent}/{self.id}"


def nothing(body: Body) -> None:
    """No check."""
    del body


def named(body: Body, place: Place) -> Body:
    """What almost every resource has of the server's: its full name and two times."""
    return {"name": place.name, "createTime": body.get("createTime", now()), "updateTime": now()}


@dataclass(frozen=True)
class Collection:
    """One collection.

    Attributes:
        path: its route.
        id_query: the query parameter that holds a new resource's ID.
        id_field: or the field of the body whose last segment does; neither: the server makes it.
        complete: the server's own fields, laid over what was sent at every change.
        check: raises ApiError for a body that the API would not take.
        operation: whether a change is answered with an operation that has ended.
        put: whether a change is a PUT of the whole instead of a PATCH.
        owner: kind of what the parent names, which must be there.
        slashes: whether an ID may hold slashes.
        kept: whether it can be deleted.
    """

    path: str
    id_query: str | None = None
    id_field: str | None = None
    complete: Complete = named
    check: Check = nothing
    operation: bool = False
    put: bool = False
    owner: str | None = None
    slashes: bool = False
    kept: bool = True

    @property
    def kind(self) -> str:
        """The collection's last part, such as `repositories`: the kind in the store."""
        return self.path.rpartition("/")[2]


def routes(platform: Platform, catalog: tuple[Collection, ...]) -> list[BaseRoute]:
    """The REST routes of all collections of a catalog."""
    table: list[tuple[str, str, Handler]] = []
    for collection in catalog:
        methods = _Methods(platform, collection)
        one = collection.path + ("/{id:rest}" if collection.slashes else "/{id:id}")
        table += [
            ("POST", collection.path, methods.create),
            ("GET", collection.path, methods.list),
            ("GET", one, methods.get),
            ("PUT" if collection.put else "PATCH", one, methods.change),
        ]
        if collection.kept:
            table.append(("DELETE", one, methods.delete))
    return [route(method, path, handler) for method, path, handler in table]


class _Methods:
    def __init__(self, platform: Platform, collection: Collection) -> None:
        self._platform, self._store, self._of = platform, platform.store, collection

    async def create(self, call: Call) -> Result:
        """`POST` of a new resource."""
        parent, sent = self._parent(call), dict(call.body)
        id_ = self._new_id(call, sent)
        if self._of.owner is not None:
            owner = parent.rpartition("/")[0]
            if self._store.get(self._of.owner, self._key(owner)) is None:
                raise not_found(owner)
        if self._store.get(self._of.kind, self._key(f"{parent}/{id_}")) is not None:
            raise ApiError("ALREADY_EXISTS", f"Resource '{parent}/{id_}' already exists.")
        number = self._store.next_id(self._of.kind)
        return self._save(call, sent, Place(parent, id_ or str(number), number))

    async def list(self, call: Call) -> Result:
        """`GET` of all of them, in pages."""
        prefix = self._key(self._parent(call)) + "/"
        key = "items" if call.request.url.path.startswith("/compute/") else self._of.kind
        found = [_shown(body) for body in self._store.list(self._of.kind, prefix)]
        return page(found, call, key)

    async def get(self, call: Call) -> Result:
        """`GET` of one."""
        return _shown(self._find(call))

    async def change(self, call: Call) -> Result:
        """`PATCH` with or without a mask, or `PUT`."""
        body, sent = self._find(call), call.body
        place = Place(self._parent(call), self._id(call), body["_number"])
        mask = [path for path in call.query.get("updateMask", "").split(",") if path]
        if self._of.put:
            body = {"createTime": body.get("createTime"), **sent}
        elif mask:
            for path in mask:
                copy_path(path, sent, body)
        else:
            body |= sent
        return self._save(call, body, place)

    async def delete(self, call: Call) -> Result:
        """`DELETE`."""
        self._find(call)
        name = f"{self._parent(call)}/{self._id(call)}"
        self._store.delete(self._of.kind, self._key(name))
        return self._answer(call, {})

    def _save(self, call: Call, body: Body, place: Place) -> Result:
        body = {**body, **self._of.complete(body, place), "_number": place.number}
        self._of.check(body)
        self._store.put(self._of.kind, self._key(place.name), body)
        return self._answer(call, _shown(body))

    def _answer(self, call: Call, body: Body) -> Body:
        if not self._of.operation:
            return body
        if call.request.url.path.startswith("/compute/"):
            return {"kind": "compute#operation", "name": "operation", "status": "DONE"}
        parent = self._parent(call).split("/")
        return self._platform.operations.done("/".join(parent[:4]), body)

    def _new_id(self, call: Call, sent: Body) -> str:
        if self._of.id_query is not None:
            id_ = call.query.get(self._of.id_query, "")
        elif self._of.id_field is not None:
            id_ = str(sent.get(self._of.id_field, ""))
            id_ = id_ if self._of.slashes else id_.rpartition("/")[2]
        else:
            return ""
        if not id_:
            raise invalid(f"{self._of.id_query or self._of.id_field}: an ID is required.")
        return id_

    def _find(self, call: Call) -> Body:
        name = f"{self._parent(call)}/{self._id(call)}"
        body = self._store.get(self._of.kind, self._key(name))
        if body is None:
            raise not_found(f"Resource '{name}'")
        return body

    def _id(self, call: Call) -> str:
        return unquote(call.path["id"])

    def _parent(self, call: Call) -> str:
        """The collection's name without the version: what the route says, filled in."""
        words = [
            call.path[word[1:].partition(":")[0]] if word.startswith("{") else word
            for word in self._of.path.split("/")
        ]
        start = words.index("projects") if "projects" in words else words.index("billingAccounts")
        return "/".join(words[start:])

    def _key(self, name: str) -> str:
        """The name with the project's number, however the caller wrote the project."""
        return canonical(self._platform, name) if name.startswith("projects/") else name


def _shown(body: Body) -> Body:
    """The body without what is the platform's alone."""
    return {key: value for key, value in body.items() if not key.startswith("_")}
