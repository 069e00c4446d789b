"""The platform's web application: every API's routes over one state."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from services.emulator import (
    agentruntime,
    catalog,
    cloudbuild,
    development,
    faults,
    iam,
    jobs,
    logentries,
    memorybank,
    metadata,
    projects,
    secretmanager,
    sessions,
    storage,
)
from services.emulator.access import Access
from services.emulator.errors import ApiError
from services.emulator.platform import Platform

# sessions and memorybank lie under an engine's path, so they come before agentruntime; a download
# from storage may have any path, so what has one of its own comes before it.
SERVICES = (
    sessions,
    memorybank,
    agentruntime,
    metadata,
    jobs,
    storage,
    secretmanager,
    iam,
    projects,
    cloudbuild,
    logentries,
    development,
    catalog,
)


def create_app(platform: Platform) -> ASGIApp:
    """The application; its lifespan starts what runs beside REST (engines) and stops it."""
    routes: list[BaseRoute] = [Route("/healthz", _healthz), *faults.routes(platform)]
    for service in SERVICES:
        routes += service.routes(platform)
    routes.append(
        Route("/{path:path}", _unknown, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
    )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        platform.operations.fail_interrupted()
        async with agentruntime.running(platform):
            yield

    # A page in a browser could reach a loopback port under a name of its own (DNS rebinding).
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    app = Starlette(routes=routes, lifespan=lifespan, middleware=[hosts])
    app.state.identity = platform.identity
    app.state.access = Access(platform)
    app.state.platform = platform
    # Outermost: a reset needs the server's own connection.
    return faults.Faults(app, platform)


async def _healthz(request: Request) -> Response:
    """Says which platform answers: a port may have been taken over by another one."""
    platform: Platform = request.app.state.platform
    return JSONResponse({"pid": os.getpid(), "state": str(platform.store.folder.resolve())})


async def _unknown(request: Request) -> Response:
    return ApiError(
        "NOT_FOUND", f"The local platform has no method {request.method} {request.url.path}."
    ).response()
