"""Engines as they are kept: their names, how a request's engine is found, what is shown of one.

A name has the project's number, as Agent Platform answers; requests may use its ID or its number.
A source archive is input only: the kept spec holds its digest, and no answer does.
"""

from __future__ import annotations

from services.emulator.errors import not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call
from services.emulator.state import Body

KIND = "engine"
LOCATION_PATH = "/{version:version}/projects/{project}/locations/{location}"
COLLECTION_PATH = f"{LOCATION_PATH}/reasoningEngines"
PATH = COLLECTION_PATH + "/{engine:id}"


def location(platform: Platform, call: Call) -> str:
    """`projects/NUMBER/locations/LOCATION` of the request."""
    number = platform.project_number(call.path["project"])
    return f"projects/{number}/locations/{call.path['location']}"


def name(platform: Platform, call: Call) -> str:
    """The full name of the request's engine, whether or not it exists."""
    return f"{location(platform, call)}/reasoningEngines/{call.path['engine']}"


def find(platform: Platform, call: Call) -> Body:
    """The request's engine as it is kept.

    Raises:
        ApiError: NOT_FOUND.
    """
    wanted = name(platform, call)
    body = platform.store.get(KIND, wanted)
    if body is None:
        raise not_found(wanted)
    return body


def typed(call: Call, message: str, body: Body) -> Body:
    """A response of an operation: the body with the `@type` of the request's API version."""
    prefix = f"type.googleapis.com/google.cloud.aiplatform.{call.path['version']}"
    return {"@type": f"{prefix}.{message}", **body}


def digest(body: Body) -> str | None:
    """The digest of the archive that an engine's spec holds; None when it has no source."""
    inline = body.get("spec", {}).get("sourceCodeSpec", {}).get("inlineSource", {})
    found = inline.get("sourceArchive")
    return str(found) if found else None


def shown(body: Body) -> Body:
    """The engine as an answer shows it."""
    if digest(body) is None:
        return body
    spec = body["spec"]
    source = {**spec["sourceCodeSpec"], "inlineSource": {}}
    return {**body, "spec": {**spec, "sourceCodeSpec": source}}
