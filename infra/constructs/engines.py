"""One Agent Runtime engine for each agent, created empty: the deploy tool owns all of `spec`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from infra.constructs import encryption, labels
from infra.environment import Environment
from infra.manifest import AgentManifest
from infra.resource import Declarations, Resource

TYPE = "google_vertex_ai_reasoning_engine"


def engines(
    stack: Declarations,
    env: Environment,
    agents: Mapping[str, AgentManifest],
    after: Iterable[Resource],
) -> dict[str, Resource]:
    """The engines by agent's name. Attribute `name` is the bare ID, `id` the full resource name.

    Args:
        after: what must be there first: the grants on the key that encrypts them.
    """
    return {
        agent: Resource(
            stack,
            TYPE,
            agent,
            origin=manifest.where("name"),
            display_name=f"{agent}-{env.scope}",
            description=f"The agent {agent} of {env.scope}. Its code is deployed by slipway.",
            region=env.region,
            labels=labels.of(env, agent, manifest.owner),
            deletion_policy=env.deletion_policy,
            encryption_spec=encryption.spec(env),
            depends_on=after,
            ignore_changes=["spec"],
        )
        for agent, manifest in agents.items()
    }
