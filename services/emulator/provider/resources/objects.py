"""google_storage_bucket_object, with its content given in the configuration."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import quote

from services.emulator.provider.codec import State
from services.emulator.provider.errors import Problem, ProviderError
from services.emulator.provider.mapping import LOCAL, Body, Field, Fields, at
from services.emulator.provider.resources.kind import Kind
from services.emulator.provider.settings import Provider

_UNSUPPORTED = ("source", "source_md5hash", "customer_encryption", "contexts")
_HASHES = ("generation", "md5hash", "md5hexhash", "crc32c", "media_link")


class Object(Kind):
    """Its bytes are not read: that they are others shows by their hash."""

    type = "google_storage_bucket_object"
    force_new = (
        "bucket",
        "name",
        "cache_control",
        "content_disposition",
        "content_encoding",
        "content_language",
        "kms_key_name",
        "storage_class",
    )
    volatile = _HASHES
    fields: ClassVar[Fields] = {
        **dict.fromkeys(_UNSUPPORTED, LOCAL),
        "content": LOCAL,
        "detect_md5hash": LOCAL,
        "force_empty_content_type": LOCAL,
        "md5hexhash": LOCAL,
        "md5hash": at("md5Hash"),
        "output_name": at("name"),
        "storage_class": Field(default="STANDARD"),
    }

    def check(self, config: State) -> Iterator[Problem]:
        """What only a provider in Terraform's own working folder could do, and what is not done."""
        for name in _UNSUPPORTED:
            if config.get(name):
                yield Problem(f"{name} is not supported by the local platform.", (name,))
        if config.get("content") is None and not config.get("source"):
            yield Problem("content must be set.", ("content",))

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """A multipart upload: the metadata and the bytes."""
        del config
        self._upload(provider, planned)
        return {"id": f"{planned['bucket']}-{planned['name']}"}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET of the metadata."""
        return provider.client.find(_path(state))

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """The hash in hex; the content only as long as it is that of the object."""
        del provider
        digest = base64.b64decode(body.get("md5Hash") or "")
        found: State = {"md5hexhash": digest.hex()}
        content = state.get("content")
        if digest and content is not None and hashlib.md5(content.encode()).digest() != digest:
            found["content"] = None
        return found

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """Uploads it again, as a new generation; nothing when only Terraform's own words differ."""
        if self.body(prior) != self.body(planned) or prior["content"] != planned["content"]:
            self._upload(provider, planned)

    def remove(self, provider: Provider, state: State) -> None:
        """DELETE."""
        provider.client.call("DELETE", _path(state))

    def locate(self, provider: Provider, id_: str) -> State:
        """Objects cannot be imported, as their content could not be told."""
        del provider, id_
        raise ProviderError("resource google_storage_bucket_object doesn't support import")

    def _upload(self, provider: Provider, planned: State) -> None:
        content = str(planned["content"]).encode()
        kind = planned.get("content_type")
        media = kind if isinstance(kind, str) else "text/plain; charset=utf-8"
        boundary = uuid.uuid4().hex
        meta = {"contentType": media, **self.body(planned), "bucket": planned["bucket"]}
        parts = (
            f"--{boundary}\r\nContent-Type: application/json\r\n\r\n{json.dumps(meta)}\r\n"
            f"--{boundary}\r\nContent-Type: {media}\r\n\r\n"
        ).encode()
        provider.client.upload(
            f"/upload/storage/v1/b/{planned['bucket']}/o",
            parts + content + f"\r\n--{boundary}--\r\n".encode(),
            f"multipart/related; boundary={boundary}",
            {"uploadType": "multipart", "name": str(planned["name"])},
        )


def _path(state: State) -> str:
    return f"/storage/v1/b/{state['bucket']}/o/{quote(state['name'], safe='')}"
