"""The buckets of an environment: what was built, done, allowed, and made for people."""

from __future__ import annotations

from infra import names
from infra.constructs import labels
from infra.environment import Environment
from infra.resource import Declarations, Resource

TYPE = "google_storage_bucket"
# releases: bundles and release documents, never rewritten. control: the deployer's lock, journal
# and history. policy: the descriptor and what Terraform allows; the deployer only reads it.
# artifacts: files that people asked for, by conversation.
USES = ("releases", "control", "policy", "artifacts")
SOFT_DELETE_SECONDS = 7 * 24 * 3600


def buckets(stack: Declarations, env: Environment) -> dict[str, Resource]:
    """The buckets by use."""
    return {
        use: Resource(
            stack,
            TYPE,
            use,
            origin=env.where("project"),
            name=names.bucket(env.project, env.scope, use),
            # The API answers in capitals; written so, no plan ever shows a difference.
            location=env.region.upper(),
            storage_class="STANDARD",
            labels=labels.of(env),
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            versioning={"enabled": True},
            soft_delete_policy={"retention_duration_seconds": SOFT_DELETE_SECONDS},
            force_destroy=env.deletion_policy == "FORCE",
        )
        for use in USES
    }
