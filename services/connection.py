"""From what an environment file names to what is called: endpoints and credentials.

The only place that knows which names there are; nothing is detected.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from infra.endpoints import Endpoints
from infra.errors import InputError
from services import platform

if TYPE_CHECKING:
    from infra.settings import Environment
    from infra.terraform import Connection
    from services.release.target import Target

# The local platform takes any token but those it minted for engines as the operator's.
LOCAL_TOKEN = "operator"


def connect(root: Path, env: Environment) -> Target:
    """Endpoints and credentials of `env`.

    Raises:
        PlatformError: the environment names the local platform, and it does not run.
        InputError: there are no application default credentials.
    """
    from services.release.target import Target

    if env.endpoint == "local":
        from google.oauth2.credentials import Credentials

        endpoints = Endpoints.at(platform.require(root).endpoint)
        return Target(env, endpoints, Credentials(LOCAL_TOKEN))
    import google.auth
    from google.auth.exceptions import DefaultCredentialsError

    try:
        credentials, _ = google.auth.default(
            scopes=["https://www.googleapis.com/auth/cloud-platform"]
        )
    except DefaultCredentialsError:
        raise InputError(
            "there are no application default credentials",
            where=f"infra/environments/{env.name}.toml",
            fix="gcloud auth application-default login",
        ) from None
    return Target(env, Endpoints.google(env.region), credentials)


def terraform_connection(root: Path, env: Environment) -> Connection:
    """How Terraform reaches the provider and the state of `env`; raises as `connect` does."""
    from infra.terraform import Connection

    if env.provider == "google":
        return Connection(reattach=None, platform_endpoint=None, access_token=None)
    running = platform.require(root)
    return Connection(
        reattach=running.reattach, platform_endpoint=running.endpoint, access_token=LOCAL_TOKEN
    )
