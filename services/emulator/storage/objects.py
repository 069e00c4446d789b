"""Objects: get, download, list, patch, update, copy, rewrite, delete.

Names hold slashes, which a client writes as %2F. Starlette routes on the decoded path, so names are
cut from the raw one.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from starlette.responses import Response
from starlette.routing import BaseRoute

from services.emulator.platform import Platform
from services.emulator.rest import Call, Handler, Result, route
from services.emulator.state import Body
from services.emulator.storage.conditions import NotModified, check, merge, number
from services.emulator.storage.errors import StorageError, bad_request
from services.emulator.storage.model import Objects

Position = tuple[str, int]  # name and generation, which order a listing
_COPY = re.compile(r"(.+)/(copyTo|rewriteTo)/b/([^/]+)/o/([^/]+)")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class ObjectMethods:
    """The object methods of the JSON API, but for uploads."""

    def __init__(self, platform: Platform) -> None:
        self._objects = Objects(platform)

    def routes(self) -> list[BaseRoute]:
        """The REST routes under …/b/B/o."""
        many = "/storage/v1/b/{bucket:id}/o"
        one = many + "/{object:rest}"
        table: list[tuple[str, str, Handler]] = [
            ("GET", many, self.list),
            ("GET", one, self.get),
            ("GET", "/download" + one, self.download),
            ("PATCH", one, self.patch),
            ("PUT", one, self.update),
            ("DELETE", one, self.delete),
            ("POST", one, self.copy),
        ]
        return [route(method, path, handler, anonymous=True) for method, path, handler in table]

    async def get(self, call: Call) -> Result:
        """`GET /b/B/o/O`: the metadata, or the bytes with `alt=media`."""
        if call.query.get("alt") == "media":
            return await self.download(call)
        body = self._find(call)
        try:
            check(call.query, body, read=True)
        except NotModified:
            return Response(status_code=304)
        return body

    async def download(self, call: Call) -> Result:
        """`GET /download/…/o/O?alt=media`: the bytes, or a range of them."""
        body = self._find(call)
        return media(call, body, self._objects.content(body))

    async def list(self, call: Call) -> Result:
        """`GET /b/B/o`: by prefix, delimiter, offsets and versions, in pages."""
        query = call.query
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        found = self._objects.all(
            call.path["bucket"], prefix, versions=query.get("versions", "").lower() == "true"
        )
        rows = dict(_row(body, prefix, delimiter) for body in found if _within(body, query))
        after, size = _position(query.get("pageToken")), number(query, "maxResults") or 1000
        rest = [position for position in rows if position > after]
        chosen = {position: rows[position] for position in rest[:size]}
        answer: Body = {"kind": "storage#objects"}
        if items := [body for body in chosen.values() if body]:
            answer["items"] = items
        if prefixes := [name for (name, _), body in chosen.items() if not body]:
            answer["prefixes"] = prefixes
        if len(rest) > size:
            answer["nextPageToken"] = b64encode(json.dumps(rest[size - 1]).encode()).decode()
        return answer

    async def patch(self, call: Call) -> Result:
        """`PATCH /b/B/o/O`: the given metadata, null to remove a field."""
        body = self._find(call)
        check(call.query, body)
        return self._objects.update(body, merge(body, call.json))

    async def update(self, call: Call) -> Result:
        """`PUT /b/B/o/O`: all of the metadata."""
        body = self._find(call)
        check(call.query, body)
        kept = {"storageClass": body["storageClass"]}
        return self._objects.update(body, {**kept, **merge({}, call.json)})

    async def delete(self, call: Call) -> Result:
        """`DELETE /b/B/o/O`: with `generation`, that one for good."""
        body = self._find(call)
        check(call.query, body)
        self._objects.remove(body, for_good="generation" in call.query)
        return Response(status_code=204)

    async def copy(self, call: Call) -> Result:
        """`POST /b/B/o/O/copyTo/b/B2/o/O2`, and `rewriteTo`, which is done in its first answer."""
        match = _COPY.fullmatch(_raw_object(call))
        if match is None:
            raise StorageError(404, "notFound", "Not Found")
        name, verb, bucket, target = (unquote(part) for part in match.groups())
        source = self._objects.find(
            call.path["bucket"], name, number(call.query, "sourceGeneration")
        )
        check(call.query, source, source=True)
        self._objects.bucket(bucket)
        check(call.query, self._objects.live(bucket, target))
        data = self._objects.content(source).read_bytes()
        fields = merge({}, call.json) or {**source, "md5Hash": None, "crc32c": None}
        fields = {"contentType": source["contentType"], **fields}
        copy = self._objects.write(bucket, target, data, fields)
        if verb == "copyTo":
            return copy
        return {
            "kind": "storage#rewriteResponse",
            "totalBytesRewritten": copy["size"],
            "objectSize": copy["size"],
            "done": True,
            "resource": copy,
        }

    def _find(self, call: Call) -> Body:
        name = unquote(_raw_object(call))
        return self._objects.find(call.path["bucket"], name, number(call.query, "generation"))


def media(call: Call, body: Body, path: Path) -> Response:
    """A generation's bytes, or the range that the request asks for.

    Raises:
        StorageError: 412, 416.
    """
    try:
        check(call.query, body, read=True)
    except NotModified:
        return Response(status_code=304)
    data, headers = path.read_bytes(), _headers(body)
    window = _window(call.request.headers.get("range"), len(data))
    if window is None:
        return Response(data, headers=headers)
    start, end = window
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
    return Response(data[start:end], status_code=206, headers=headers)


def _raw_object(call: Call) -> str:
    raw: bytes = call.request.scope["raw_path"]
    return raw.decode("ascii").split("/o/", 1)[1]


def _headers(body: Body) -> dict[str, str]:
    headers = {
        "Content-Type": str(body["contentType"]),
        "ETag": str(body["etag"]),
        "X-Goog-Generation": str(body["generation"]),
        "X-Goog-Metageneration": str(body["metageneration"]),
        "X-Goog-Hash": f"crc32c={body['crc32c']},md5={body['md5Hash']}",
        "X-Goog-Stored-Content-Length": str(body["size"]),
        "X-Goog-Stored-Content-Encoding": str(body.get("contentEncoding", "identity")),
        "X-Goog-Storage-Class": str(body["storageClass"]),
        "Accept-Ranges": "bytes",
    }
    given = {
        "Cache-Control": "cacheControl",
        "Content-Disposition": "contentDisposition",
        "Content-Encoding": "contentEncoding",
        "Content-Language": "contentLanguage",
    }
    return headers | {key: str(body[field]) for key, field in given.items() if body.get(field)}


def _window(header: str | None, size: int) -> tuple[int, int] | None:
    """[start, end) of a Range header; None for the whole.

    Raises:
        StorageError: 416.
    """
    match = _RANGE.fullmatch(header or "")
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last) + 1, size) if first and last else size
    if start >= end:
        raise StorageError(416, "requestedRangeNotSatisfiable", "Request range not satisfiable")
    return start, end


def _row(body: Body, prefix: str, delimiter: str) -> tuple[Position, Body | None]:
    """The object and its place in the listing, or that of the "folder" it lies in and None."""
    name = str(body["name"])
    at = name.find(delimiter, len(prefix)) if delimiter else -1
    if at < 0:
        return (name, int(body["generation"])), body
    return (name[: at + len(delimiter)], 0), None


def _position(token: str | None) -> Position:
    """Where the page before ended."""
    if not token:
        return "", 0
    try:
        name, generation = json.loads(b64decode(token))
    except ValueError:
        raise bad_request("Invalid pageToken") from None
    return str(name), int(generation)


def _within(body: Body, query: Mapping[str, str]) -> bool:
    name, end = str(body["name"]), query.get("endOffset")
    return name >= query.get("startOffset", "") and (not end or name < end)
