"""Agent Runtime: reasoningEngines, their operations, queries and A2A."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.routing import BaseRoute

from services.emulator.platform import Platform


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    return []


@asynccontextmanager
async def running(platform: Platform) -> AsyncIterator[None]:
    """Starts the engines that were deployed, and stops every engine's process at the end."""
    yield
