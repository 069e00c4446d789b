"""Whom a command talks to: an environment, its endpoints, and the credentials to send."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from infra import names
from infra.descriptor import OBJECT_NAME, SCHEMA_VERSION, Descriptor
from infra.endpoints import Endpoints
from infra.errors import RemoteError
from infra.settings import Environment


@dataclass(frozen=True)
class Target:
    """An environment as it is reached. `credentials` are a `google.auth` Credentials object."""

    environment: Environment
    endpoints: Endpoints
    credentials: Any = field(repr=False)

    @cached_property
    def storage(self) -> Any:
        """A `google.cloud.storage.Client`; made when it is first used."""
        from google.cloud import storage

        return storage.Client(
            project=self.environment.project,
            credentials=self.credentials,
            client_options={"api_endpoint": self.endpoints.storage},
        )

    @property
    def provision(self) -> str:
        """The command that makes what Terraform owns."""
        if self.environment.name == "local":
            return "slipway up (or slipway infra apply local)"
        return f"slipway infra apply {self.named}"

    @property
    def named(self) -> str:
        """ENV as commands take it, with `--platform` where that was laid over the file."""
        platform = self.environment.platform
        return (
            f"{self.environment.name} --platform {platform}" if platform else self.environment.name
        )


def read_descriptor(target: Target) -> Descriptor:
    """Reads the environment's descriptor and checks that it is this environment's.

    Raises:
        RemoteError: it is not there, cannot be read, is newer than this slipway, or belongs to
            another environment, project or region.
    """
    from services.release.records import Bucket

    env = target.environment
    bucket = Bucket(target, names.bucket(env.project, env.scope, "policy"))
    where = bucket.where(OBJECT_NAME)
    stored = bucket.read(OBJECT_NAME)
    if stored is None:
        raise RemoteError(
            f"{env.name} has no descriptor: its infrastructure is not applied yet",
            where=where,
            fix=target.provision,
        )
    return parse_descriptor(stored.data, target, where)


def parse_descriptor(text: bytes, target: Target, where: str) -> Descriptor:
    """Parses a descriptor; raises as `read_descriptor` does."""
    import json

    try:
        body = json.loads(text)
        version = int(body["schema_version"])
    except (ValueError, TypeError, KeyError):
        raise RemoteError("not a descriptor", where=where, fix=target.provision) from None
    if version > SCHEMA_VERSION:
        raise RemoteError(
            f"the descriptor has schema {version}; this slipway knows {SCHEMA_VERSION}",
            where=where,
            fix="use the newer slipway that applied the infrastructure",
        )
    try:
        descriptor = Descriptor.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise RemoteError(
            f"not as expected: {'.'.join(map(str, first['loc']))}: {first['msg']}",
            where=where,
            fix=target.provision,
        ) from None
    _require_own(descriptor, target, where)
    return descriptor


def _require_own(descriptor: Descriptor, target: Target, where: str) -> None:
    """Refuses a descriptor of another environment, or one that names another project's things."""
    env = target.environment
    for what in ("environment", "project", "region"):
        wanted = env.name if what == "environment" else getattr(env, what)
        if (found := getattr(descriptor, what)) != wanted:
            raise RemoteError(
                f"the descriptor is of {what} {found!r}, but {env.name} says {wanted!r}",
                where=where,
                fix=f"correct infra/environments/{env.name}.toml, or {target.provision}",
            )
    bank = [descriptor.memory_bank.name] if descriptor.memory_bank else []
    engines = [engine.name for engine in descriptor.engines.values()]
    own = {f"projects/{descriptor.project}/", f"projects/{descriptor.project_number}/"}
    for name in (*engines, *bank, *descriptor.secrets.values()):
        if not name.startswith(tuple(own)):
            raise RemoteError(
                f"the descriptor names {name}, which is of another project than "
                f"{descriptor.project}",
                where=where,
                fix=target.provision,
            )
