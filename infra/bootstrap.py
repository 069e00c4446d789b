"""Makes the one thing that Terraform cannot make itself: the bucket that holds its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from infra import names
from infra.errors import RemoteError
from infra.rest import Rest
from infra.settings import Environment

if TYPE_CHECKING:
    from google.auth.credentials import Credentials

SOFT_DELETE_SECONDS = 7 * 24 * 3600


def ensure_state_bucket(env: Environment, endpoint: str, credentials: Credentials) -> bool:
    """Makes the environment's state bucket unless it is there; safe to run again at any time.

    Args:
        endpoint: base URL of Cloud Storage, without version or slash.

    Returns:
        Whether it was made now.

    Raises:
        RemoteError: it is somebody else's, or cannot be made.
    """
    rest = Rest(credentials)
    name = names.state_bucket(env.project, env.name)
    if rest.get(f"{endpoint}/storage/v1/b/{name}") is not None:
        return False
    try:
        rest.post(f"{endpoint}/storage/v1/b?project={env.project}", _body(env, name))
    except RemoteError:
        # Another run may have made it in between; one that we cannot read is not ours.
        if rest.get(f"{endpoint}/storage/v1/b/{name}") is None:
            raise
        return False
    return True


def _body(env: Environment, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "location": env.region.upper(),
        "labels": names.labels(env.name),
        "versioning": {"enabled": True},
        "iamConfiguration": {
            "uniformBucketLevelAccess": {"enabled": True},
            "publicAccessPrevention": "enforced",
        },
        "softDeletePolicy": {"retentionDurationSeconds": str(SOFT_DELETE_SECONDS)},
    }
