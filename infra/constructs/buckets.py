"""The three buckets of an environment: what was built, what was done, and what is allowed."""

from __future__ import annotations

from infra import cdk, names
from infra.resource import Resource
from infra.settings import Environment

TYPE = "google_storage_bucket"
# releases: bundles and release documents, never rewritten. control: the deployer's lock, journal
# and history. policy: the descriptor and what Terraform allows; the deployer only reads it.
USES = ("releases", "control", "policy")
SOFT_DELETE_SECONDS = 7 * 24 * 3600


def buckets(stack: cdk.TerraformStack, env: Environment) -> dict[str, Resource]:
    """The buckets by use."""
    return {
        use: Resource(
            stack,
            TYPE,
            use,
            name=names.bucket(env.project, env.name, use),
            # The API answers in capitals; written so, no plan ever shows a difference.
            location=env.region.upper(),
            storage_class="STANDARD",
            labels=names.labels(env.name),
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            versioning={"enabled": True},
            soft_delete_policy={"retention_duration_seconds": SOFT_DELETE_SECONDS},
            force_destroy=env.deletion_policy == "FORCE",
        )
        for use in USES
    }
