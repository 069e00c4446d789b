"""One Agent Runtime engine for each agent, created empty: the deploy tool owns all of `spec`."""

from __future__ import annotations

from collections.abc import Iterable

from infra import cdk, names
from infra.resource import Resource
from infra.settings import Environment

TYPE = "google_vertex_ai_reasoning_engine"


def engines(
    stack: cdk.TerraformStack, env: Environment, agents: Iterable[str]
) -> dict[str, Resource]:
    """The engines by agent's name. Attribute `name` is the bare ID, `id` the full resource name."""
    return {
        agent: Resource(
            stack,
            TYPE,
            agent,
            display_name=f"{agent}-{env.name}",
            description=f"The agent {agent} of {env.name}. Its code is deployed by slipway.",
            region=env.region,
            labels=names.labels(env.name, agent),
            deletion_policy=env.deletion_policy,
            ignore_changes=["spec"],
        )
        for agent in agents
    }
