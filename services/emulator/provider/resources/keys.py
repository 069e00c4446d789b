"""Cloud KMS: key rings and keys, which nothing deletes."""

from __future__ import annotations

from typing import ClassVar

from services.emulator.provider.codec import UNKNOWN, State
from services.emulator.provider.mapping import Field, Fields
from services.emulator.provider.resources.collection import LAST, CollectionKind, local
from services.emulator.provider.resources.kind import parse
from services.emulator.provider.settings import Provider


class KeyRing(CollectionKind):
    """google_kms_key_ring: a destroy only forgets it."""

    type = "google_kms_key_ring"
    collection = "projects/{project}/locations/{location}/keyRings"
    query = "keyRingId"
    formats = ("{project}/{location}/{name}", "{location}/{name}")
    force_new = ("name", "location", "project")
    fields: ClassVar[Fields] = {**local("location"), "name": LAST}

    def remove(self, provider: Provider, state: State) -> None:
        """Nothing: key rings are for ever."""
        del provider, state


class CryptoKey(CollectionKind):
    """google_kms_crypto_key, below the key ring that it names in full."""

    type = "google_kms_crypto_key"
    collection = "{key_ring}/cryptoKeys"
    query = "cryptoKeyId"
    force_new = ("name", "key_ring", "purpose", "import_only", "destroy_scheduled_duration")
    fields: ClassVar[Fields] = {
        **local("key_ring", "skip_initial_version_creation", "crypto_key_backend", "import_only"),
        "name": LAST,
        "purpose": Field(default="ENCRYPT_DECRYPT"),
        "version_template": Field(adopted=False),
        "primary": Field(()),
    }

    def foresee(self, provider: Provider, planned: State, prior: State | None) -> None:
        """What this provider does not read stays as it is."""
        del provider, prior
        for name, empty in (("crypto_key_backend", ""), ("import_only", False), ("primary", None)):
            if planned.get(name) is UNKNOWN:
                planned[name] = empty

    def remove(self, provider: Provider, state: State) -> None:
        """Nothing: what it encrypted would be lost."""
        del provider, state

    def locate(self, provider: Provider, id_: str) -> State:
        """The full name."""
        found = parse(
            id_, "projects/{project}/locations/{location}/keyRings/{ring}/cryptoKeys/{name}"
        )
        home = f"projects/{found['project']}/locations/{found['location']}"
        ring = f"{home}/keyRings/{found['ring']}"
        return {"id": id_, "name": found["name"], "key_ring": ring}
