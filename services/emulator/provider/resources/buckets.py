"""google_storage_bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import quote

from services.emulator.provider.codec import UNKNOWN, State
from services.emulator.provider.errors import Problem, ProviderError
from services.emulator.provider.mapping import LOCAL, Body, Field, Fields, at
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider

_LIVE = {"LIVE": True, "ARCHIVED": False}
_ZEROS = (
    "send_age_if_zero",
    "send_days_since_custom_time_if_zero",
    "send_days_since_noncurrent_time_if_zero",
    "send_num_newer_versions_if_zero",
)
_INT64 = Field(encode=str)  # Google's JSON has 64-bit integers as text


class Bucket(Kind):
    """Changes are sent as a merge: null removes."""

    type = "google_storage_bucket"
    force_new = (
        "name",
        "location",
        "project",
        "enable_object_retention",
        "hierarchical_namespace",
        "custom_placement_config",
    )
    volatile = ("updated",)
    fields: ClassVar[Fields] = {
        "force_destroy": LOCAL,
        "url": LOCAL,
        "enable_object_retention": LOCAL,
        "location": Field(encode=str.upper),
        "storage_class": Field(default="STANDARD"),
        "requester_pays": at("billing", "requesterPays"),
        "uniform_bucket_level_access": at(
            "iamConfiguration", "uniformBucketLevelAccess", "enabled"
        ),
        "public_access_prevention": at("iamConfiguration", "publicAccessPrevention"),
        "lifecycle_rule": at("lifecycle", "rule"),
        "lifecycle_rule.condition.with_state": Field(
            ("isLive",), _LIVE.get, lambda live: "LIVE" if live else "ARCHIVED"
        ),
        **{f"lifecycle_rule.condition.{name}": LOCAL for name in _ZEROS},
        # Every bucket has one, whether or not the configuration says so.
        "soft_delete_policy": Field(adopted=False),
        "soft_delete_policy.retention_duration_seconds": _INT64,
    }

    def check(self, config: State) -> Iterator[Problem]:
        """The values of public access prevention."""
        name = "public_access_prevention"
        value = config.get(name)
        if value not in (None, UNKNOWN, "enforced", "inherited"):
            yield Problem(f"{name} must be enforced or inherited, but is {value!r}.", (name,))

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST."""
        del config
        query = {"project": str(planned["project"])}
        if planned.get("enable_object_retention"):
            query["enableObjectRetention"] = "true"
        provider.client.call("POST", "/storage/v1/b", self.body(planned), query=query)
        return {"id": planned["name"]}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET."""
        return provider.client.find(_path(state))

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """Its address for `gcloud storage`."""
        del provider, state
        return {"url": f"gs://{body['name']}"}

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH of the top-level fields that differ."""
        fields, given = self.difference(prior, planned)
        if not fields:
            return
        body: Body = {**dict.fromkeys(fields), **given}
        if "labels" in body:
            gone = set(prior.get("effective_labels") or {}) - set(body["labels"] or {})
            body["labels"] = {**(body["labels"] or {}), **dict.fromkeys(gone)}
        provider.client.call("PATCH", _path(planned), body)

    def remove(self, provider: Provider, state: State) -> None:
        """DELETE; its objects too, if `force_destroy` says so."""
        if state.get("force_destroy"):
            self._empty(provider, state)
        elif provider.client.call("GET", f"{_path(state)}/o", query={"maxResults": "1"}).get(
            "items"
        ):
            raise ProviderError(
                f"Error trying to delete bucket {state['name']} containing objects without "
                "`force_destroy` set to true"
            )
        provider.client.call("DELETE", _path(state))

    def locate(self, provider: Provider, id_: str) -> State:
        """NAME, or PROJECT/NAME."""
        found = parse(id_, "{project}/{name}", "{name}")
        return {"project": provider.project, **found, "id": found["name"]}

    def _empty(self, provider: Provider, state: State) -> None:
        """Deletes every generation of every object."""
        query = {"versions": "true", "fields": "items(name,generation),nextPageToken"}
        while items := provider.client.call("GET", f"{_path(state)}/o", query=query).get("items"):
            for item in items:
                path = f"{_path(state)}/o/{quote(item['name'], safe='')}"
                generation = {"generation": str(item["generation"])}
                provider.client.call("DELETE", path, query=generation)


def _path(state: State) -> str:
    return f"/storage/v1/b/{state['name']}"
