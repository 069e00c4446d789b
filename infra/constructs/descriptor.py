"""The environment descriptor: the IDs that Terraform made, as an object in the policy bucket."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from infra.constructs.identity import Targets
from infra.descriptor import OBJECT_NAME, SCHEMA_VERSION, Descriptor
from infra.environment import Environment
from infra.resource import Declarations, Resource, expression

TYPE = "google_storage_bucket_object"


def descriptor(stack: Declarations, env: Environment, targets: Targets) -> Resource:
    """The object that every deployment reads; its fields are those of infra/descriptor.py."""
    # Validated with references in the place of IDs, so that both sides always agree on the fields.
    document = Descriptor.model_validate(_fields(env, targets)).model_dump()
    return Resource(
        stack,
        TYPE,
        "descriptor",
        origin=env.where("name"),
        bucket=targets.buckets["policy"].ref("name"),
        name=OBJECT_NAME,
        content_type="application/json",
        # Terraform's language takes JSON as it stands, and fills in the references inside strings.
        content=f"${{jsonencode({json.dumps(document)})}}",
    )


def _fields(env: Environment, targets: Targets) -> Mapping[str, Any]:
    number = expression(targets.buckets["policy"], "project_number")
    bank = targets.bank
    return {
        "schema_version": SCHEMA_VERSION,
        "environment": env.name,
        "project": env.project,
        "project_number": f"${{tostring({number})}}",
        "region": env.region,
        "engines": {
            agent: {
                "id": engine.ref("name"),
                "name": engine.ref("id"),
                "service_account": targets.accounts[agent].ref("email"),
            }
            for agent, engine in targets.engines.items()
        },
        "memory_bank": bank
        and {"id": bank.ref("name"), "name": bank.ref("id"), "location": env.region},
        "secrets": {key: secret.ref("id") for key, secret in targets.secrets.items()},
        "buckets": {use: bucket.ref("name") for use, bucket in targets.buckets.items()},
    }
