"""Secrets that nobody has to know: their first version is made here, at random."""

from __future__ import annotations

import secrets

from infra.descriptor import Descriptor
from infra.errors import RemoteError
from services.release import remote
from services.release.target import Target

BYTES = 32


def ensure_generated(target: Target, descriptor: Descriptor, secret_id: str) -> bool:
    """Adds a random version to a secret that has no enabled one. The value is shown nowhere.

    Returns:
        Whether a version was added.

    Raises:
        RemoteError: the environment has no such secret, or Secret Manager refused.
    """
    # REST, not gRPC: the local platform speaks it, and it is imported in a sixth of the time.
    from google.cloud import secretmanager_v1 as secretmanager

    name = descriptor.secrets.get(secret_id)
    if name is None:
        raise RemoteError(
            f"{descriptor.environment} has no secret {secret_id!r}",
            where="descriptor.json",
            fix=target.provision,
        )
    with remote.calling(name):
        client = secretmanager.SecretManagerServiceClient(
            transport="rest",
            credentials=target.credentials,
            client_options={"api_endpoint": target.endpoints.secret_manager},
        )
        request = {"parent": name, "filter": "state:ENABLED", "page_size": 1}
        if next(iter(client.list_secret_versions(request=request)), None) is not None:
            return False
        value = secrets.token_urlsafe(BYTES).encode()
        client.add_secret_version(request={"parent": name, "payload": {"data": value}})
    return True
