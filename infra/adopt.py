"""Finds what Terraform plans to create but exists already, and is provably this environment's.

An apply that was killed may have made resources that never reached the state. What carries our
labels, tags or description is imported instead of created; what has the name but not the proof is
somebody else's, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from infra import names
from infra.endpoints import Endpoints
from infra.environment import Environment
from infra.errors import TerraformError
from infra.rest import Rest

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Planned:
    """A resource that the plan would create, with the arguments that are known."""

    address: str
    type: str
    values: Values


@dataclass(frozen=True)
class Adoption:
    """A resource to import: its import ID, and what proves that it is ours."""

    address: str
    id: str
    proof: str


@dataclass(frozen=True)
class Place:
    """Where to look: the environment and a client for its APIs."""

    env: Environment
    endpoints: Endpoints
    rest: Rest

    @property
    def home(self) -> str:
        """`projects/P/locations/L`."""
        return f"projects/{self.env.project}/locations/{self.env.region}"


Finder = Callable[[Planned, Place], Adoption | None]


def find(planned: Iterable[Planned], place: Place) -> list[Adoption]:
    """What exists already, in the order of `planned`. IAM members and objects need no adoption.

    Raises:
        TerraformError: a name is taken by something that is not ours, or two engines carry the
            same labels.
        RemoteError: an API refused.
    """
    found = []
    for item in planned:
        looked_up = _FINDERS.get(item.type, _nothing)(item, place)
        if looked_up is not None:
            found.append(looked_up)
    return found


def _nothing(item: Planned, place: Place) -> None:
    del item, place


def _bucket(item: Planned, place: Place) -> Adoption | None:
    name = item.values["name"]
    body = place.rest.get(f"{place.endpoints.storage}/storage/v1/b/{name}")
    return None if body is None else _labelled(item, body, name)


def _secret(item: Planned, place: Place) -> Adoption | None:
    name = f"projects/{place.env.project}/secrets/{item.values['secret_id']}"
    body = place.rest.get(f"{place.endpoints.secret_manager}/v1/{name}")
    return None if body is None else _labelled(item, body, name)


def _service_account(item: Planned, place: Place) -> Adoption | None:
    project = place.env.project
    email = f"{item.values['account_id']}@{project}.iam.gserviceaccount.com"
    name = f"projects/{project}/serviceAccounts/{email}"
    body = place.rest.get(f"{place.endpoints.iam}/v1/{name}")
    if body is None:
        return None
    # Service accounts have no labels; ours say in their description whose they are.
    if body.get("description") != item.values["description"]:
        raise _foreign(item, name, f"its description is {body.get('description')!r}")
    return Adoption(item.address, name, "by its description")


def _trigger(item: Planned, place: Place) -> Adoption | None:
    listing = place.rest.get(f"{place.endpoints.cloud_build}/v1/{place.home}/triggers") or {}
    same = [t for t in listing.get("triggers", []) if t.get("name") == item.values["name"]]
    if not same:
        return None
    name = f"{place.home}/triggers/{same[0]['id']}"
    if sorted(same[0].get("tags", [])) != sorted(item.values["tags"]):
        raise _foreign(item, name, f"its tags are {same[0].get('tags', [])}")
    return Adoption(item.address, name, "by its tags")


def _engine(item: Planned, place: Place) -> Adoption | None:
    wanted = item.values.get("labels") or {}
    ours = {key: wanted.get(key) for key in ("kit", "environment", "agent")}
    url = f"{place.endpoints.agent_runtime}/v1/{place.home}/reasoningEngines"
    same = [
        engine["name"]
        for engine in _pages(place, url, "reasoningEngines")
        if all(engine.get("labels", {}).get(key) == value for key, value in ours.items())
    ]
    return _only(item, same, "by its labels")


def _named(collection: str, host: str, version: str = "v1") -> Finder:
    """A finder of what is named by us inside the project and region, and carries our labels.

    Args:
        collection: such as `repositories`; the argument that names it is in `_NAMES`.
        host: the field of Endpoints.
    """

    def find_named(item: Planned, place: Place) -> Adoption | None:
        name = f"{place.home}/{collection}/{item.values[_NAMES[collection]]}"
        body = place.rest.get(f"{getattr(place.endpoints, host)}/{version}/{name}")
        if body is None:
            return None
        if "labels" in item.values:
            return _labelled(item, body, name)
        # These carry no labels; the text that we give them does.
        for argument, key in (("description", "description"), ("display_name", "displayName")):
            if item.values.get(argument) and body.get(key) != item.values[argument]:
                raise _foreign(item, name, f"its {argument} is {body.get(key)!r}")
        return Adoption(item.address, name, "by its name and text")

    return find_named


def _metric(item: Planned, place: Place) -> Adoption | None:
    name = item.values["name"]
    path = f"projects/{place.env.project}/metrics/{quote(name, safe='')}"
    body = place.rest.get(f"{place.endpoints.logging}/v2/{path}")
    if body is None:
        return None
    if body.get("description") != item.values["description"]:
        raise _foreign(item, name, f"its description is {body.get('description')!r}")
    return Adoption(item.address, name, "by its description")


def _monitored(collection: str) -> Finder:
    """A finder of what Cloud Monitoring names by itself: ours by labels and display name."""

    def find_monitored(item: Planned, place: Place) -> Adoption | None:
        url = f"{place.endpoints.monitoring}/v3/projects/{place.env.project}/{collection}"
        wanted = item.values.get("user_labels") or {}
        same = [
            body["name"]
            for body in _pages(place, url, collection)
            if body.get("displayName") == item.values["display_name"]
            and all(body.get("userLabels", {}).get(k) == v for k, v in wanted.items())
        ]
        return _only(item, same, "by its labels")

    return find_monitored


def _budget(item: Planned, place: Place) -> Adoption | None:
    account = item.values["billing_account"]
    url = f"{place.endpoints.billing_budgets}/v1/billingAccounts/{account}/budgets"
    title = item.values["display_name"]
    names_ = [b["name"] for b in _pages(place, url, "budgets") if b.get("displayName") == title]
    return _only(item, names_, "by its name")


def _pages(place: Place, url: str, key: str) -> Iterator[Values]:
    """Everything in a listing."""
    token = ""
    while True:
        page = place.rest.get(f"{url}?pageSize=100&pageToken={token}") or {}
        yield from page.get(key, [])
        token = page.get("nextPageToken", "")
        if not token:
            return


def _only(item: Planned, same: list[str], proof: str) -> Adoption | None:
    if len(same) > 1:
        raise TerraformError(
            f"{len(same)} of them carry the labels of {item.address}: {', '.join(same)}",
            where=item.address,
            fix="delete those that are not used, then run the same command again",
        )
    return Adoption(item.address, same[0], proof) if same else None


def _labelled(item: Planned, body: Values, id_: str) -> Adoption:
    labels, wanted = body.get("labels", {}), item.values.get("labels") or {}
    # Team and cost centre may have changed since; these say whose it is.
    if any(labels.get(key) != wanted.get(key) for key in ("kit", "environment")):
        raise _foreign(item, id_, f"its labels are {labels}")
    return Adoption(item.address, id_, "by its labels")


def _foreign(item: Planned, name: str, seen: str) -> TerraformError:
    return TerraformError(
        f"{name} exists already and is not {names.KIT}'s: {seen}",
        where=item.address,
        fix="delete it, or give the environment another name or project",
    )


_NAMES = {"repositories": "repository_id", "jobs": "name", "workerPools": "name"}
_FINDERS: Mapping[str, Finder] = {
    "google_storage_bucket": _bucket,
    "google_secret_manager_secret": _secret,
    "google_service_account": _service_account,
    "google_cloudbuild_trigger": _trigger,
    "google_vertex_ai_reasoning_engine": _engine,
    "google_artifact_registry_repository": _named("repositories", "artifact_registry"),
    "google_cloud_scheduler_job": _named("jobs", "cloud_scheduler"),
    "google_cloudbuild_worker_pool": _named("workerPools", "cloud_build"),
    "google_logging_metric": _metric,
    "google_monitoring_alert_policy": _monitored("alertPolicies"),
    "google_monitoring_notification_channel": _monitored("notificationChannels"),
    "google_billing_budget": _budget,
}
