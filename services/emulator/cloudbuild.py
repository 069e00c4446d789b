"""Cloud Build triggers."""

from __future__ import annotations

from starlette.routing import BaseRoute

from services.emulator.platform import Platform


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    return []
