"""The environment descriptor: the IDs Terraform made, written by it, read by every deployment.

Terraform writes it as the object `descriptor.json` in the environment's policy bucket, so that no
ID is ever searched for by its display name.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

SCHEMA_VERSION = 1
OBJECT_NAME = "descriptor.json"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EngineEntry(_Model):
    """One agent's engine. `name` is the full resource name, `id` its last segment."""

    id: str
    name: str
    service_account: str


class MemoryBankEntry(_Model):
    """The engine whose `context_spec` holds the memory topics."""

    id: str
    name: str
    location: str


class Buckets(_Model):
    """Bucket names: immutable releases, the deployer's records, Terraform's policy, and files that
    people asked for ("" in an environment that was applied before there were any)."""

    releases: str
    control: str
    policy: str
    artifacts: str = ""


class Descriptor(_Model):
    """What an environment is, in IDs. `secrets` maps a secret's id to its full resource name."""

    schema_version: int
    environment: str
    project: str
    project_number: str
    region: str
    engines: dict[str, EngineEntry]
    memory_bank: MemoryBankEntry | None
    secrets: dict[str, str]
    buckets: Buckets
