"""How a REST handler is written here: a Call in, a JSON-able dict or a Response out.

A route is `route("POST", "/{version:version}/projects/{project}/secrets", handler)`. A path part
`{x:id}` matches up to the next `/` or `:`, so that custom verbs (`…/versions/1:access`) are told
apart; `{x:rest}` matches to the end, slashes included.
"""

from __future__ import annotations

import json
import sqlite3
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.emulator.errors import ApiError, invalid
from services.emulator.identity import OPERATOR, Identity

Result = dict[str, Any] | Response
Handler = Callable[["Call"], Awaitable[Result]]


class _Text(Convertor[str]):
    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


class _Id(_Text):
    regex = "[^/:]+"


class _Version(_Text):
    regex = "v1beta1|v1"


class _Rest(_Text):
    regex = ".+"


register_url_convertor("id", _Id())
register_url_convertor("version", _Version())
register_url_convertor("rest", _Rest())


@dataclass(frozen=True)
class Call:
    """One request: `path` holds the path's parameters, `principal` the caller."""

    request: Request
    raw: bytes
    principal: str

    @property
    def path(self) -> Mapping[str, str]:
        """The path's parameters."""
        return self.request.path_params

    @property
    def query(self) -> Mapping[str, str]:
        """The query's parameters."""
        return self.request.query_params

    @cached_property
    def json(self) -> dict[str, Any]:
        """The body as sent; {} when there is none.

        Raises:
            ApiError: INVALID_ARGUMENT, when it is no JSON object.
        """
        if not self.raw:
            return {}
        try:
            body = json.loads(self.raw)
        except ValueError as error:
            raise invalid(f"Invalid JSON payload received: {error}") from None
        if not isinstance(body, dict):
            raise invalid("Invalid JSON payload received: an object is expected.")
        _check_kinds(body, "")
        return body

    @cached_property
    def body(self) -> dict[str, Any]:
        """The body with every key in camelCase, maps kept as sent (see `camel`)."""
        result = camel(self.json)
        assert isinstance(result, dict)
        return result


# Google's clients mix camelCase and snake_case; keys inside these are data and stay as they are.
MAPS = frozenset(
    {
        "labels", "classMethods", "sessionState", "stateDelta", "rawEvent", "scope", "metadata",
        "input", "customMetadata", "args", "response", "resourceLimits", "substitutions",
        "annotations", "agentCard", "userLabels", "structuredData", "artifactDelta",
        "requestedAuthConfigs", "buildArgs", "labelExtractors", "headers", "attributes",
    }
)  # fmt: skip


# What a handler may take for granted: under these names lies an object, or a list of objects,
# in every API of the platform.
OBJECTS = frozenset(
    {
        "labels", "userLabels", "annotations", "substitutions", "scope", "sessionState",
        "stateDelta", "customMetadata", "spec", "contextSpec", "memoryBankConfig", "policy",
        "deploymentSpec", "sourceCodeSpec", "encryptionSpec", "replication", "payload", "memory",
        "directContentsSource", "directMemoriesSource", "vertexSessionSource", "eventMetadata",
        "simpleRetrievalParams", "similaritySearchParams", "content", "actions",
    }
)  # fmt: skip
TEXTS = frozenset({"documentation.content"})  # of an alert policy
LISTS = frozenset(
    {"bindings", "events", "parts", "contents", "directMemories", "secretEnv",
     "classMethods", "customizationConfigs", "memoryTopics"}
)  # fmt: skip


def _check_kinds(value: Any, where: str) -> None:
    """Refuses a wrong kind in the words of Google's JSON parser, so that no handler meets it."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            _check_kinds(item, f"{where}[{index}]")
    if not isinstance(value, dict):
        return
    for name, item in value.items():
        key, path = camel_key(name), f"{where}.{name}" if where else name
        if key in OBJECTS and path not in TEXTS and not isinstance(item, dict | None):
            raise invalid(f"Invalid value at '{path}': an object is expected.")
        if key in LISTS:
            if not isinstance(item, list | None):
                raise invalid(f"Invalid value at '{path}': a list is expected.")
            if not all(isinstance(part, dict) for part in item or []):
                raise invalid(f"Invalid value at '{path}': a list of objects is expected.")
        if key not in MAPS:
            _check_kinds(item, path)


def camel_key(key: str) -> str:
    """`source_code_spec` -> `sourceCodeSpec`."""
    head, *tail = key.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


def camel(value: Any) -> Any:
    """Keys in camelCase at every depth, but for what lies in one of MAPS."""
    if isinstance(value, dict):
        pairs = ((camel_key(key), item) for key, item in value.items())
        return {key: item if key in MAPS else camel(item) for key, item in pairs}
    return [camel(item) for item in value] if isinstance(value, list) else value


def route(method: str, path: str, handler: Handler, *, anonymous: bool = False) -> Route:
    """A route whose errors are answered in Google's shape.

    Args:
        anonymous: whether a request without credentials is taken as the operator's. Google's
            Storage and Secret Manager clients reach emulators without credentials; Agent Runtime
            refuses them.
    """

    async def endpoint(request: Request) -> Response:
        identity: Identity = request.app.state.identity
        try:
            principal = identity.principal(request.headers.get("authorization"))
            if principal is None:
                if not anonymous:
                    raise ApiError(
                        "UNAUTHENTICATED", "Request is missing required authentication credential."
                    )
                principal = OPERATOR
            url = request.url
            request.app.state.access.check_call(principal, request.method, url.path, url.query)
            result = await handler(Call(request, await request.body(), principal))
        except ApiError as error:
            return error.response()
        except Exception as error:  # noqa: BLE001 - a fault of ours: the log has it, the client an answer
            with suppress(OSError):  # the log may be what has no room
                traceback.print_exc()
            what = f"The local platform failed at {request.method} {request.url.path}"
            # A full disk is the machine's and worth saying; as a 500 clients would try for minutes.
            if isinstance(error, OSError | sqlite3.OperationalError):
                return ApiError("FAILED_PRECONDITION", f"{what}: {error}").response()
            return ApiError("INTERNAL", f"{what}; see its log.").response()
        return result if isinstance(result, Response) else JSONResponse(result)

    return Route(path, endpoint, methods=[method])


def page(
    items: list[dict[str, Any]], call: Call, key: str, *, default: int = 100
) -> dict[str, Any]:
    """One page of a listing by `pageSize` and `pageToken` (here: the offset)."""
    try:
        size, start = (
            int(call.query.get("pageSize", default)),
            int(call.query.get("pageToken") or 0),
        )
    except ValueError:
        raise invalid("pageSize and pageToken must be those of an earlier answer.") from None
    size = size if size > 0 else default
    answer: dict[str, Any] = {key: items[start : start + size]}
    if start + size < len(items):
        answer["nextPageToken"] = str(start + size)
    return answer
