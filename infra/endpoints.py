"""Base URLs of the APIs that slipway calls, for Google's cloud or for a local platform.

Which of the two is meant is *named* in the environment file (`endpoint`), never detected.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Endpoints:
    """Base URLs without a trailing slash and without an API version."""

    agent_runtime: str
    storage: str
    secret_manager: str
    iam: str
    cloud_build: str

    @classmethod
    def google(cls, region: str) -> Endpoints:
        """Google's hosts. Agent Runtime is regional."""
        return cls(
            agent_runtime=f"https://{region}-aiplatform.googleapis.com",
            storage="https://storage.googleapis.com",
            secret_manager="https://secretmanager.googleapis.com",
            iam="https://iam.googleapis.com",
            cloud_build="https://cloudbuild.googleapis.com",
        )

    @classmethod
    def at(cls, base: str) -> Endpoints:
        """One host for everything, as the local platform serves it."""
        return cls(
            agent_runtime=base, storage=base, secret_manager=base, iam=base, cloud_build=base
        )
