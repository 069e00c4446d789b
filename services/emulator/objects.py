"""Cloud Storage's objects as they are kept: generations, preconditions, bytes.

An object's bytes lie in a file of their own, named by the generation and written before the object
is. What is current and what is noncurrent are two kinds of one store, so that a listing is ordered.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import google_crc32c
from starlette.responses import JSONResponse, Response

from services.emulator.errors import ApiError
from services.emulator.state import Body, Store, now

LIVE = "object"
NONCURRENT = "object_noncurrent"
# What a client may set; everything else is the server's.
SETTABLE = (
    "contentType", "contentEncoding", "contentDisposition", "contentLanguage", "cacheControl",
    "metadata", "customTime", "storageClass", "eventBasedHold", "temporaryHold", "retention",
)  # fmt: skip


class StorageError(ApiError):
    """An error in the shape of Cloud Storage's JSON API, which names a reason."""

    def __init__(self, http: int, reason: str, message: str) -> None:
        super().__init__("INTERNAL", message)
        self.http, self.reason = http, reason

    def response(self) -> Response:
        if self.http == 304:
            return Response(status_code=304)
        one = {"message": self.message, "domain": "global", "reason": self.reason}
        body = {"error": {"code": self.http, "message": self.message, "errors": [one]}}
        return JSONResponse(body, status_code=self.http)


def missing(what: str) -> StorageError:
    """404 for a bucket or an object."""
    return StorageError(404, "notFound", f"{what} was not found.")


def bad(message: str) -> StorageError:
    """400."""
    return StorageError(400, "invalid", message)


_CONDITIONS = (
    "GenerationMatch",
    "GenerationNotMatch",
    "MetagenerationMatch",
    "MetagenerationNotMatch",
)


def check(
    query: Mapping[str, str], body: Body | None, *, prefix: str = "if", reading: bool = False
) -> None:
    """Checks the preconditions of a request against an object or a bucket.

    A generation of 0 stands for "there is none".

    Args:
        prefix: `if`, or `ifSource` for the source of a copy.
        reading: whether a NotMatch that fails is answered with 304, as for GET.

    Raises:
        StorageError: 412 conditionNotMet, 304, or 400 for what is no number.
    """
    for condition in _CONDITIONS:
        text = query.get(prefix + condition)
        if text is None:
            continue
        try:
            wanted = int(text)
        except ValueError:
            raise bad(f"Invalid value for {prefix}{condition}: {text!r}") from None
        field = "generation" if condition.startswith("Generation") else "metageneration"
        found = int(body[field]) if body else 0
        if condition.endswith("NotMatch"):
            if found == wanted:
                raise StorageError(304 if reading else 412, "conditionNotMet", UNMET)
        elif found != wanted:
            raise StorageError(412, "conditionNotMet", UNMET)


UNMET = "At least one of the pre-conditions you specified did not hold."


class Objects:
    """The objects of every bucket."""

    def __init__(self, store: Store, endpoint: str) -> None:
        self._store, self._endpoint = store, endpoint
        self._folder = store.files / "objects"
        self._folder.mkdir(parents=True, exist_ok=True)

    def find(self, bucket: str, name: str, generation: str | None = None) -> Body | None:
        """The live object, or one generation of it, or None."""
        live = self._store.get(LIVE, f"{bucket}/{name}")
        if generation is None or (live is not None and live["generation"] == generation):
            return live
        return self._store.get(NONCURRENT, _version(bucket, name, generation))

    def list(self, bucket: str, prefix: str, *, versions: bool) -> list[Body]:
        """Objects whose name starts with `prefix`, by name and generation."""
        found = self._store.list(LIVE, f"{bucket}/{prefix}")
        if versions:
            found += self._store.list(NONCURRENT, f"{bucket}/{prefix}")
        return sorted(found, key=lambda body: (body["name"], int(body["generation"])))

    def data(self, body: Body) -> Path:
        """The file that holds the bytes of a generation."""
        return self._folder / str(body["generation"])

    def write(self, bucket: Body, name: str, given: Body, data: bytes) -> Body:
        """Writes a new generation.

        Args:
            bucket: the bucket's body, which says whether what was there stays as noncurrent.
            given: what the client says of the object; digests in it are checked.

        Raises:
            StorageError: 400, the bytes are not those that the client meant.
        """
        md5 = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        crc = base64.b64encode(google_crc32c.Checksum(data).digest()).decode()
        for field, found in (("md5Hash", md5), ("crc32c", crc)):
            if given.get(field) not in (None, found):
                raise bad(
                    f"Provided {field} {given[field]!r} doesn't match the calculated {found!r}."
                )
        generation = str(self._store.next_id("generation", time.time_ns() // 1000))
        body = self._new(bucket, name, given, generation)
        body |= {"size": str(len(data)), "md5Hash": md5, "crc32c": crc}
        partial = self._folder / f"{generation}.partial"
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.data(body))
        before = self.find(bucket["name"], name)
        with self._store.transaction():
            if before is not None:
                self._retire(bucket, before)
            self._store.put(LIVE, f"{bucket['name']}/{name}", body)
        if before is not None and not _versioned(bucket):
            self.data(before).unlink(missing_ok=True)
        return body

    def patch(self, body: Body, change: Body) -> Body:
        """Changes an object's metadata; null removes a field."""
        changed = dict(body)
        for field in SETTABLE:
            if field not in change:
                continue
            value = change[field]
            if field == "metadata" and isinstance(value, dict):
                merged = {**changed.get("metadata", {}), **value}
                value = {key: item for key, item in merged.items() if item is not None}
            if value is None:
                changed.pop(field, None)
            else:
                changed[field] = value
        changed |= {"metageneration": str(int(body["metageneration"]) + 1), "updated": now()}
        kind, key = self._place(body)
        return self._store.put(kind, key, changed)

    def delete(self, bucket: Body, body: Body, *, forever: bool) -> None:
        """Deletes a live object (it becomes noncurrent where the bucket keeps versions).

        Args:
            forever: one generation was named, so that nothing of it stays.
        """
        kind, key = self._place(body)
        with self._store.transaction():
            if kind == LIVE and not forever:
                self._retire(bucket, body)
            self._store.delete(kind, key)
        if forever or not _versioned(bucket):
            self.data(body).unlink(missing_ok=True)

    def remove_all(self, bucket: str) -> None:
        """Removes the noncurrent generations that a deleted bucket leaves."""
        for body in self._store.list(NONCURRENT, f"{bucket}/"):
            self._store.delete(NONCURRENT, _version(bucket, body["name"], body["generation"]))
            self.data(body).unlink(missing_ok=True)

    def _place(self, body: Body) -> tuple[str, str]:
        key = f"{body['bucket']}/{body['name']}"
        live = self._store.get(LIVE, key)
        if live is not None and live["generation"] == body["generation"]:
            return LIVE, key
        return NONCURRENT, _version(body["bucket"], body["name"], body["generation"])

    def _retire(self, bucket: Body, body: Body) -> None:
        if _versioned(bucket):
            key = _version(bucket["name"], body["name"], body["generation"])
            self._store.put(NONCURRENT, key, {**body, "timeDeleted": now()})

    def _new(self, bucket: Body, name: str, given: Body, generation: str) -> Body:
        time_, path = now(), f"{bucket['name']}/o/{_quoted(name)}"
        body: dict[str, Any] = {
            "kind": "storage#object",
            "id": f"{bucket['name']}/{name}/{generation}",
            "selfLink": f"{self._endpoint}/storage/v1/b/{path}",
            "mediaLink": f"{self._endpoint}/download/storage/v1/b/{path}"
            f"?generation={generation}&alt=media",
            "name": name,
            "bucket": bucket["name"],
            "generation": generation,
            "metageneration": "1",
            "storageClass": bucket.get("storageClass", "STANDARD"),
            "contentType": "application/octet-stream",
            "timeCreated": time_,
            "updated": time_,
            "timeStorageClassUpdated": time_,
            "etag": base64.b64encode(json.dumps([generation, 1]).encode()).decode(),
        }
        return body | {field: given[field] for field in SETTABLE if given.get(field) is not None}


def _versioned(bucket: Body) -> bool:
    return bool(bucket.get("versioning", {}).get("enabled"))


def _version(bucket: str, name: str, generation: str) -> str:
    return (
        f"{bucket}/{name}\0{int(generation):020d}" if generation.isdigit() else f"{bucket}/{name}\0"
    )


def _quoted(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")
