"""Customer-managed encryption: what may use the key, granted before anything is encrypted."""

from __future__ import annotations

from typing import Any

from infra.environment import Environment
from infra.resource import Declarations, Resource, expression

TYPE = "google_kms_crypto_key_iam_member"
ROLE = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
# Google's own accounts that read and write what an engine holds, by the part of their address.
SERVICE_AGENTS = {
    "aiplatform": "gcp-sa-aiplatform",
    "reasoning-engine": "gcp-sa-aiplatform-re",
}


def grants(stack: Declarations, env: Environment, numbered: Resource) -> list[Resource]:
    """The grants on the environment's key; none where it has no key.

    Args:
        numbered: a resource whose attribute `project_number` is known once it is there.
    """
    if env.kms_key is None:
        return []
    number = f"${{{expression(numbered, 'project_number')}}}"
    return [
        Resource(
            stack,
            TYPE,
            f"encrypt-{name}",
            origin=env.where("kms_key"),
            crypto_key_id=env.kms_key,
            role=ROLE,
            member=f"serviceAccount:service-{number}@{agent}.iam.gserviceaccount.com",
        )
        for name, agent in SERVICE_AGENTS.items()
    ]


def spec(env: Environment) -> dict[str, Any] | None:
    """The `encryption_spec` of an engine; None where the environment has no key."""
    return {"kms_key_name": env.kms_key} if env.kms_key else None
