"""Secret Manager secrets without values: a value never passes through Terraform's state."""

from __future__ import annotations

from collections.abc import Mapping

from infra import names
from infra.constructs import labels
from infra.environment import Environment
from infra.errors import InputError
from infra.manifest import AgentManifest
from infra.resource import Declarations, Resource

TYPE = "google_secret_manager_secret"
VERSION = "google_secret_manager_secret_version"


def secrets(
    stack: Declarations, env: Environment, agents: Mapping[str, AgentManifest]
) -> dict[str, Resource]:
    """The secrets that agents declare, by their ID there; attribute `id` is the full name."""
    asked = {
        secret: agent.where("secrets", variable)
        for agent in agents.values()
        for variable, secret in agent.secrets.items()
    }
    made = {
        secret: Resource(
            stack,
            TYPE,
            secret,
            origin=asked[secret],
            secret_id=names.secret_id(secret, env.name_prefix),
            labels=labels.of(env),
            replication={"auto": {}},
        )
        for secret in sorted(asked)
    }
    for secret, version in sorted(env.write_only.items()):
        _write_only(stack, env, made, secret, version)
    return made


def _write_only(
    stack: Declarations,
    env: Environment,
    made: Mapping[str, Resource],
    secret: str,
    version: str,
) -> None:
    """A value that Terraform passes on and forgets: an ephemeral variable into a write-only one."""
    where = env.where("write_only", secret)
    if secret not in made:
        raise InputError(
            f"no agent declares the secret {secret!r}",
            where=where,
            fix=f"declared: {', '.join(made) or 'none'}",
        )
    variable = f"secret_{secret.replace('-', '_')}"
    stack.variables[variable] = {
        "type": "string",
        "sensitive": True,
        "ephemeral": True,
        "description": f"Value of {secret}.",
    }
    Resource(
        stack,
        VERSION,
        secret,
        origin=where,
        secret=made[secret].ref("id"),
        secret_data_wo=f"${{var.{variable}}}",
        secret_data_wo_version=version,
        # An older version is disabled by `slipway secret rotate`, never destroyed from here.
        deletion_policy="ABANDON",
    )
