"""The platform of the deployments' tests, for the fault matrix too."""

from __future__ import annotations

from tests.release.conftest import cache, platform

__all__ = ["cache", "platform"]
