"""Versions of an environment's secrets: listed, added, disabled; read where somebody signs."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from infra.descriptor import Descriptor
from infra.errors import InputError, RemoteError
from services.release import remote
from services.release.parallel import all_of
from services.release.target import Target

BYTES = 32
MOST_BYTES = 64 * 1024
"""Secret Manager's own limit of a value."""
ENABLED = "ENABLED"
READS_AT_ONCE = 8


@dataclass(frozen=True)
class Version:
    """One version of a secret: its number, `ENABLED`, `DISABLED` or `DESTROYED`, and its birth."""

    number: str
    state: str
    created: str


class Vault:
    """The secrets that an environment's descriptor names."""

    def __init__(self, target: Target, descriptor: Descriptor) -> None:
        """Sends nothing yet."""
        self._target, self._descriptor = target, descriptor

    @cached_property
    def _client(self) -> Any:
        # REST, not gRPC: the local platform speaks it, and it is imported in a sixth of the time.
        from google.cloud import secretmanager_v1 as secretmanager

        return secretmanager.SecretManagerServiceClient(
            transport="rest",
            credentials=self._target.credentials,
            client_options={"api_endpoint": self._target.endpoints.secret_manager},
        )

    def name(self, secret: str) -> str:
        """The full name of a secret, by the ID under which agents declare it.

        Raises:
            RemoteError: the environment has no such secret.
        """
        found = self._descriptor.secrets.get(secret)
        if found is None:
            raise RemoteError(
                f"{self._descriptor.environment} has no secret {secret!r}",
                where="descriptor.json",
                fix=self._target.provision,
            )
        return found

    def versions(self, secret: str) -> tuple[Version, ...]:
        """Every version, the newest first."""
        name = self.name(secret)
        with remote.calling(name):
            found = list(self._client.list_secret_versions(request={"parent": name}))
        versions = [
            Version(v.name.rpartition("/")[2], v.state.name, v.create_time.isoformat())
            for v in found
        ]
        return tuple(sorted(versions, key=lambda version: -int(version.number)))

    def newest(self, names: Iterable[str]) -> dict[str, str]:
        """The number of each secret's newest enabled version, read side by side.

        Raises:
            RemoteError: one has none.
        """
        calls = {secret: partial(self._newest, secret) for secret in sorted(set(names))}
        return all_of(calls, at_most=READS_AT_ONCE)

    def add(self, secret: str, value: bytes) -> str:
        """Adds a version; returns its number. The value is shown and logged nowhere.

        Raises:
            InputError: the value is empty or too long.
        """
        if not value or len(value) > MOST_BYTES:
            raise InputError(
                f"the value has {len(value)} bytes",
                where=secret,
                fix=f"give 1 to {MOST_BYTES} bytes on standard input",
            )
        name = self.name(secret)
        with remote.calling(name):
            made = self._client.add_secret_version(
                request={"parent": name, "payload": {"data": value}}
            )
        return str(made.name.rpartition("/")[2])

    def read(self, secret: str, version: str) -> bytes:
        """The value of a version; it goes to no log and no file."""
        name = f"{self.name(secret)}/versions/{version}"
        with remote.calling(name):
            found = self._client.access_secret_version(request={"name": name})
        return bytes(found.payload.data)

    def disable(self, secret: str, version: str) -> None:
        """Disables a version: nothing can read it until somebody enables it again."""
        name = f"{self.name(secret)}/versions/{version}"
        with remote.calling(name):
            self._client.disable_secret_version(request={"name": name})

    def ensure_generated(self, secret: str) -> bool:
        """Adds a random version to a secret that has no enabled one; whether it did."""
        if any(version.state == ENABLED for version in self.versions(secret)):
            return False
        self.add(secret, secrets.token_urlsafe(BYTES).encode())
        return True

    def _newest(self, secret: str) -> str:
        for version in self.versions(secret):
            if version.state == ENABLED:
                return version.number
        raise RemoteError(
            "the secret has no enabled version",
            where=self.name(secret),
            fix=f"slipway secret set {self._target.named} {secret}",
        )
