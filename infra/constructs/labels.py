"""The labels of every resource that takes them."""

from __future__ import annotations

from infra import names
from infra.environment import Environment, Owner


def of(env: Environment, agent: str | None = None, owner: Owner | None = None) -> dict[str, str]:
    """Whose it is, who answers for it, and who pays.

    Args:
        agent: the agent that it belongs to, if it belongs to one.
        owner: that agent's own team and cost centre.
    """
    owner = owner or env.owner
    own = {"team": owner.team, "cost_centre": owner.cost_centre}
    return names.labels(env.scope, agent) | own
