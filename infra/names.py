"""Names that follow from an environment and an agent, and their limits. No look-up uses them."""

from __future__ import annotations

import hashlib

KIT = "slipway"
"""Value of the label `kit` on what this product made."""
MEMORY_BANK = "memory-bank"
"""Value of the label `agent` on the memory bank's engine; agents' names hold no hyphen."""
DEPLOYER = "deployer"
"""Whose account the deploy pipeline runs as; no agent can have this name."""


def bucket(project: str, environment: str, use: str) -> str:
    """`PROJECT-ENV-USE`: at most 30 + 1 + 20 + 1 + 8 of Cloud Storage's 63 characters."""
    return f"{project}-{environment}-{use}"


def state_bucket(project: str, environment: str) -> str:
    """The bucket that holds Terraform's state and lock."""
    return bucket(project, environment, "tfstate")


def account_id(who: str, environment: str) -> str:
    """`WHO-ENV` within a service account ID's 6 to 30 of `[a-z0-9-]`.

    Too short: `-agent` is added. Too long: it ends in 8 hex digits of the whole name's SHA-256.
    """
    name = f"{who.replace('_', '-')}-{environment}"
    if len(name) < 6:
        return f"{name}-agent"
    if len(name) > 30:
        digest = hashlib.sha256(f"{who}-{environment}".encode()).hexdigest()[:8]
        return f"{name[:21].rstrip('-')}-{digest}"
    return name


def labels(environment: str, agent: str | None = None) -> dict[str, str]:
    """The labels that prove to a later run whose a resource is."""
    return {"kit": KIT, "environment": environment} | ({"agent": agent} if agent else {})
