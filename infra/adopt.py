"""Finds what Terraform plans to create but exists already, and is provably this environment's.

An apply that was killed may have made resources that never reached the state. What carries our
labels, tags or description is imported instead of created; what has the name but not the proof is
somebody else's, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from infra import names
from infra.endpoints import Endpoints
from infra.errors import TerraformError
from infra.rest import Rest
from infra.settings import Environment

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
    url = f"{place.endpoints.agent_runtime}/v1/{place.home}/reasoningEngines"
    same: list[str] = []
    token = ""
    while True:
        page = place.rest.get(f"{url}?pageSize=100&pageToken={token}") or {}
        for engine in page.get("reasoningEngines", []):
            labels = engine.get("labels", {})
            if all(labels.get(key) == value for key, value in wanted.items()):
                same.append(engine["name"])
        token = page.get("nextPageToken", "")
        if not token:
            break
    if len(same) > 1:
        raise TerraformError(
            f"{len(same)} engines carry the labels of {item.address}: {', '.join(same)}",
            where=item.address,
            fix="delete those that are not used, then run the same command again",
        )
    return Adoption(item.address, same[0], "by its labels") if same else None


def _labelled(item: Planned, body: Values, id_: str) -> Adoption:
    labels = body.get("labels", {})
    if any(labels.get(key) != value for key, value in (item.values.get("labels") or {}).items()):
        raise _foreign(item, id_, f"its labels are {labels}")
    return Adoption(item.address, id_, "by its labels")


def _foreign(item: Planned, name: str, seen: str) -> TerraformError:
    return TerraformError(
        f"{name} exists already and is not {names.KIT}'s: {seen}",
        where=item.address,
        fix="delete it, or give the environment another name or project",
    )


_FINDERS: Mapping[str, Callable[[Planned, Place], Adoption | None]] = {
    "google_storage_bucket": _bucket,
    "google_secret_manager_secret": _secret,
    "google_service_account": _service_account,
    "google_cloudbuild_trigger": _trigger,
    "google_vertex_ai_reasoning_engine": _engine,
}
