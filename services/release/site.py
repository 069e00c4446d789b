"""An environment as deployments work on it: its engines, its records, its releases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from infra.descriptor import Descriptor
from services.release import releases
from services.release.bundle import Bundle
from services.release.records import Bucket
from services.release.target import Target
from services.release.transport import Transport


@dataclass(frozen=True)
class Site:
    """One target and its descriptor, with clients that are made when they are first used."""

    target: Target
    descriptor: Descriptor

    @cached_property
    def transport(self) -> Transport:
        """Agent Runtime."""
        return Transport(self.target)

    @cached_property
    def control(self) -> Bucket:
        """Lease, journal and history."""
        return Bucket(self.target, self.descriptor.buckets.control)

    @cached_property
    def releases(self) -> Bucket:
        """Immutable releases and bundles."""
        return Bucket(self.target, self.descriptor.buckets.releases)

    def stored(self, release: str, agent: str) -> Bundle:
        """An agent's bundle of a stored release, checked against its name.

        Raises:
            RemoteError: it is not there, or is damaged.
        """
        return releases.load(self.releases, release, [agent])[agent]
