"""google_compute_network_attachment."""

from __future__ import annotations

from typing import ClassVar

from services.emulator.provider.codec import State
from services.emulator.provider.mapping import Body, Field, Fields
from services.emulator.provider.resources.collection import CollectionKind, local
from services.emulator.provider.settings import Provider

_LINK = "https://www.googleapis.com/compute/v1/"
_BARE = Field(decode=lambda link: str(link).removeprefix(_LINK))


class NetworkAttachment(CollectionKind):
    """Found by name; a change sends the whole of it."""

    type = "google_compute_network_attachment"
    version = "compute/v1"
    collection = "projects/{project}/regions/{region}/networkAttachments"
    places = ("region",)
    formats = ("{project}/{region}/{name}", "{region}/{name}", "{name}")
    force_new = ("name", "region", "project", "connection_preference")
    volatile = ("fingerprint",)
    fields: ClassVar[Fields] = {**local("region"), "kind": Field(("kind",)), "network": _BARE}

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH with the fingerprint that was read."""
        fields, body = self.difference(prior, planned)
        if fields:
            body = {**body, "fingerprint": prior.get("fingerprint")}
            provider.client.call("PATCH", self.path(planned), body)

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """Its ID is its path, not the API's number."""
        del provider, body
        project, region = state["project"], state["region"]
        return {"id": f"projects/{project}/regions/{region}/networkAttachments/{state['name']}"}
