"""The Google APIs that an environment needs, and the resource types that each of them makes."""

from __future__ import annotations

from infra.environment import Environment

# API -> resource types that it makes; `bootstrap` enables the same ones.
APIS: dict[str, tuple[str, ...]] = {
    "aiplatform.googleapis.com": ("google_vertex_ai_reasoning_engine",),
    "artifactregistry.googleapis.com": ("google_artifact_registry_repository",),
    "cloudbuild.googleapis.com": (
        "google_cloudbuild_trigger",
        "google_cloudbuild_worker_pool",
        "google_cloudbuildv2_repository",
    ),
    "cloudresourcemanager.googleapis.com": (),
    "cloudscheduler.googleapis.com": ("google_cloud_scheduler_job",),
    "iam.googleapis.com": ("google_service_account",),
    "iamcredentials.googleapis.com": (),
    "logging.googleapis.com": ("google_logging_metric",),
    "monitoring.googleapis.com": (
        "google_monitoring_alert_policy",
        "google_monitoring_notification_channel",
    ),
    "secretmanager.googleapis.com": ("google_secret_manager_secret",),
    "serviceusage.googleapis.com": (),
    "storage.googleapis.com": ("google_storage_bucket",),
}
# Needed only where an optional part of the environment is there.
OPTIONAL: dict[str, tuple[str, ...]] = {
    "bigquery.googleapis.com": (),
    "billingbudgets.googleapis.com": ("google_billing_budget",),
    "cloudkms.googleapis.com": ("google_kms_crypto_key_iam_member",),
    "compute.googleapis.com": ("google_compute_network_attachment",),
}


def needed(env: Environment) -> dict[str, tuple[str, ...]]:
    """The APIs of this environment, with the resource types that wait for each."""
    wanted = {
        "bigquery.googleapis.com": "bigquery" in env.data.values(),
        "billingbudgets.googleapis.com": env.budget is not None,
        "cloudkms.googleapis.com": env.kms_key is not None,
        "compute.googleapis.com": env.network is not None,
    }
    return dict(sorted((APIS | {api: OPTIONAL[api] for api in OPTIONAL if wanted[api]}).items()))
