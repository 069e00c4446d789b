"""The network attachment through which engines reach a network of the team's (PSC interface)."""

from __future__ import annotations

from infra.environment import Environment
from infra.resource import Declarations, Resource

TYPE = "google_compute_network_attachment"


def attachment(stack: Declarations, env: Environment) -> Resource | None:
    """The attachment; None where the environment names no subnetwork."""
    if env.network is None:
        return None
    return Resource(
        stack,
        TYPE,
        "agents",
        origin=env.where("network", "subnetwork"),
        name=f"agents-{env.scope}",
        region=env.region,
        description=f"The agents of {env.scope} reach this network through it.",
        subnetworks=[env.network.subnetwork],
        # Agent Runtime's own projects connect; which ones is not known beforehand.
        connection_preference="ACCEPT_AUTOMATIC",
    )
