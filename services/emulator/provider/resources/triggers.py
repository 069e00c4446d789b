"""google_cloudbuild_trigger."""

from __future__ import annotations

from typing import ClassVar

from services.emulator.provider.codec import State
from services.emulator.provider.mapping import LOCAL, Body, Field, Fields, at
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider

GLOBAL = "global"


class Trigger(Kind):
    """Global unless a location is set; found by the ID that the server gives."""

    type = "google_cloudbuild_trigger"
    force_new = ("project", "location")
    fields: ClassVar[Fields] = {
        "location": LOCAL,
        "trigger_id": at("id"),
        "build.step": at("steps"),
        "build.secret": at("secrets"),
        "include_build_logs": Field(default="INCLUDE_BUILD_LOGS_UNSPECIFIED"),
    }

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST."""
        del config
        collection = self._collection(provider, planned)
        made = provider.client.call("POST", f"/v1/{collection}", self.body(planned))
        return {"trigger_id": made["id"], "id": f"{collection}/{made['id']}"}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET."""
        return provider.client.find(self._path(provider, state))

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH of the whole trigger: the google provider sends no mask."""
        if self.difference(prior, planned)[0]:
            body = {**self.body(planned), "id": planned["trigger_id"]}
            provider.client.call("PATCH", self._path(provider, planned), body)

    def remove(self, provider: Provider, state: State) -> None:
        """DELETE."""
        provider.client.call("DELETE", self._path(provider, state))

    def locate(self, provider: Provider, id_: str) -> State:
        """A full name, or less of it."""
        found = parse(
            id_,
            "projects/{project}/locations/{location}/triggers/{trigger_id}",
            "projects/{project}/triggers/{trigger_id}",
            "{project}/{trigger_id}",
            "{trigger_id}",
        )
        state: State = {"project": provider.project, "location": GLOBAL, **found}
        state["id"] = f"{self._collection(provider, state)}/{state['trigger_id']}"
        return state

    def _collection(self, provider: Provider, state: State) -> str:
        location = state.get("location") or GLOBAL
        return f"projects/{provider.project_of(state)}/locations/{location}/triggers"

    def _path(self, provider: Provider, state: State) -> str:
        return f"/v1/{self._collection(provider, state)}/{state['trigger_id']}"
