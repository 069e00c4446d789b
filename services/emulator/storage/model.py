"""Objects and their generations: metadata in the store, bytes in one file per generation.

Nothing here awaits, so that a check of preconditions followed by a write is one atomic step on the
event loop. A file is complete before its generation is recorded; a process that dies in between
leaves a file that nothing refers to.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import google_crc32c

from services.emulator.platform import Platform
from services.emulator.state import Body, now
from services.emulator.storage.errors import bad_request, no_bucket, no_object

BUCKET, LIVE, NONCURRENT = "bucket", "object", "object-noncurrent"
FIRST_GENERATION = 1_700_000_000_000_001
# What the server alone decides; a client's values for these are checks at most.
COMPUTED = frozenset(
    {
        "kind", "id", "name", "bucket", "generation", "metageneration", "size", "md5Hash", "crc32c",
        "etag", "timeCreated", "updated", "timeDeleted", "timeStorageClassUpdated", "selfLink",
        "mediaLink",
    }
)  # fmt: skip


class Objects:
    """Every bucket's objects. Bodies are `storage#object` resources."""

    def __init__(self, platform: Platform) -> None:
        self._store, self._endpoint = platform.store, platform.endpoint
        self._folder = platform.store.files / "objects"

    def bucket(self, name: str) -> Body:
        """The bucket's resource.

        Raises:
            StorageError: 404.
        """
        body = self._store.get(BUCKET, name)
        if body is None:
            raise no_bucket()
        return body

    def live(self, bucket: str, name: str) -> Body | None:
        """The live generation, or None."""
        return self._store.get(LIVE, f"{bucket}/{name}")

    def find(self, bucket: str, name: str, generation: int | None = None) -> Body:
        """One generation, live or noncurrent; without a number the live one.

        Raises:
            StorageError: 404, for the bucket or the object.
        """
        self.bucket(bucket)
        body = self.live(bucket, name)
        if generation is not None and (body is None or int(body["generation"]) != generation):
            body = self._store.get(NONCURRENT, _key(bucket, name, generation))
        if body is None:
            raise no_object(bucket, name)
        return body

    def all(self, bucket: str, prefix: str = "", *, versions: bool = False) -> list[Body]:
        """The objects whose name starts with `prefix`, by name and generation."""
        self.bucket(bucket)
        found = self._store.list(LIVE, f"{bucket}/{prefix}")
        if versions:
            found += self._store.list(NONCURRENT, f"{bucket}/{prefix}")
        return sorted(found, key=lambda body: (body["name"], int(body["generation"])))

    def content(self, body: Body) -> Path:
        """The file that holds a generation's bytes."""
        return self._folder / str(body["bucket"]) / str(body["generation"])

    def write(self, bucket: str, name: str, data: bytes, fields: Body) -> Body:
        """A new live generation; the one before it is kept as noncurrent or removed.

        Args:
            fields: metadata as the client sent it; its `md5Hash` and `crc32c` are held against the
                bytes.

        Raises:
            StorageError: 404 for the bucket; 400 for a bad name or bytes that do not match a hash.
        """
        rules = self.bucket(bucket)
        if not name or len(name.encode()) > 1024 or "\n" in name or "\r" in name:
            raise bad_request("Object names have 1 to 1024 bytes and no line breaks.")
        hashes = digest(data)
        for field, value in hashes.items():
            if fields.get(field) not in (None, value):
                raise bad_request(f"Provided {field} does not match the {field} of the content.")
        body = self._resource(bucket, name, len(data), hashes, fields, rules)
        self._save(self.content(body), data)
        before = self.live(bucket, name)
        with self._store.transaction():
            if before:
                self._retire(before, keep=_versioned(rules))
            self._store.put(LIVE, f"{bucket}/{name}", body)
        if before and not _versioned(rules):
            self.content(before).unlink(missing_ok=True)
        return body

    def update(self, body: Body, fields: Body) -> Body:
        """The same generation with other metadata and the next metageneration."""
        fresh = {key: value for key, value in body.items() if key in COMPUTED}
        fresh |= {key: value for key, value in fields.items() if key not in COMPUTED}
        fresh["metageneration"] = str(int(body["metageneration"]) + 1)
        fresh["updated"], fresh["etag"] = now(), etag(fresh)
        bucket, name = str(body["bucket"]), str(body["name"])
        if "timeDeleted" in body:
            return self._store.put(NONCURRENT, _key(bucket, name, int(body["generation"])), fresh)
        return self._store.put(LIVE, f"{bucket}/{name}", fresh)

    def remove(self, body: Body, *, for_good: bool) -> None:
        """Takes a generation away; a versioned bucket keeps it as noncurrent unless `for_good`."""
        keep = not for_good and _versioned(self.bucket(str(body["bucket"])))
        with self._store.transaction():
            self._retire(body, keep=keep)
        if not keep:
            self.content(body).unlink(missing_ok=True)

    def _retire(self, body: Body, *, keep: bool) -> None:
        bucket, name, generation = str(body["bucket"]), str(body["name"]), int(body["generation"])
        if "timeDeleted" in body:
            self._store.delete(NONCURRENT, _key(bucket, name, generation))
            return
        self._store.delete(LIVE, f"{bucket}/{name}")
        if keep:
            noncurrent = {**body, "timeDeleted": now()}
            self._store.put(NONCURRENT, _key(bucket, name, generation), noncurrent)

    def _resource(
        self, bucket: str, name: str, size: int, hashes: Body, fields: Body, rules: Body
    ) -> Body:
        generation = str(self._store.next_id("generation", FIRST_GENERATION))
        path, time = f"storage/v1/b/{bucket}/o/{quote(name, safe='')}", now()
        media = f"{self._endpoint}/download/{path}?generation={generation}&alt=media"
        body: Body = {
            "kind": "storage#object",
            "id": f"{bucket}/{name}/{generation}",
            "selfLink": f"{self._endpoint}/{path}",
            "mediaLink": media,
            "name": name,
            "bucket": bucket,
            "generation": generation,
            "metageneration": "1",
            "contentType": "application/octet-stream",
            "storageClass": rules["storageClass"],
            "size": str(size),
            **hashes,
            "timeCreated": time,
            "updated": time,
            "timeStorageClassUpdated": time,
            **{k: v for k, v in fields.items() if k not in COMPUTED and v is not None},
        }
        return {**body, "etag": etag(body)}

    def _save(self, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_bytes(data)
        partial.replace(path)


def digest(data: bytes) -> dict[str, str]:
    """`md5Hash` and `crc32c` as Storage writes them: base64 of the big-endian bytes."""
    crc = int(google_crc32c.value(data)).to_bytes(4, "big")
    md5 = hashlib.md5(data, usedforsecurity=False).digest()
    return {"md5Hash": b64encode(md5).decode(), "crc32c": b64encode(crc).decode()}


def etag(body: Body) -> str:
    """Changes with the generation and the metageneration."""
    return b64encode(f"{body.get('generation', '')}/{body['metageneration']}".encode()).decode()


def _versioned(bucket: Body) -> bool:
    return bool((bucket.get("versioning") or {}).get("enabled"))


def _key(bucket: str, name: str, generation: int) -> str:
    return f"{bucket}/{name}#{generation}"
