"""The resource types that the local platform knows; the schema has more."""

from __future__ import annotations

from services.emulator.provider.resources import (
    accounts,
    buckets,
    building,
    engines,
    iam,
    keys,
    networks,
    objects,
    secrets,
    services,
    triggers,
    watching,
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
        building.ArtifactRepository,
        iam.RepositoryMember,
        building.WorkerPool,
        building.Connection,
        building.LinkedRepository,
        building.ScheduledJob,
        keys.KeyRing,
        keys.CryptoKey,
        iam.CryptoKeyMember,
        watching.Metric,
        watching.AlertPolicy,
        watching.NotificationChannel,
        watching.Budget,
        networks.NetworkAttachment,
        iam.AuditConfig,
    )
}
"""By the type's name in Terraform."""
