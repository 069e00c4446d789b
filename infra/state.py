"""What can be told about a state without running Terraform: who wrote it."""

from __future__ import annotations

import re
from urllib.parse import quote

from infra import names
from infra.environment import Environment
from infra.rest import Rest

# Terraform writes these first: {"version": 4, "terraform_version": "1.15.5", …
HEAD_BYTES = 256
_VERSION = re.compile(r'"terraform_version":\s*"([0-9][^"]*)"')


def bucket(env: Environment) -> str:
    """The bucket that holds the environment's state and lock."""
    return names.state_bucket(env.project, env.scope)


def prefix(env: Environment) -> str:
    """Where in the bucket; the `gcs` backend adds `/default.tfstate` and `/default.tflock`."""
    return f"terraform/{env.name}"


def written_by(env: Environment, storage: str, rest: Rest) -> str | None:
    """The version of the Terraform that wrote the state last; None: there is no state.

    Args:
        storage: base URL of Cloud Storage, without version or slash.

    Raises:
        RemoteError: the object is there and cannot be read.
    """
    name = quote(f"{prefix(env)}/default.tfstate", safe="")
    url = f"{storage}/storage/v1/b/{bucket(env)}/o/{name}?alt=media"
    head = rest.head_of(url, HEAD_BYTES)
    found = _VERSION.search(head.decode(errors="replace")) if head else None
    return found[1] if found else None
