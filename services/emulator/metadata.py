"""The metadata server that engines get their tokens from, and the OAuth token endpoint.

Every process has a metadata server of its own: `GCE_METADATA_HOST` may hold a path, and google-auth
appends `/computeMetadata/v1/…` to it. The path cannot be guessed, so that one engine does not get
another's token. Operators ask `/token`; their tokens are the operator's. `/tokeninfo` says whose a
token is, as Google's does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from services.emulator.identity import LIFETIME_SECONDS
from services.emulator.platform import Platform
from services.emulator.processes import Account

FLAVOR = {"Metadata-Flavor": "Google"}
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""

    async def token(request: Request) -> Response:
        await request.body()
        return JSONResponse(_token(platform.identity.operator_token()))

    async def info(request: Request) -> Response:
        given = request.query_params if request.method == "GET" else await request.form()
        token = given.get("access_token", "")
        principal = platform.identity.principal(f"Bearer {token}")
        if principal is None:
            return JSONResponse({"error": "invalid_token"}, 400)
        email = principal.partition(":")[2]
        return JSONResponse({"email": email, "scope": SCOPES[0], "expires_in": LIFETIME_SECONDS})

    return [
        Route("/tokeninfo", info, methods=["GET", "POST"]),
        Route("/_metadata/{key}", _server(platform)),
        Route("/_metadata/{key}/{path:path}", _server(platform)),
        Route("/token", token, methods=["POST"]),
    ]


def _server(platform: Platform) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        # The header is what a page in a browser cannot send: the real server asks for it too.
        if request.headers.get("metadata-flavor") != "Google":
            return PlainTextResponse("Missing Metadata-Flavor:Google header.\n", 403, FLAVOR)
        account = platform.processes.account(request.path_params["key"])
        path = request.path_params.get("path", "").strip("/").removeprefix("computeMetadata/v1")
        answer = _answer(platform, account, path.strip("/")) if account else None
        if answer is None:
            return PlainTextResponse("Not found.\n", 404, FLAVOR)
        if isinstance(answer, str):
            return PlainTextResponse(answer, 200, FLAVOR, media_type="application/text")
        return JSONResponse(answer, 200, FLAVOR)

    return endpoint


def _answer(platform: Platform, account: Account, path: str) -> str | dict[str, object] | None:
    fixed = {
        "": "computeMetadata/\n",
        "project/project-id": account.project,
        "project/numeric-project-id": account.number,
        "universe/universe-domain": "googleapis.com",
        "instance/region": f"projects/{account.number}/regions/{account.region}",
    }
    if path in fixed:
        return fixed[path]
    head, _, tail = path.partition("instance/service-accounts/")
    who, _, what = tail.partition("/")
    if head or who not in ("default", account.email):
        return None
    if what == "token":
        return _token(platform.identity.mint(account.email))
    values: dict[str, str | dict[str, object]] = {
        "": {"aliases": ["default"], "email": account.email, "scopes": SCOPES},
        "email": account.email,
        "scopes": "\n".join(SCOPES),
    }
    return values.get(what)


def _token(token: str) -> dict[str, object]:
    return {"access_token": token, "expires_in": LIFETIME_SECONDS, "token_type": "Bearer"}
