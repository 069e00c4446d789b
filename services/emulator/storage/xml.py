"""The one method of the XML API that a client here uses: `GET /BUCKET/OBJECT`.

Google's Go client reads by it, and so Terraform's `gcs` backend. Its path lies at the host's root,
so the first path segments of the other APIs are no buckets here.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response
from starlette.routing import BaseRoute

from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, route
from services.emulator.storage.conditions import number
from services.emulator.storage.errors import StorageError
from services.emulator.storage.model import Objects
from services.emulator.storage.objects import media


class _BucketName(Convertor[str]):
    regex = "(?!(?:v1beta1|storage|upload|download|compute)/)[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("bucket", _BucketName())


class XmlReads:
    """Reads of an object by the XML API."""

    def __init__(self, platform: Platform) -> None:
        self._objects = Objects(platform)

    def routes(self) -> list[BaseRoute]:
        """`GET /BUCKET/OBJECT` (and HEAD, which Starlette adds)."""
        return [route("GET", "/{bucket:bucket}/{object:rest}", self.read, anonymous=True)]

    async def read(self, call: Call) -> Result:
        """The bytes; errors are XML with the code that the Go client maps by status."""
        raw: bytes = call.request.scope["raw_path"]
        name = unquote(raw.decode("ascii").split("/", 2)[2])
        try:
            body = self._objects.find(call.path["bucket"], name, number(call.query, "generation"))
            return media(call, body, self._objects.content(body))
        except StorageError as error:
            code = "NoSuchKey" if error.http == 404 else "PreconditionFailed"
            text = f"<?xml version='1.0' encoding='UTF-8'?><Error><Code>{code}</Code></Error>"
            return Response(text, status_code=error.http, media_type="application/xml")
