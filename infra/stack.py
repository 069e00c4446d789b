"""One environment's stack: what Terraform makes for whatever agents have a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infra import cdk, names
from infra.constructs import buckets, engines, identity, memory, secrets, triggers
from infra.constructs.descriptor import descriptor
from infra.descriptor import OBJECT_NAME
from infra.manifest import AgentManifest
from infra.resource import GoogleProvider, Resource
from infra.settings import Environment
from infra.topics import Topics

# The google provider's `*_custom_endpoint` arguments, and the path each of them ends in.
LOCAL_ENDPOINTS = {
    "cloud_build": "v1/",
    "cloud_resource_manager": "v1/",
    "iam": "v1/",
    "iam_beta": "v1/",
    "resource_manager": "v1/",
    "secret_manager": "v1/",
    "service_usage": "v1/",
    "storage": "storage/v1/",
    "vertex_ai": "v1/",
}


class EnvironmentStack(cdk.TerraformStack):
    """The stack of one environment, named after it."""

    def __init__(
        self,
        app: cdk.App,
        env: Environment,
        agents: Mapping[str, AgentManifest],
        topics: Topics,
    ) -> None:
        """Adds every resource; raises InputError for what the provider would not take."""
        super().__init__(app, env.name)
        cdk.GcsBackend(
            self, bucket=names.state_bucket(env.project, env.name), prefix=f"terraform/{env.name}"
        )
        GoogleProvider(self, **_provider(self, env))
        ids = sorted({secret for agent in agents.values() for secret in agent.secrets.values()})
        targets = identity.Targets(
            accounts=identity.accounts(self, env, agents),
            engines=engines.engines(self, env, agents),
            secrets=secrets.secrets(self, env, ids),
            buckets=buckets.buckets(self, env),
            bank=memory.memory_bank(self, env, topics) if env.memory == "bank" else None,
        )
        rows = identity.table(agents, memory=env.memory == "bank")
        identity.bind(self, env, rows, targets)
        triggers.deploy_trigger(self, env, targets.accounts[names.DEPLOYER])
        descriptor(self, env, targets)
        _outputs(self, targets)


def _provider(stack: cdk.TerraformStack, env: Environment) -> dict[str, Any]:
    """The provider's arguments. Address and token of a local platform are variables of the run."""
    common: dict[str, Any] = {"project": env.project, "region": env.region}
    if env.provider == "google":
        return common
    cdk.TerraformVariable(
        stack, "platform_endpoint", type="string", description="Base URL of the local platform."
    )
    cdk.TerraformVariable(
        stack, "access_token", type="string", sensitive=True, description="Bearer token for it."
    )
    endpoints = {
        f"{api}_custom_endpoint": f"${{var.platform_endpoint}}/{path}"
        for api, path in LOCAL_ENDPOINTS.items()
    }
    return common | endpoints | {"access_token": "${var.access_token}"}


def _outputs(stack: cdk.TerraformStack, targets: identity.Targets) -> None:
    bank: Resource | None = targets.bank
    values = {
        "engines": {agent: engine.ref("id") for agent, engine in targets.engines.items()},
        "memory_bank": bank.ref("id") if bank else None,
        "descriptor": f"gs://{targets.buckets['policy'].ref('name')}/{OBJECT_NAME}",
    }
    for key, value in values.items():
        if value is not None:
            cdk.TerraformOutput(stack, key, value=value)
