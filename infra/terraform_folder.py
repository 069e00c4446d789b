"""Terraform's working folder and environment: what it is to read, and nothing else."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infra.environment import Environment
from infra.errors import TerraformError
from infra.terraform_choice import Program

STACK, ADOPT, BACKEND = "main.tf.json", "adopt.tf.json", "backend.tfvars"
# Variables that would change what Terraform does behind our back.
FOREIGN = ("TF_VAR_", "TF_CLI_ARGS", "TF_DATA_DIR", "TF_WORKSPACE", "TF_REATTACH_PROVIDERS")
# … and those that would give it credentials, endpoints or plug-ins that a local environment does
# not name.
FOREIGN_LOCALLY = ("GOOGLE_", "GCLOUD_", "CLOUDSDK_", "STORAGE_EMULATOR_HOST", "TF_CLI_CONFIG_FILE")


@dataclass(frozen=True)
class Connection:
    """How Terraform reaches the provider and the state; all None for Google's cloud.

    `reattach` is the value of TF_REATTACH_PROVIDERS, `platform_endpoint` a base URL with no slash.
    """

    reattach: str | None
    platform_endpoint: str | None
    access_token: str | None = field(repr=False)


def write(folder: Path, stack: Path, connection: Connection, program: Program) -> str:
    """Writes the stack and the backend's address into the folder.

    Returns:
        A mark that changes when `terraform init` is needed again.

    Raises:
        TerraformError: the stack cannot be read, or the folder cannot be written.
    """
    backend = _backend(connection)
    with usable(folder):
        text = stack.read_text(encoding="utf-8")
        (folder / STACK).write_text(text, encoding="utf-8")
        (folder / BACKEND).touch(mode=0o600)
        (folder / BACKEND).write_text(backend)
        (folder / ADOPT).unlink(missing_ok=True)
    needs = json.dumps([str(program), backend, json.loads(text)["terraform"]], sort_keys=True)
    return hashlib.sha256(needs.encode()).hexdigest()


def environment(env: Environment, connection: Connection) -> dict[str, str]:
    """The environment of Terraform's process: ours, without what would secretly redirect it."""
    foreign = FOREIGN if env.provider == "google" else FOREIGN + FOREIGN_LOCALLY
    values = {f"TF_VAR_secret_{secret.replace('-', '_')}" for secret in env.write_only}
    found = {
        name: value
        for name, value in os.environ.items()
        if name in values or not name.startswith(foreign)
    }
    found |= {"TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1"}
    if connection.reattach is not None:
        found["TF_REATTACH_PROVIDERS"] = connection.reattach
    if connection.platform_endpoint is not None:
        found["TF_VAR_platform_endpoint"] = connection.platform_endpoint
        found["TF_VAR_access_token"] = connection.access_token or ""
    return found


def _backend(connection: Connection) -> str:
    """What `init` is told about the backend; it belongs neither in the stack nor in arguments."""
    if connection.platform_endpoint is None:
        return ""
    storage = f"{connection.platform_endpoint}/storage/v1/"
    fields = {"storage_custom_endpoint": storage, "access_token": connection.access_token}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Makes the folder, for its owner alone; an OSError inside becomes a TerraformError."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        yield
    except OSError as error:
        raise TerraformError(
            f"cannot be read or written: {error.strerror}",
            where=str(error.filename or folder),
            fix="make the folder writable, or set SLIPWAY_HOME to another one",
        ) from None
