"""The resource types that the local platform knows; the schema has more."""

from __future__ import annotations

from services.emulator.provider.resources import (
    accounts,
    buckets,
    engines,
    iam,
    objects,
    secrets,
    services,
    triggers,
)
from services.emulator.provider.resources.kind import Kind

KINDS: dict[str, type[Kind]] = {
    kind.type: kind
    for kind in (
        engines.Engine,
        iam.EngineMember,
        accounts.ServiceAccount,
        iam.ServiceAccountMember,
        services.ProjectService,
        iam.ProjectMember,
        secrets.Secret,
        secrets.SecretVersion,
        iam.SecretMember,
        buckets.Bucket,
        iam.BucketMember,
        objects.Object,
        triggers.Trigger,
    )
}
"""By the type's name in Terraform."""
