"""Projects and Service Usage. Any project exists here as soon as something names it."""

from __future__ import annotations

from starlette.routing import BaseRoute

from services.emulator.errors import invalid
from services.emulator.platform import Platform
from services.emulator.rest import Call, Handler, Result, page, route
from services.emulator.state import Body

SERVICE = "service"
_TYPE = "type.googleapis.com/google.api.serviceusage.v1."


def project_id(platform: Platform, project: str) -> str:
    """The id of a project given by id or number; a number that has no id here stays a number."""
    if not project.isdigit():
        return project
    known = platform.store.list("project")
    return next((b["projectId"] for b in known if b["projectNumber"] == project), project)


def canonical(platform: Platform, name: str) -> str:
    """A resource name with its project's number, however the caller wrote the project.

    `projects/acme-local/secrets/key` -> `projects/100000000001/secrets/key`
    """
    head, project, *rest = name.split("/")
    return "/".join([head, platform.project_number(project), *rest])


def routes(platform: Platform) -> list[BaseRoute]:
    """Their REST routes."""
    methods = _Services(platform)
    many = "/v1/projects/{project:id}/services"
    table: list[tuple[str, str, Handler]] = [
        ("GET", "/v1/projects/{project:id}", methods.project),
        ("GET", many, methods.list),
        ("POST", many + ":batchEnable", methods.enable_batch),
        ("POST", many + "/{service:id}:enable", methods.enable),
        ("POST", many + "/{service:id}:disable", methods.disable),
        ("GET", many + "/operations/{operation:id}", methods.operation),
        ("GET", many + "/{service:id}", methods.get),
    ]
    return [route(method, path, handler) for method, path, handler in table]


class _Services:
    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def project(self, call: Call) -> Result:
        """`GET /v1/projects/P`."""
        number = self._platform.project_number(call.path["project"])
        name = project_id(self._platform, call.path["project"])
        return {
            "projectId": name,
            "projectNumber": number,
            "name": name,
            "lifecycleState": "ACTIVE",
        }

    async def list(self, call: Call) -> Result:
        """`GET …/services?filter=state:ENABLED`; only services that were enabled once are known."""
        found = self._store.list(SERVICE, f"{self._parent(call)}/")
        wanted = call.query.get("filter", "").strip()
        if wanted:
            key, _, state = wanted.partition(":")
            if key != "state" or state not in {"ENABLED", "DISABLED"}:
                raise invalid(f"Invalid filter: {wanted}. Use state:ENABLED or state:DISABLED.")
            found = [body for body in found if body["state"] == state]
        return page(found, call, "services", default=50)

    async def get(self, call: Call) -> Result:
        """`GET …/services/S`."""
        name = f"{self._parent(call)}/{call.path['service']}"
        return self._store.get(SERVICE, name) or self._body(call, call.path["service"], "DISABLED")

    async def enable(self, call: Call) -> Result:
        """`POST …/services/S:enable`."""
        service = self._put(call, call.path["service"], "ENABLED")
        return self._done(call, {"@type": _TYPE + "EnableServiceResponse", "service": service})

    async def enable_batch(self, call: Call) -> Result:
        """`POST …/services:batchEnable`, with at most 20 `serviceIds`."""
        names = call.body.get("serviceIds") or []
        if not 1 <= len(names) <= 20:
            raise invalid("serviceIds: from 1 to 20 services can be enabled at once.")
        services = [self._put(call, str(name), "ENABLED") for name in names]
        answer = {"@type": _TYPE + "BatchEnableServicesResponse", "services": services}
        return self._done(call, answer)

    async def disable(self, call: Call) -> Result:
        """`POST …/services/S:disable`."""
        service = self._put(call, call.path["service"], "DISABLED")
        return self._done(call, {"@type": _TYPE + "DisableServiceResponse", "service": service})

    async def operation(self, call: Call) -> Result:
        """`GET` of an operation that enabled or disabled something; it is always done."""
        name = f"{self._parent(call)}/operations/{call.path['operation']}"
        return await self._platform.operations.wait(name)

    def _parent(self, call: Call) -> str:
        return f"projects/{self._platform.project_number(call.path['project'])}/services"

    def _body(self, call: Call, service: str, state: str) -> Body:
        parent = self._parent(call)
        return {
            "name": f"{parent}/{service}",
            "parent": parent.removesuffix("/services"),
            "config": {"name": service, "title": service},
            "state": state,
        }

    def _put(self, call: Call, service: str, state: str) -> Body:
        body = self._body(call, service, state)
        return self._store.put(SERVICE, body["name"], body)

    def _done(self, call: Call, response: Body) -> Body:
        return self._platform.operations.done(self._parent(call), response)
