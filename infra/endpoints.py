"""Base URLs of the APIs that slipway calls, for Google's cloud or for a local platform.

Which of the two is meant is *named* in the environment file (`endpoint`), never detected.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Endpoints:
    """Base URLs without a trailing slash and without an API version."""

    agent_runtime: str
    storage: str
    secret_manager: str
    iam: str
    cloud_build: str
    artifact_registry: str
    cloud_scheduler: str
    logging: str
    monitoring: str
    billing_budgets: str
    service_usage: str
    token_info: str

    @classmethod
    def google(cls, region: str) -> Endpoints:
        """Google's hosts. Agent Runtime is regional."""
        return cls(
            agent_runtime=f"https://{region}-aiplatform.googleapis.com",
            storage="https://storage.googleapis.com",
            secret_manager="https://secretmanager.googleapis.com",
            iam="https://iam.googleapis.com",
            cloud_build="https://cloudbuild.googleapis.com",
            artifact_registry="https://artifactregistry.googleapis.com",
            cloud_scheduler="https://cloudscheduler.googleapis.com",
            logging="https://logging.googleapis.com",
            monitoring="https://monitoring.googleapis.com",
            billing_budgets="https://billingbudgets.googleapis.com",
            service_usage="https://serviceusage.googleapis.com",
            token_info="https://oauth2.googleapis.com",
        )

    @classmethod
    def at(cls, base: str) -> Endpoints:
        """One host for everything, as the local platform serves it."""
        return cls(**dict.fromkeys((each.name for each in fields(cls)), base))
