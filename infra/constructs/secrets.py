"""Secret Manager secrets without values: a value never passes through Terraform or its state."""

from __future__ import annotations

from collections.abc import Iterable

from infra import cdk, names
from infra.resource import Resource
from infra.settings import Environment

TYPE = "google_secret_manager_secret"


def secrets(stack: cdk.TerraformStack, env: Environment, ids: Iterable[str]) -> dict[str, Resource]:
    """The secrets by their ID. Attribute `id` is the full resource name."""
    return {
        secret: Resource(
            stack,
            TYPE,
            secret,
            secret_id=secret,
            labels=names.labels(env.name),
            replication={"auto": {}},
        )
        for secret in ids
    }
