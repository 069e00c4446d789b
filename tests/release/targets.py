"""The environment `local` at any address, and descriptors of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from google.oauth2.credentials import Credentials

from infra.descriptor import SCHEMA_VERSION, Buckets, Descriptor, EngineEntry, MemoryBankEntry
from infra.endpoints import Endpoints
from infra.settings import Environment
from services.release.bundle import Bundle
from services.release.target import Target

ENVIRONMENT = Environment(
    name="local",
    project="acme-local",
    region="us-central1",
    endpoint="local",
    credentials="local",
    provider="local",
)


def target_at(endpoint: str, **changes: str) -> Target:
    """The environment `local`, reached at `endpoint`; `changes` are fields of its file."""
    environment = ENVIRONMENT.model_copy(update=changes)
    return Target(environment, Endpoints.at(endpoint), Credentials("operator"))


def descriptor_of(*agents: str) -> Descriptor:
    """A descriptor of engines 1001, 1002 … in the order of `agents`, and a memory bank 9000."""
    parent = "projects/acme-local/locations/us-central1/reasoningEngines"
    engines = {
        agent: EngineEntry(
            id=str(number),
            name=f"{parent}/{number}",
            service_account=f"{agent}-local@acme-local.iam.gserviceaccount.com",
        )
        for number, agent in enumerate(agents, 1001)
    }
    return Descriptor(
        schema_version=SCHEMA_VERSION,
        environment="local",
        project="acme-local",
        project_number="100000000001",
        region="us-central1",
        engines=engines,
        memory_bank=MemoryBankEntry(id="9000", name=f"{parent}/9000", location="us-central1"),
        secrets={"caller-signing-key": "projects/acme-local/secrets/caller-signing-key"},
        buckets=Buckets(
            releases="acme-local-local-releases",
            control="acme-local-local-control",
            policy="acme-local-local-policy",
        ),
    )


def bundle_of(
    agent: str,
    *,
    digest: str = "",
    archive: bytes = b"archive",
    class_methods: Sequence[Mapping[str, Any]] = ({"name": "query", "api_mode": ""},),
) -> Bundle:
    """A bundle of an agent that has one method."""
    return Bundle(
        agent=agent,
        entrypoint=f"agents.{agent}.agent:app",
        python="3.11",
        digest=digest or hashlib.sha256(agent.encode()).hexdigest(),
        archive=archive,
        size=10240,
        files=3,
        tree="1" * 64,
        requirements="0" * 64,
        framework="custom",
        class_methods=class_methods,
    )
