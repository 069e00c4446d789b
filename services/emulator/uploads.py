"""How bytes come into Cloud Storage and leave it: simple, multipart and resumable uploads, ranges.

An upload that is not finished is in memory alone: after a restart the client begins again, which
Google's clients do by themselves.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path

from starlette.responses import Response

from services.emulator.objects import Objects, StorageError, bad, check, missing
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result
from services.emulator.state import Body

_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


@dataclass
class _Resumable:
    """A resumable upload: what was said at its start, and the bytes so far."""

    name: str
    given: Body
    query: dict[str, str]
    data: bytearray = field(default_factory=bytearray)
    result: Body | None = None


class Uploads:
    """The handlers of `/upload/storage/v1/…`."""

    def __init__(
        self, platform: Platform, bucket: Callable[[Call], Body], objects: Objects
    ) -> None:
        self._platform, self._bucket, self._objects = platform, bucket, objects
        self._running: dict[str, _Resumable] = {}

    async def begin(self, call: Call) -> Result:
        """POST: a whole upload, or the start of a resumable one."""
        bucket, kind = self._bucket(call), call.query.get("uploadType")
        if kind == "multipart":
            given, data = multipart(call.request.headers.get("content-type", ""), call.raw)
            return self._write(bucket, _name(call, given), given, data, call.query)
        if kind == "resumable":
            return self._start(bucket, call)
        if kind == "media":
            content_type = call.request.headers.get("content-type")
            given = {"contentType": content_type} if content_type else {}
            return self._write(bucket, _name(call, given), given, call.raw, call.query)
        raise bad(f"Unknown uploadType: {kind!r}")

    async def go_on(self, call: Call) -> Result:
        """PUT: the next bytes of a resumable upload, or the question how many there are."""
        upload = self._running.get(call.query.get("upload_id", ""))
        if upload is None:
            raise missing("The upload")
        if upload.result is not None:
            return upload.result
        total = _take(upload, call)
        if total is None or len(upload.data) < total:
            seen = {"Range": f"bytes=0-{len(upload.data) - 1}"} if upload.data else {}
            return Response(status_code=308, headers=seen)
        upload.result = self._write(
            self._bucket(call), upload.name, upload.given, bytes(upload.data), upload.query
        )
        upload.data.clear()
        return upload.result

    async def cancel(self, call: Call) -> Result:
        """DELETE of a resumable upload."""
        self._running.pop(call.query.get("upload_id", ""), None)
        return Response(status_code=499)

    def _start(self, bucket: Body, call: Call) -> Response:
        given = call.json
        content_type = call.request.headers.get("x-upload-content-type")
        if content_type:
            given = {"contentType": content_type, **given}
        name = _name(call, given)
        check(call.query, self._objects.find(bucket["name"], name))
        key = secrets.token_urlsafe(24)
        self._running[key] = _Resumable(name, given, dict(call.query))
        path = f"/upload/storage/v1/b/{bucket['name']}/o?uploadType=resumable&upload_id={key}"
        return Response(headers={"Location": self._platform.endpoint + path})

    def _write(
        self, bucket: Body, name: str, given: Body, data: bytes, query: Mapping[str, str]
    ) -> Body:
        check(query, self._objects.find(bucket["name"], name))
        return self._objects.write(bucket, name, given, data)


def _name(call: Call, given: Body) -> str:
    name = call.query.get("name") or given.get("name")
    if not isinstance(name, str) or not name or len(name.encode()) > 1024:
        raise bad(f"Invalid object name: {name!r}")
    return name


def _take(upload: _Resumable, call: Call) -> int | None:
    """Adds the request's bytes to the upload; returns the total size once it is known.

    Raises:
        StorageError: 400, the range is malformed or leaves a gap.
    """
    header = call.request.headers.get("content-range")
    if header is None:
        upload.data[:] = call.raw
        return len(call.raw)
    match = _RANGE.fullmatch(header)
    if match is None:
        raise bad(f"Invalid Content-Range: {header!r}")
    if match[1] is not None:
        start = int(match[1])
        if start > len(upload.data):
            raise StorageError(503, "backendError", "Bytes are missing before this range.")
        upload.data[start:] = call.raw
    return None if match[3] == "*" else int(match[3])


def multipart(content_type: str, raw: bytes) -> tuple[Body, bytes]:
    """The JSON part and the bytes of a `multipart/related` body.

    Raises:
        StorageError: 400.
    """
    import json

    header = Message()
    header["content-type"] = content_type
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str):
        raise bad("The multipart body has no boundary.")
    mark = b"--" + boundary.encode()
    pieces = raw.split(b"\r\n" + mark)
    first = pieces[0].removeprefix(b"\r\n").removeprefix(mark)
    if len(pieces) < 3 or not pieces[-1].startswith(b"--"):
        raise bad("The multipart body needs a JSON part and a media part.")
    # The media may hold the mark itself: everything up to the last one is media.
    media = (b"\r\n" + mark).join(pieces[1:-1])
    try:
        given = json.loads(first.split(b"\r\n\r\n", 1)[1])
        headers, data = media.split(b"\r\n\r\n", 1)
    except (IndexError, ValueError):
        raise bad("The multipart body cannot be read.") from None
    if not isinstance(given, dict):
        raise bad("The first part must be a JSON object.")
    found = re.search(rb"content-type:\s*([^\r\n]+)", headers, re.I)
    content_type = found[1].decode(errors="replace") if found else ""
    return ({"contentType": content_type} if content_type else {}) | given, data


def media(path: Path, body: Body, wanted: str | None) -> Response:
    """The bytes of a generation, whole or the wanted range."""
    headers = {
        "X-Goog-Generation": body["generation"],
        "X-Goog-Metageneration": body["metageneration"],
        "X-Goog-Hash": f"crc32c={body['crc32c']},md5={body['md5Hash']}",
        "X-Goog-Stored-Content-Length": body["size"],
        "X-Goog-Storage-Class": body["storageClass"],
        "ETag": f'"{body["etag"]}"',
    }
    content_type, size = body.get("contentType", "application/octet-stream"), int(body["size"])
    if wanted is None or not (match := re.fullmatch(r"bytes=(\d*)-(\d*)", wanted)):
        # Read now: an overwrite removes the file, maybe before the answer is under way.
        return Response(path.read_bytes(), headers=headers, media_type=content_type)
    if match[1]:
        start, end = int(match[1]), min(int(match[2] or size - 1), size - 1)
    else:
        start, end = max(size - int(match[2] or 0), 0), size - 1
    if start >= size or start > end:
        headers["Content-Range"] = f"bytes */{size}"
        return Response(status_code=416, headers=headers)
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(end - start + 1)
    headers["Content-Range"] = f"bytes {start}-{end}/{size}"
    return Response(data, 206, headers, content_type)
