"""Names that follow from an environment and an agent, and their limits. No look-up uses them."""

from __future__ import annotations

import hashlib

KIT = "slipway"
"""Value of the label `kit` on what this product made."""
MEMORY_BANK = "memory-bank"
"""Value of the label `agent` on the memory bank's engine; agents' names hold no hyphen."""
DEPLOYER = "deployer"
"""Whose account the deploy pipeline runs as; no agent can have this name."""
PIPELINES = ("pull-request", "promote", "rollback", "memory-audit")
"""The other pipelines; each runs as an account of its own."""


def bucket(project: str, scope: str, use: str) -> str:
    """`PROJECT-SCOPE-USE` within Cloud Storage's 63 characters.

    Args:
        scope: what tells the environment apart in its project (`Environment.scope`).
    """
    return _fit(f"{project}-{scope}-{use}", 63)


def state_bucket(project: str, scope: str) -> str:
    """The bucket that holds Terraform's state and lock."""
    return bucket(project, scope, "tfstate")


def secret_id(secret: str, prefix: str) -> str:
    """The ID in Secret Manager: a project's own, so only a prefix sets it apart."""
    return f"{prefix}-{secret}" if prefix else secret


def account_id(who: str, scope: str) -> str:
    """`WHO-SCOPE` within a service account ID's 6 to 30 of `[a-z0-9-]`.

    Too short: `-agent` is added. Too long: it ends in 8 hex digits of the whole name's SHA-256.
    """
    name = f"{who.replace('_', '-')}-{scope}"
    return f"{name}-agent" if len(name) < 6 else _fit(name, 30, f"{who}-{scope}")


def labels(scope: str, agent: str | None = None) -> dict[str, str]:
    """The labels that prove to a later run whose a resource is."""
    return {"kit": KIT, "environment": scope} | ({"agent": agent} if agent else {})


def _fit(name: str, most: int, unique: str = "") -> str:
    """The name, or its beginning and 8 hex digits of the SHA-256 of what makes it unique."""
    if len(name) <= most:
        return name
    digest = hashlib.sha256((unique or name).encode()).hexdigest()[:8]
    return f"{name[: most - 9].rstrip('-')}-{digest}"
