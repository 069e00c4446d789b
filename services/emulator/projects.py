"""Projects and Service Usage: every project exists, and every API can be enabled."""

from __future__ import annotations

from starlette.routing import BaseRoute

from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, page, route
from services.emulator.state import Body

SERVICE = "service"
PROJECT_PATH = "/v1/projects/{project:id}"
SERVICE_PATH = PROJECT_PATH + "/services/{service:id}"


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    api = Projects(platform)
    return [
        route("GET", PROJECT_PATH, api.get),
        route("GET", PROJECT_PATH + "/services", api.list_services),
        route("GET", SERVICE_PATH, api.get_service),
        route("POST", SERVICE_PATH + ":enable", api.enable),
        route("POST", SERVICE_PATH + ":disable", api.disable),
        route("GET", "/v1/operations/{operation:rest}", api.operation),
    ]


class Projects:
    """The handlers."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def get(self, call: Call) -> Result:
        """GET of a project."""
        project = call.path["project"]
        number = self._platform.project_number(project)
        return {
            "projectId": project,
            "projectNumber": number,
            "name": project,
            "lifecycleState": "ACTIVE",
        }

    async def list_services(self, call: Call) -> Result:
        """GET of the APIs that are enabled."""
        found = self._store.list(SERVICE, f"{self._parent(call)}/services/")
        return page([body for body in found if body["state"] == "ENABLED"], call, "services")

    async def get_service(self, call: Call) -> Result:
        """GET of an API, enabled or not."""
        name = self._name(call)
        return self._store.get(SERVICE, name) or self._body(call, name, "DISABLED")

    async def enable(self, call: Call) -> Result:
        """POST."""
        return self._set_state(call, "ENABLED", "EnableServiceResponse")

    async def disable(self, call: Call) -> Result:
        """POST."""
        return self._set_state(call, "DISABLED", "DisableServiceResponse")

    async def operation(self, call: Call) -> Result:
        """GET of an operation that is not an engine's."""
        return await self._platform.operations.wait(f"operations/{call.path['operation']}")

    def _set_state(self, call: Call, state: str, message: str) -> Body:
        name = self._name(call)
        body = self._store.put(SERVICE, name, self._body(call, name, state))
        type_ = f"type.googleapis.com/google.api.serviceusage.v1.{message}"
        return self._platform.operations.done("", {"@type": type_, "service": body})

    def _parent(self, call: Call) -> str:
        return f"projects/{self._platform.project_number(call.path['project'])}"

    def _name(self, call: Call) -> str:
        return f"{self._parent(call)}/services/{call.path['service']}"

    def _body(self, call: Call, name: str, state: str) -> Body:
        return {
            "name": name,
            "parent": self._parent(call),
            "config": {"name": call.path["service"]},
            "state": state,
        }
