"""Cloud Build triggers. They are kept; nothing is built here."""

from __future__ import annotations

import uuid

from starlette.routing import BaseRoute

from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, page, route
from services.emulator.state import Body, now

TRIGGER = "trigger"
GLOBAL = "global"
OUTPUT = frozenset({"id", "createTime", "resourceName"})
COLLECTIONS = (
    "/v1/projects/{project:id}/locations/{location:id}/triggers",
    "/v1/projects/{project:id}/triggers",
)


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes: regional, and global under the project."""
    api = Triggers(platform)
    found: list[BaseRoute] = []
    for collection in COLLECTIONS:
        one = collection + "/{trigger:id}"
        found += [
            route("POST", collection, api.create, anonymous=True),
            route("GET", collection, api.list, anonymous=True),
            route("GET", one, api.get, anonymous=True),
            route("PATCH", one, api.update, anonymous=True),
            route("DELETE", one, api.delete, anonymous=True),
        ]
    return found


class Triggers:
    """The handlers. A trigger is found by its ID or its name."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def create(self, call: Call) -> Result:
        """POST of a new one."""
        name = call.body.get("name")
        if name is not None and self._find(call, name) is not None:
            raise ApiError("ALREADY_EXISTS", f"a trigger named {name!r} already exists.")
        id_ = str(uuid.uuid4())
        given = {key: value for key, value in call.body.items() if key not in OUTPUT}
        body: Body = {
            "name": f"trigger-{id_[:8]}",
            **given,
            "id": id_,
            "createTime": now(),
            "resourceName": self._prefix(call) + id_,
        }
        return self._store.put(TRIGGER, body["resourceName"], body)

    async def list(self, call: Call) -> Result:
        """GET of a location's."""
        return page(self._store.list(TRIGGER, self._prefix(call)), call, "triggers")

    async def get(self, call: Call) -> Result:
        """GET of one."""
        return self._existing(call)

    async def update(self, call: Call) -> Result:
        """PATCH: by mask, or the whole trigger without one."""
        body = self._existing(call)
        given = {key: value for key, value in call.body.items() if key not in OUTPUT}
        kept = {key: body[key] for key in OUTPUT}
        if mask := call.query.get("updateMask"):
            fields = {_camel(path.split(".")[0]) for path in mask.split(",")}
            if unknown := fields & OUTPUT:
                raise invalid(f"The field {min(unknown)!r} cannot be updated.")
            rest = {key: value for key, value in body.items() if key not in fields}
            given = rest | {key: value for key, value in given.items() if key in fields}
        return self._store.put(
            TRIGGER, body["resourceName"], {"name": body["name"], **given, **kept}
        )

    async def delete(self, call: Call) -> Result:
        """DELETE."""
        self._store.delete(TRIGGER, self._existing(call)["resourceName"])
        return {}

    def _prefix(self, call: Call) -> str:
        number = self._platform.project_number(call.path["project"])
        location = call.path.get("location", GLOBAL)
        return f"projects/{number}/locations/{location}/triggers/"

    def _existing(self, call: Call) -> Body:
        wanted = call.path["trigger"]
        body = self._find(call, wanted)
        if body is None:
            raise not_found(self._prefix(call) + wanted)
        return body

    def _find(self, call: Call, wanted: str) -> Body | None:
        for body in self._store.list(TRIGGER, self._prefix(call)):
            if wanted in (body["id"], body["name"]):
                return body
        return None


def _camel(field: str) -> str:
    head, *tail = field.split("_")
    return head + "".join(part.title() for part in tail)
