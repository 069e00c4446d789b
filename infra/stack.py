"""One environment's stack: what Terraform makes for whatever agents have a manifest."""

from __future__ import annotations

from collections.abc import Mapping

from infra import checks
from infra.constructs import (
    apis,
    buckets,
    encryption,
    engines,
    identity,
    memory,
    network,
    observability,
    registry,
    secrets,
    takeover,
    triggers,
)
from infra.constructs.descriptor import descriptor
from infra.descriptor import OBJECT_NAME
from infra.environment import Environment
from infra.manifest import AgentManifest
from infra.pipelines import Build
from infra.resource import Declarations, Resource
from infra.schema import check
from infra.topics import Topics

# The google provider's `*_custom_endpoint` arguments, and the path each of them ends in.
LOCAL_ENDPOINTS = {
    "artifact_registry": "v1/",
    "billing": "v1/",
    "cloud_build": "v1/",
    "cloud_resource_manager": "v1/",
    "cloud_scheduler": "v1/",
    "cloudbuildv2": "v2/",
    "compute": "compute/v1/",
    "iam": "v1/",
    "iam_beta": "v1/",
    "kms": "v1/",
    "logging": "v2/",
    "monitoring": "",
    "resource_manager": "v1/",
    "secret_manager": "v1/",
    "service_usage": "v1/",
    "storage": "storage/v1/",
    "vertex_ai": "v1/",
}


def declare(
    env: Environment,
    agents: Mapping[str, AgentManifest],
    topics: Topics,
    builds: Mapping[str, Build],
) -> Declarations:
    """Everything in the environment's stack, checked.

    Raises:
        InputError: what the provider would not take, with the line that asked for it.
    """
    stack = Declarations()
    _provider(stack, env)
    stack.waits = apis.enable(stack, env)
    targets = _targets(stack, env, agents, topics)
    rows = identity.table(agents, env)
    identity.bind(stack, env, rows, targets)
    made = triggers.triggers(stack, env, targets.accounts, builds)
    observability.watch(stack, env, made)
    registry.images(stack, env)
    network.attachment(stack, env)
    descriptor(stack, env, targets)
    takeover.add(stack, env, agents, targets)
    _outputs(stack, targets)
    checks.check(stack.resources)
    return stack


def _targets(
    stack: Declarations, env: Environment, agents: Mapping[str, AgentManifest], topics: Topics
) -> identity.Targets:
    """What bindings lie on."""
    stores = buckets.buckets(stack, env)
    keys = encryption.grants(stack, env, stores["policy"])
    return identity.Targets(
        accounts=identity.accounts(stack, env, agents),
        engines=engines.engines(stack, env, agents, keys),
        secrets=secrets.secrets(stack, env, agents),
        buckets=stores,
        bank=memory.memory_bank(stack, env, topics, keys) if env.memory == "bank" else None,
    )


def _provider(stack: Declarations, env: Environment) -> None:
    """The provider's arguments. Address and token of a local platform are variables of the run."""
    stack.provider = {"project": env.project, "region": env.region}
    if env.provider == "local":
        stack.variables["platform_endpoint"] = {
            "type": "string",
            "description": "Base URL of the local platform.",
        }
        stack.variables["access_token"] = {
            "type": "string",
            "sensitive": True,
            "description": "Bearer token for it.",
        }
        stack.provider |= {
            f"{api}_custom_endpoint": f"${{var.platform_endpoint}}/{path}"
            for api, path in LOCAL_ENDPOINTS.items()
        }
        stack.provider["access_token"] = "${var.access_token}"
    check.check_provider(stack.provider)


def _outputs(stack: Declarations, targets: identity.Targets) -> None:
    bank: Resource | None = targets.bank
    values = {
        "engines": {agent: engine.ref("id") for agent, engine in targets.engines.items()},
        "memory_bank": bank.ref("id") if bank else None,
        "descriptor": f"gs://{targets.buckets['policy'].ref('name')}/{OBJECT_NAME}",
    }
    stack.outputs = {key: value for key, value in values.items() if value is not None}
