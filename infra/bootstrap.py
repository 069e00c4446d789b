"""Makes what Terraform cannot make itself: the bucket of its state, and the APIs that it calls.

Safe to run again at any time. What only a person can do is told as a checklist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infra import apis, names, state
from infra.endpoints import Endpoints
from infra.environment import Environment
from infra.errors import InputError, RemoteError
from infra.rest import Rest

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

SOFT_DELETE_SECONDS = 7 * 24 * 3600
MOST_AT_ONCE = 20
"""How many APIs one call enables at most (Service Usage's own limit)."""


@dataclass(frozen=True)
class Bootstrapped:
    """What a run did, and what is left to a person."""

    made_bucket: bool
    enabled: tuple[str, ...]
    checklist: tuple[str, ...]


def bootstrap(
    env: Environment, endpoints: Endpoints, credentials: Credentials, say: Callable[[str], None]
) -> Bootstrapped:
    """Enables the APIs that are not enabled yet, then makes the state bucket unless it is there.

    Raises:
        InputError: the bucket carries somebody else's labels.
        RemoteError: an API refused.
    """
    rest = Rest(credentials)
    enabled = tuple(_enable(env, endpoints.service_usage, rest))
    for api in enabled:
        say(f"enabled {api}")
    made = ensure_state_bucket(env, endpoints.storage, credentials)
    return Bootstrapped(made, enabled, tuple(_checklist(env)))


def ensure_state_bucket(env: Environment, endpoint: str, credentials: Credentials) -> bool:
    """Makes the environment's state bucket unless it is there; safe to run again at any time.

    Args:
        endpoint: base URL of Cloud Storage, without version or slash.

    Returns:
        Whether it was made now.

    Raises:
        InputError: it carries the labels of another environment, or none of ours.
        RemoteError: it cannot be made.
    """
    rest = Rest(credentials)
    name = state.bucket(env)
    url = f"{endpoint}/storage/v1/b/{name}"
    found = rest.get(url)
    if found is None:
        try:
            rest.post(f"{endpoint}/storage/v1/b?project={env.project}", _body(env, name))
        except RemoteError:
            # Another run may have made it in between; one that we cannot read is not ours.
            found = rest.get(url)
            if found is None:
                raise
        else:
            return True
    _require_ours(env, name, found.get("labels") or {})
    return False


def _require_ours(env: Environment, name: str, labels: dict[str, str]) -> None:
    wanted = names.labels(env.scope)
    if any(labels.get(key) != value for key, value in wanted.items()):
        raise InputError(
            f"the state bucket {name} is not this environment's: its labels are {labels}",
            where=env.where("project"),
            fix="give the environment a name_prefix or project of its own, or label the bucket "
            + ",".join(f"{key}={value}" for key, value in wanted.items()),
        )


def _enable(env: Environment, endpoint: str, rest: Rest) -> Iterator[str]:
    base = f"{endpoint}/v1/projects/{env.project}/services"
    there: set[str] = set()
    token = ""
    while True:
        page = rest.get(f"{base}?filter=state:ENABLED&pageSize=200&pageToken={token}") or {}
        there |= {str(service["name"]).rpartition("/")[2] for service in page.get("services", [])}
        token = page.get("nextPageToken", "")
        if not token:
            break
    missing = [api for api in apis.needed(env) if api not in there]
    for start in range(0, len(missing), MOST_AT_ONCE):
        part = missing[start : start + MOST_AT_ONCE]
        rest.post(f"{base}:batchEnable", {"serviceIds": part})
        yield from part


def _checklist(env: Environment) -> Iterator[str]:
    """What only a person can do, in the order in which it is needed."""
    connection, repository = env.build.repository.split("/")
    yield f"billing is linked to the project {env.project}"
    yield (
        f"the repository connection {connection!r} exists in {env.region} "
        "(Cloud Build > Repositories > 2nd gen; it asks for a click on the host's page)"
    )
    if env.build.remote_uri is None:
        yield f"the repository {repository!r} is linked to it, or [build] remote_uri names it"
    for group, address in env.groups:
        if address:
            yield f"the group {address} exists and has its people ({group.replace('_', ' ')})"
    if env.alerts.email:
        yield f"somebody reads {env.alerts.email}"
    yield f"whoever applies may do so: roles/owner on {env.project}, or the roles of docs/cloud.md"


def _body(env: Environment, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "location": env.region.upper(),
        "labels": names.labels(env.scope),
        "versioning": {"enabled": True},
        "iamConfiguration": {
            "uniformBucketLevelAccess": {"enabled": True},
            "publicAccessPrevention": "enforced",
        },
        "softDeletePolicy": {"retentionDurationSeconds": str(SOFT_DELETE_SECONDS)},
    }
