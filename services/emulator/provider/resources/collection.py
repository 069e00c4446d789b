"""What is one of a plain REST collection; each type says where it lies and what differs."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import quote

from services.emulator.provider.codec import UNKNOWN, State
from services.emulator.provider.mapping import LOCAL, Body, Field, Fields
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider

LAST = Field(decode=lambda name: str(name).rpartition("/")[2])
"""A name of which the state keeps the last part."""


class CollectionKind(Kind):
    """One of a collection.

    Class attributes:
        version: of the API's path.
        collection: the collection's name, with attributes in braces: `projects/{project}/metrics`.
        key: the attribute that holds the ID, or None where the server makes it.
        query: the query parameter that tells a new one's ID; None: `name` in the body does.
        whole: whether `name` in the body is the full name.
        operation: whether a change is an operation.
        put: whether a change is sent whole.
        places: attributes that say where it lies, filled in from the provider's configuration.
        formats: further import IDs, below the full name.
    """

    version: ClassVar[str] = "v1"
    collection: ClassVar[str]
    key: ClassVar[str | None] = "name"
    query: ClassVar[str | None] = None
    whole: ClassVar[bool] = False
    operation: ClassVar[bool] = False
    put: ClassVar[bool] = False
    places: ClassVar[tuple[str, ...]] = ()
    formats: ClassVar[tuple[str, ...]] = ()

    def foresee(self, provider: Provider, planned: State, prior: State | None) -> None:
        """The region, where the type has one and the configuration does not say it."""
        del prior
        for place in self.places:
            if planned.get(place) is UNKNOWN:
                planned[place] = provider.region_of({})

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST."""
        del config
        parent = self.collection.format_map(planned)
        id_ = str(planned[self.key]) if self.key else ""
        body = self.body(planned)
        query = {}
        if self.query is not None:
            query = {self.query: id_}
            body.pop("name", None)
        elif self.key:
            body["name"] = f"{parent}/{id_}" if self.whole else id_
        made = provider.client.call("POST", f"/{self.version}/{parent}", body, query=query)
        if self.operation and "done" in made:
            made = provider.client.wait(made, self.version)
        if self.key:
            return {"id": f"{parent}/{id_}"}
        return {"id": made["name"], "name": made["name"]}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET."""
        return provider.client.find(self.path(state))

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH of the top-level fields that differ, or PUT."""
        mask, body = self.difference(prior, planned)
        if not mask:
            return
        path = self.path(planned)
        if self.put:
            provider.client.call("PUT", path, self.body(planned))
            return
        answer = provider.client.call("PATCH", path, body, query={"updateMask": ",".join(mask)})
        if self.operation and "done" in answer:
            provider.client.wait(answer, self.version)

    def remove(self, provider: Provider, state: State) -> None:
        """DELETE."""
        answer = provider.client.call("DELETE", self.path(state))
        if self.operation and "done" in answer:
            provider.client.wait(answer, self.version)

    def locate(self, provider: Provider, id_: str) -> State:
        """A full name, or less of it."""
        last = self.key or "name"
        found = parse(id_, f"{self.collection}/{{{last}}}", *self.formats)
        state: State = {"project": provider.project}
        state |= dict.fromkeys(self.places, provider.region)
        state |= found
        state["id"] = f"{self.collection.format_map(state)}/{state[last]}"
        if self.key is None:
            state["name"] = state["id"]
        return state

    def path(self, state: State) -> str:
        """Where the API has it; an ID with slashes is one segment."""
        parent, _, last = str(state["id"]).partition(self.collection.rpartition("/")[2] + "/")
        collection = parent + self.collection.rpartition("/")[2]
        return f"/{self.version}/{collection}/{quote(last, safe='')}"


def local(*names: str) -> Fields:
    """Attributes that lie in Terraform's state only."""
    return dict.fromkeys(names, LOCAL)
