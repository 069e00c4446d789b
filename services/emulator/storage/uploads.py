"""Uploads: media, multipart, and resumable ones, whose chunks gather in a file."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass
from email.message import Message

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, route
from services.emulator.state import Body
from services.emulator.storage.conditions import check
from services.emulator.storage.errors import StorageError, bad_request
from services.emulator.storage.model import Objects

KIND = "upload"
PATH = "/upload/storage/v1/b/{bucket:id}/o"
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)")


@dataclass(frozen=True)
class Part:
    """One part of a multipart/related body."""

    content_type: str
    data: bytes


class Uploads:
    """The upload methods of the JSON API."""

    def __init__(self, platform: Platform) -> None:
        self._store, self._endpoint = platform.store, platform.endpoint
        self._objects = Objects(platform)
        self._folder = platform.store.files / "uploads"

    def routes(self) -> list[BaseRoute]:
        """The REST routes under /upload/storage/v1."""
        return [
            route("POST", PATH, self.start, anonymous=True),
            route("PUT", PATH, self.resume, anonymous=True),
            route("DELETE", PATH, self.cancel, anonymous=True),
        ]

    async def start(self, call: Call) -> Result:
        """`POST …/o?uploadType=media|multipart|resumable`."""
        kind = call.query.get("uploadType")
        if kind == "media":
            return self._finish(call.path["bucket"], dict(call.query), _typed(call), call.raw)
        if kind == "multipart":
            meta, media = parts(call.request.headers.get("content-type", ""), call.raw)
            fields = {"contentType": media.content_type, **_metadata(meta.data)}
            return self._finish(call.path["bucket"], dict(call.query), fields, media.data)
        if kind == "resumable":
            return self._open(call)
        raise bad_request(f"Invalid uploadType: {kind}")

    async def resume(self, call: Call) -> Result:
        """`PUT …/o?uploadType=resumable&upload_id=ID`: a chunk, or `bytes */N` to ask."""
        upload, session = self._session(call)
        path = self._folder / upload
        header = call.request.headers.get("content-range")
        received = path.stat().st_size
        match = _CONTENT_RANGE.fullmatch(header or f"bytes 0-{len(call.raw) - 1}/{len(call.raw)}")
        if header is None and not call.raw:
            match = _CONTENT_RANGE.fullmatch("bytes */0")
        if match is None:
            raise bad_request(f"Invalid Content-Range: {header}")
        first, last, total = match.groups()
        if first is not None:
            if int(first) > received or int(last) - int(first) + 1 != len(call.raw):
                raise bad_request(f"Content-Range {header} does not follow byte {received}.")
            with path.open("r+b") as file:
                file.seek(int(first))
                file.write(call.raw)
            received = path.stat().st_size
        if total == "*" or received < int(total):
            return _incomplete(received)
        fields = dict(session["fields"])
        fields |= _hashes(call.request.headers.get("x-goog-hash", ""))
        try:
            return self._finish(session["bucket"], session["query"], fields, path.read_bytes())
        finally:
            self._close(upload)

    async def cancel(self, call: Call) -> Result:
        """`DELETE …/o?upload_id=ID`; Storage answers 499."""
        upload, _ = self._session(call)
        self._close(upload)
        return Response(status_code=499)

    def _open(self, call: Call) -> Response:
        bucket, query = call.path["bucket"], dict(call.query)
        fields = _metadata(call.raw)
        if kind := call.request.headers.get("x-upload-content-type"):
            fields.setdefault("contentType", kind)
        self._objects.bucket(bucket)
        check(query, self._objects.live(bucket, _name(query, fields)))
        upload = secrets.token_urlsafe(24)
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / upload).write_bytes(b"")
        self._store.put(KIND, upload, {"bucket": bucket, "query": query, "fields": fields})
        path = f"upload/storage/v1/b/{bucket}/o?uploadType=resumable&upload_id={upload}"
        return Response(
            headers={"Location": f"{self._endpoint}/{path}", "X-GUploader-UploadID": upload}
        )

    def _session(self, call: Call) -> tuple[str, Body]:
        upload = call.query.get("upload_id", "")
        session = self._store.get(KIND, upload)
        if session is None or session["bucket"] != call.path["bucket"]:
            raise StorageError(404, "notFound", "No such resumable upload.")
        return upload, session

    def _close(self, upload: str) -> None:
        self._store.delete(KIND, upload)
        (self._folder / upload).unlink(missing_ok=True)

    def _finish(self, bucket: str, query: dict[str, str], fields: Body, data: bytes) -> Response:
        name = _name(query, fields)
        self._objects.bucket(bucket)
        check(query, self._objects.live(bucket, name))
        return JSONResponse(self._objects.write(bucket, name, data, fields))


def parts(content_type: str, raw: bytes) -> tuple[Part, Part]:
    """The metadata and the media of a multipart/related body.

    Raises:
        StorageError: 400, when it does not have exactly that shape.
    """
    header = Message()
    header["content-type"] = content_type
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        raise bad_request("Missing multipart boundary in the Content-Type.")
    line = b"--" + boundary.encode("latin-1")
    pieces = (b"\r\n" + raw).split(b"\r\n" + line)
    if len(pieces) != 4 or not pieces[3].startswith(b"--"):
        raise bad_request("A multipart upload has two parts: the metadata and the media.")
    return _part(pieces[1]), _part(pieces[2])


def _part(piece: bytes) -> Part:
    head, _, data = piece.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        key, _, value = line.partition(b":")
        if key.strip().lower() == b"content-type":
            return Part(value.strip().decode("latin-1"), data)
    return Part("application/octet-stream", data)


def _metadata(raw: bytes) -> Body:
    try:
        fields = json.loads(raw or b"{}")
    except ValueError as error:
        raise bad_request(f"Parse Error: {error}") from None
    if not isinstance(fields, dict):
        raise bad_request("Parse Error: the metadata is an object.")
    return fields


def _typed(call: Call) -> Body:
    headers = call.request.headers
    fields = {"contentType": headers.get("content-type", "application/octet-stream")}
    return fields | _hashes(headers.get("x-goog-hash", ""))


def _hashes(header: str) -> dict[str, str]:
    """`crc32c=…,md5=…` as the fields of an object."""
    pairs = (item.strip().partition("=") for item in header.split(",") if item)
    fields = {"crc32c": "crc32c", "md5": "md5Hash"}
    return {fields[key]: value for key, _, value in pairs if key in fields}


def _name(query: dict[str, str], fields: Body) -> str:
    name = str(query.get("name") or fields.get("name") or "")
    if not name:
        raise bad_request("Required parameter: name")
    return name


def _incomplete(received: int) -> Response:
    headers = {"Range": f"bytes=0-{received - 1}"} if received else {}
    return Response(status_code=308, headers=headers)
