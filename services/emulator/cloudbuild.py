"""Cloud Build triggers, regional and global. They are kept; nothing fires them here."""

from __future__ import annotations

import re
from uuid import uuid4

from starlette.routing import BaseRoute

from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.masks import copy_path
from services.emulator.platform import Platform
from services.emulator.projects import project_id
from services.emulator.rest import Call, Handler, Result, page, route
from services.emulator.state import Body, now

KIND = "trigger"
COMPUTED = frozenset({"id", "resourceName", "createTime"})
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes; a path without a location means `global`."""
    triggers = _Triggers(platform)
    table: list[tuple[str, str, Handler]] = []
    for many in (
        "/v1/projects/{project:id}/locations/{location:id}/triggers",
        "/v1/projects/{project:id}/triggers",
    ):
        one = many + "/{trigger:id}"
        table += [
            ("POST", many, triggers.create),
            ("GET", many, triggers.list),
            ("GET", one, triggers.get),
            ("PATCH", one, triggers.patch),
            ("DELETE", one, triggers.delete),
        ]
    return [route(method, path, handler, anonymous=True) for method, path, handler in table]


class _Triggers:
    """The triggers methods; a trigger is named by its id or its name."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def create(self, call: Call) -> Result:
        """`POST …/triggers`."""
        parent, identity = self._parent(call), str(uuid4())
        sent = {key: value for key, value in call.body.items() if key not in COMPUTED}
        # Cloud Build makes up a name when none is given.
        body: Body = {"name": f"trigger-{identity[:8]}", **sent}
        self._check(parent, body)
        body |= {"id": identity, "resourceName": f"{parent}/{identity}", "createTime": now()}
        return self._store.put(KIND, body["resourceName"], body)

    async def list(self, call: Call) -> Result:
        """`GET …/triggers`."""
        return page(self._store.list(KIND, f"{self._parent(call)}/"), call, "triggers")

    async def get(self, call: Call) -> Result:
        """`GET …/triggers/ID`."""
        return self._find(call)

    async def patch(self, call: Call) -> Result:
        """`PATCH …/triggers/ID`: the fields of `updateMask`, or all of them without a mask."""
        before = self._find(call)
        kept = {key: value for key, value in before.items() if key in COMPUTED}
        mask = [path for path in call.query.get("updateMask", "").split(",") if path]
        if mask:
            body = before
            for path in mask:
                copy_path(path, call.body, body)
        else:
            body = {"name": before["name"], **call.body}
        body |= kept
        self._check(self._parent(call), body)
        return self._store.put(KIND, body["resourceName"], body)

    async def delete(self, call: Call) -> Result:
        """`DELETE …/triggers/ID`."""
        self._store.delete(KIND, self._find(call)["resourceName"])
        return {}

    def _parent(self, call: Call) -> str:
        project = project_id(self._platform, call.path["project"])
        return f"projects/{project}/locations/{call.path.get('location', 'global')}/triggers"

    def _find(self, call: Call) -> Body:
        parent, wanted = self._parent(call), call.path["trigger"]
        for body in self._store.list(KIND, f"{parent}/"):
            if wanted in (body["id"], body["name"]):
                return body
        raise not_found(f"{parent}/{wanted}")

    def _check(self, parent: str, body: Body) -> None:
        """The rules of a name.

        Raises:
            ApiError: INVALID_ARGUMENT, ALREADY_EXISTS.
        """
        name = str(body["name"])
        if not NAME.fullmatch(name):
            raise invalid(f"Invalid trigger name {name!r}: up to 64 letters, digits and hyphens.")
        for other in self._store.list(KIND, f"{parent}/"):
            if other["name"] == name and other["id"] != body.get("id"):
                raise ApiError("ALREADY_EXISTS", f"A trigger named {name} exists in {parent}.")
