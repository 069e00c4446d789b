"""Google's predefined roles, as far as something here grants or needs them: what each may do.

Permissions are Google's names; `*` stands for every verb, or for everything of a service. From the
public IAM reference; no one has compared them with the cloud's answer.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

_READS = ("get", "list")


def _all(kind: str, *verbs: str) -> tuple[str, ...]:
    return tuple(f"{kind}.{verb}" for verb in verbs)


_ENGINE_READS = _all("aiplatform.reasoningEngines", *_READS)
_OBJECT_READS = _all("storage.objects", *_READS)
_SECRET_READS = (
    *_all("secretmanager.secrets", *_READS, "getIamPolicy"),
    *_all("secretmanager.versions", *_READS),
)
_BUILD_READS = _all("cloudbuild.builds", *_READS)
_REVIEWS = ("*.getIamPolicy",)

ROLES: dict[str, tuple[str, ...]] = {
    "roles/owner": ("*",),
    "roles/viewer": (
        *_ENGINE_READS,
        *_all("aiplatform.sessions", *_READS),
        "aiplatform.sessionEvents.list",
        *_all("aiplatform.memories", *_READS, "retrieve"),
        *_all("aiplatform.memoryRevisions", *_READS),
        *_SECRET_READS,
        *_BUILD_READS,
        *_all("iam.serviceAccounts", *_READS),
        *_all("serviceusage.services", *_READS),
        "resourcemanager.projects.get",
        "storage.buckets.list",
    ),
    "roles/iam.securityReviewer": (*_REVIEWS, "*.list"),
    "roles/aiplatform.admin": ("aiplatform.*",),
    "roles/aiplatform.user": (
        "aiplatform.endpoints.predict",
        "aiplatform.reasoningEngines.create",
        "aiplatform.reasoningEngines.delete",
        "aiplatform.reasoningEngines.get",
        "aiplatform.reasoningEngines.list",
        "aiplatform.reasoningEngines.query",
        "aiplatform.reasoningEngines.update",
        "aiplatform.sessions.*",
        "aiplatform.sessionEvents.*",
        "aiplatform.memories.*",
        "aiplatform.memoryRevisions.*",
    ),
    "roles/aiplatform.viewer": (
        *_ENGINE_READS,
        *_all("aiplatform.sessions", *_READS),
        "aiplatform.sessionEvents.list",
        *_all("aiplatform.memories", *_READS, "retrieve"),
        *_all("aiplatform.memoryRevisions", *_READS),
    ),
    "roles/aiplatform.endpointUser": ("aiplatform.endpoints.predict",),
    "roles/aiplatform.sessionUser": (
        "aiplatform.reasoningEngines.get",
        "aiplatform.sessions.*",
        "aiplatform.sessionEvents.*",
    ),
    "roles/aiplatform.memoryUser": (
        "aiplatform.reasoningEngines.get",
        "aiplatform.memories.*",
        "aiplatform.memoryRevisions.*",
    ),
    "roles/aiplatform.memoryViewer": (
        "aiplatform.reasoningEngines.get",
        *_all("aiplatform.memories", *_READS, "retrieve"),
        *_all("aiplatform.memoryRevisions", *_READS),
    ),
    "roles/bigquery.jobUser": ("bigquery.jobs.create",),
    "roles/secretmanager.secretAccessor": ("secretmanager.versions.access",),
    "roles/secretmanager.viewer": _SECRET_READS,
    "roles/secretmanager.secretVersionManager": (
        *_all("secretmanager.versions", *_READS, "add", "enable", "disable", "destroy"),
    ),
    "roles/storage.objectViewer": _OBJECT_READS,
    "roles/storage.objectCreator": ("storage.objects.create",),
    "roles/storage.objectUser": ("storage.objects.*",),
    "roles/storage.objectAdmin": ("storage.objects.*",),
    "roles/storage.legacyBucketReader": ("storage.buckets.get", "storage.objects.list"),
    "roles/cloudbuild.builds.editor": ("cloudbuild.builds.*",),
    "roles/cloudbuild.builds.viewer": _BUILD_READS,
    "roles/cloudbuild.builds.approver": ("cloudbuild.builds.approve", *_BUILD_READS),
    "roles/iam.serviceAccountUser": ("iam.serviceAccounts.actAs", "iam.serviceAccounts.get"),
    "roles/iam.serviceAccountTokenCreator": ("iam.serviceAccounts.getAccessToken",),
    "roles/serviceusage.serviceUsageConsumer": (
        "serviceusage.services.get",
        "serviceusage.services.list",
        "serviceusage.services.use",
    ),
    "roles/logging.logWriter": ("logging.logEntries.create",),
    "roles/logging.viewer": ("logging.logEntries.list",),
    "roles/monitoring.viewer": ("monitoring.timeSeries.list",),
    "roles/artifactregistry.reader": ("artifactregistry.repositories.downloadArtifacts",),
    "roles/artifactregistry.writer": ("artifactregistry.repositories.*",),
    "roles/cloudkms.cryptoKeyEncrypterDecrypter": ("cloudkms.cryptoKeyVersions.*",),
}


def holds(role: str, permission: str) -> bool:
    """Whether a role has a permission; a role that is not in the table has none."""
    return any(fnmatchcase(permission, pattern) for pattern in ROLES.get(role, ()))
