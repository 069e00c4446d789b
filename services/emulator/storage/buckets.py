"""Buckets: insert, get, list, patch, update, delete, and their IAM policy."""

from __future__ import annotations

import re
import shutil

from starlette.responses import Response
from starlette.routing import BaseRoute

from services.emulator import policies
from services.emulator.access import Access
from services.emulator.errors import ApiError
from services.emulator.platform import Platform
from services.emulator.rest import Call, Handler, Result, route
from services.emulator.state import Body, now
from services.emulator.storage.conditions import NotModified, check, merge, number
from services.emulator.storage.errors import StorageError, bad_request, unmet
from services.emulator.storage.model import BUCKET, Objects, etag

# https://cloud.google.com/storage/docs/buckets#naming, but for names with dots
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
MULTI_REGIONS = frozenset({"US", "EU", "ASIA"})
COMPUTED = frozenset(
    {"kind", "id", "name", "selfLink", "projectNumber", "metageneration", "etag", "timeCreated",
     "updated", "location", "locationType"}
)  # fmt: skip


class Buckets:
    """The bucket methods of the JSON API."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store
        self._objects = Objects(platform)

    def routes(self) -> list[BaseRoute]:
        """The REST routes under /storage/v1/b."""
        one = "/storage/v1/b/{bucket:id}"
        table: list[tuple[str, str, Handler]] = [
            ("POST", "/storage/v1/b", self.insert),
            ("GET", "/storage/v1/b", self.list),
            ("GET", f"{one}/iam", self.get_policy),
            ("PUT", f"{one}/iam", self.set_policy),
            ("GET", f"{one}/iam/testPermissions", self.test_permissions),
            ("GET", one, self.get),
            ("PATCH", one, self.patch),
            ("PUT", one, self.update),
            ("DELETE", one, self.delete),
        ]
        return [route(method, path, handler, anonymous=True) for method, path, handler in table]

    async def insert(self, call: Call) -> Result:
        """`POST /b?project=P`."""
        sent = merge({}, call.json)
        project, name = call.query.get("project", ""), str(sent.get("name", ""))
        if not project:
            raise bad_request("Required parameter: project")
        if not NAME.fullmatch(name):
            raise bad_request(f"Invalid bucket name: '{name}'")
        if self._store.get(BUCKET, name):
            raise StorageError(
                409, "conflict", f"The bucket {name} exists already, and you own it."
            )
        location, time = str(sent.get("location", "US")).upper(), now()
        body: Body = {
            "kind": "storage#bucket",
            "id": name,
            "name": name,
            "selfLink": f"{self._platform.endpoint}/storage/v1/b/{name}",
            "projectNumber": self._platform.project_number(project),
            "metageneration": "1",
            "location": location,
            "locationType": "multi-region" if location in MULTI_REGIONS else "region",
            "timeCreated": time,
            "updated": time,
            "storageClass": "STANDARD",
            **{key: value for key, value in sent.items() if key not in COMPUTED},
        }
        return self._store.put(BUCKET, name, {**body, "etag": etag(body)})

    async def list(self, call: Call) -> Result:
        """`GET /b?project=P`."""
        project = self._platform.project_number(call.query.get("project", ""))
        found = self._store.list(BUCKET, call.query.get("prefix", ""))
        items = sorted((b for b in found if b["projectNumber"] == project), key=_name)
        start, size = call.query.get("pageToken", ""), number(call.query, "maxResults") or 1000
        items = [body for body in items if body["name"] > start]
        answer: Body = {"kind": "storage#buckets", "items": items[:size]}
        if len(items) > size:
            answer["nextPageToken"] = items[size - 1]["name"]
        return answer

    async def get(self, call: Call) -> Result:
        """`GET /b/B`."""
        body = self._objects.bucket(call.path["bucket"])
        try:
            check(call.query, body, read=True)
        except NotModified:
            return Response(status_code=304)
        return body

    async def patch(self, call: Call) -> Result:
        """`PATCH /b/B`: the given fields, null to remove one."""
        body = self._checked(call)
        return self._write(body, merge(body, call.json))

    async def update(self, call: Call) -> Result:
        """`PUT /b/B`: the whole resource."""
        body = self._checked(call)
        return self._write(body, {"storageClass": "STANDARD", **merge({}, call.json)})

    async def delete(self, call: Call) -> Result:
        """`DELETE /b/B`: only an empty one, noncurrent generations included."""
        body = self._checked(call)
        name = str(body["name"])
        if self._objects.all(name, versions=True):
            raise StorageError(409, "conflict", "The bucket you tried to delete is not empty.")
        self._store.delete(BUCKET, name)
        policies.remove(self._store, _resource(name))
        shutil.rmtree(self._store.files / "objects" / name, ignore_errors=True)
        return Response(status_code=204)

    async def get_policy(self, call: Call) -> Result:
        """`GET /b/B/iam`."""
        name = str(self._objects.bucket(call.path["bucket"])["name"])
        return _policy(name, policies.read(self._store, _resource(name)))

    async def set_policy(self, call: Call) -> Result:
        """`PUT /b/B/iam`: the whole policy. Storage answers a stale etag with 412, not 409."""
        name = str(self._objects.bucket(call.path["bucket"])["name"])
        sent = {k: v for k, v in call.json.items() if k not in {"kind", "resourceId"}}
        try:
            return _policy(name, policies.write(self._store, _resource(name), sent))
        except ApiError as error:
            raise unmet() if error.status == "ABORTED" else bad_request(error.message) from None

    async def test_permissions(self, call: Call) -> Result:
        """`GET /b/B/iam/testPermissions`: which of these the caller has."""
        name = str(self._objects.bucket(call.path["bucket"])["name"])
        asked = call.request.query_params.getlist("permissions")
        held = Access(self._platform).held(call.principal, _resource(name), asked)
        return {"kind": "storage#testIamPermissionsResponse", "permissions": held}

    def _checked(self, call: Call) -> Body:
        body = self._objects.bucket(call.path["bucket"])
        check(call.query, body)
        return body

    def _write(self, before: Body, fields: Body) -> Body:
        body = {key: value for key, value in before.items() if key in COMPUTED}
        body |= {key: value for key, value in fields.items() if key not in COMPUTED}
        body["metageneration"] = str(int(before["metageneration"]) + 1)
        body["updated"], body["etag"] = now(), etag(body)
        return self._store.put(BUCKET, str(body["name"]), body)


def _name(body: Body) -> str:
    return str(body["name"])


def _resource(bucket: str) -> str:
    return f"projects/_/buckets/{bucket}"


def _policy(bucket: str, policy: Body) -> Body:
    return {"kind": "storage#policy", "resourceId": _resource(bucket), "bindings": [], **policy}
