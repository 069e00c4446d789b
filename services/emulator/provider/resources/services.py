"""google_project_service: an API that is enabled for a project."""

from __future__ import annotations

from typing import ClassVar

from services.emulator.provider.codec import State
from services.emulator.provider.mapping import LOCAL, Body, Fields
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider


class ProjectService(Kind):
    """Destroying it disables the API only when `disable_on_destroy` says so."""

    type = "google_project_service"
    force_new = ("project", "service")
    fields: ClassVar[Fields] = dict.fromkeys(
        ("service", "disable_on_destroy", "disable_dependent_services"), LOCAL
    )

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST of `:enable`."""
        del config
        operation = provider.client.call("POST", f"{self._path(planned)}:enable", {})
        provider.client.wait(operation)
        return {"id": f"{planned['project']}/{planned['service']}"}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """The API among those that are enabled."""
        query = {"filter": "state:ENABLED", "fields": "services/name,nextPageToken"}
        path = f"/v1/projects/{state['project']}/services"
        while True:
            page = provider.client.call("GET", path, query=query)
            for body in page.get("services", []):
                if str(body["name"]).rpartition("/")[2] == state["service"]:
                    return dict(body)
            if not page.get("nextPageToken"):
                return None
            query["pageToken"] = page["nextPageToken"]

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """Nothing of what can change lies in the API."""
        del provider, prior, planned

    def remove(self, provider: Provider, state: State) -> None:
        """POST of `:disable`, if it is meant."""
        if state.get("disable_on_destroy"):
            dependents = bool(state.get("disable_dependent_services"))
            body = {"disableDependentServices": dependents}
            operation = provider.client.call("POST", f"{self._path(state)}:disable", body)
            provider.client.wait(operation)

    def locate(self, provider: Provider, id_: str) -> State:
        """PROJECT/SERVICE."""
        del provider
        found = parse(id_, "{project}/{service}")
        return {**found, "id": f"{found['project']}/{found['service']}"}

    def _path(self, state: State) -> str:
        return f"/v1/projects/{state['project']}/services/{state['service']}"
