"""Cloud Storage's JSON API: buckets, objects, bucket policies; and the XML API's GET of an object.

Google's Go client, which Terraform's `gcs` backend is written with, reads objects by the XML API.
"""

from __future__ import annotations

from urllib.parse import unquote

from starlette.responses import Response
from starlette.routing import BaseRoute

from services.emulator import objects, uploads
from services.emulator.objects import Objects, StorageError, bad, check, missing
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, route
from services.emulator.state import Body, now

BUCKET = "bucket"
POLICY = "bucket_policy"
NO_POLICY = {"kind": "storage#policy", "version": 1, "bindings": []}
# Set by the server; a client's value is ignored.
OUTPUT = frozenset(
    {"kind", "id", "selfLink", "projectNumber", "metageneration", "timeCreated", "updated", "etag"}
)


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    api = Storage(platform)
    up = uploads.Uploads(platform, api.bucket, api.objects)
    bucket = "/storage/v1/b/{bucket}"
    table = [
        ("GET", "/storage/v1/b", api.list_buckets),
        ("POST", "/storage/v1/b", api.create_bucket),
        ("GET", bucket, api.get_bucket),
        ("PATCH", bucket, api.patch_bucket),
        ("PUT", bucket, api.replace_bucket),
        ("DELETE", bucket, api.delete_bucket),
        ("GET", f"{bucket}/iam", api.get_policy),
        ("PUT", f"{bucket}/iam", api.set_policy),
        ("GET", f"{bucket}/iam/testPermissions", api.test_permissions),
        ("GET", f"{bucket}/o", api.list_objects),
        ("GET", f"{bucket}/o/{{object:rest}}", api.get_object),
        ("PATCH", f"{bucket}/o/{{object:rest}}", api.patch_object),
        ("PUT", f"{bucket}/o/{{object:rest}}", api.patch_object),
        ("POST", f"{bucket}/o/{{object:rest}}", api.copy_object),
        ("DELETE", f"{bucket}/o/{{object:rest}}", api.delete_object),
        ("GET", "/download/storage/v1/b/{bucket}/o/{object:rest}", api.download),
        ("POST", "/upload/storage/v1/b/{bucket}/o", up.begin),
        ("PUT", "/upload/storage/v1/b/{bucket}/o", up.go_on),
        ("DELETE", "/upload/storage/v1/b/{bucket}/o", up.cancel),
    ]
    return [route(method, path, handler, anonymous=True) for method, path, handler in table]


def xml_routes(platform: Platform) -> list[BaseRoute]:
    """The XML API's GET; its path could be anything, so it comes after every other route."""
    api = Storage(platform)
    return [route("GET", "/{bucket}/{object:rest}", api.read_xml, anonymous=True)]


class Storage:
    """The handlers of buckets and objects."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store
        self.objects = Objects(platform.store, platform.endpoint)

    def bucket(self, call: Call) -> Body:
        """The request's bucket.

        Raises:
            StorageError: 404.
        """
        return self._named_bucket(call.path["bucket"])

    def _named_bucket(self, name: str) -> Body:
        body = self._store.get(BUCKET, name)
        if body is None:
            raise missing(f"The bucket {name}")
        return body

    async def list_buckets(self, call: Call) -> Result:
        """GET of a project's buckets."""
        number = self._platform.project_number(call.query.get("project", ""))
        prefix = call.query.get("prefix", "")
        found = [b for b in self._store.list(BUCKET, prefix) if b["projectNumber"] == number]
        return {"kind": "storage#buckets", **_page(found, call)}

    async def create_bucket(self, call: Call) -> Result:
        """POST of a new bucket."""
        name = call.json.get("name")
        if not isinstance(name, str) or not 3 <= len(name) <= 222 or "/" in name:
            raise bad(f"Invalid bucket name: {name!r}")
        if self._store.get(BUCKET, name) is not None:
            raise StorageError(409, "conflict", f"The bucket {name} exists already.")
        time = now()
        body: Body = {
            "location": "US",
            "storageClass": "STANDARD",
            **{key: value for key, value in call.json.items() if key not in OUTPUT},
            "kind": "storage#bucket",
            "id": name,
            "name": name,
            "selfLink": f"{self._platform.endpoint}/storage/v1/b/{name}",
            "projectNumber": self._platform.project_number(call.query.get("project", "")),
            "metageneration": "1",
            "timeCreated": time,
            "updated": time,
            "etag": "CAE=",
        }
        body["location"] = str(body["location"]).upper()
        return self._store.put(BUCKET, name, body)

    async def get_bucket(self, call: Call) -> Result:
        """GET of one."""
        body = self.bucket(call)
        check(call.query, body, reading=True)
        return body

    async def patch_bucket(self, call: Call) -> Result:
        """PATCH: the fields that are given; null removes one."""
        body = self.bucket(call)
        check(call.query, body)
        changed = dict(body)
        for key, value in call.json.items():
            if key in OUTPUT or key == "name":
                continue
            if value is None:
                changed.pop(key, None)
            elif key == "labels" and isinstance(value, dict):
                merged = {**body.get("labels", {}), **value}
                changed["labels"] = {k: v for k, v in merged.items() if v is not None}
            else:
                changed[key] = value
        return self._changed(changed)

    async def replace_bucket(self, call: Call) -> Result:
        """PUT: the whole resource."""
        body = self.bucket(call)
        check(call.query, body)
        kept = {key: body[key] for key in (*OUTPUT, "name", "location", "storageClass")}
        return self._changed({**call.json, **kept})

    async def delete_bucket(self, call: Call) -> Result:
        """DELETE of an empty bucket."""
        body = self.bucket(call)
        check(call.query, body)
        name = body["name"]
        if self.objects.list(name, "", versions=False):
            raise StorageError(
                409, "conflict", f"The bucket {name} you tried to delete is not empty."
            )
        self.objects.remove_all(name)
        self._store.delete(POLICY, name)
        self._store.delete(BUCKET, name)
        return Response(status_code=204)

    async def get_policy(self, call: Call) -> Result:
        """GET of the bucket's IAM policy."""
        name = self.bucket(call)["name"]
        policy = self._store.get(POLICY, name) or {**NO_POLICY, "etag": "CAE="}
        return {**policy, "resourceId": f"projects/_/buckets/{name}"}

    async def set_policy(self, call: Call) -> Result:
        """PUT of the whole policy; an etag that is not the current one is refused."""
        name = self.bucket(call)["name"]
        current = self._store.get(POLICY, name) or {"etag": "CAE="}
        if call.json.get("etag") not in (None, "", current["etag"]):
            raise StorageError(412, "conditionNotMet", objects.UNMET)
        policy = {**NO_POLICY, **call.json, "etag": f"E{self._store.next_id('etag')}="}
        return self._store.put(POLICY, name, policy)

    async def test_permissions(self, call: Call) -> Result:
        """GET: permissions are not enforced on buckets, so all that are asked for are held."""
        self.bucket(call)
        asked = call.request.query_params.getlist("permissions")
        return {"kind": "storage#testIamPermissionsResponse", "permissions": asked}

    async def list_objects(self, call: Call) -> Result:
        """GET of a bucket's objects, by prefix and delimiter."""
        bucket, query = self.bucket(call), call.query
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        found, prefixes = [], set()
        for body in self.objects.list(
            bucket["name"], prefix, versions=query.get("versions", "").lower() == "true"
        ):
            name = body["name"]
            if name < query.get("startOffset", "") or (
                name >= query.get("endOffset", "\U0010ffff")
            ):
                continue
            rest = name[len(prefix) :]
            if delimiter and delimiter in rest:
                prefixes.add(prefix + rest.split(delimiter)[0] + delimiter)
            else:
                found.append(body)
        answer = {"kind": "storage#objects", **_page(found, call)}
        return answer | ({"prefixes": sorted(prefixes)} if prefixes else {})

    async def get_object(self, call: Call) -> Result:
        """GET of an object's metadata, or with `alt=media` of its bytes."""
        if call.query.get("alt") == "media":
            return await self.download(call)
        body = self._object(call)
        check(call.query, body, reading=True)
        return body

    async def download(self, call: Call) -> Result:
        """GET of an object's bytes, whole or a range."""
        body = self._object(call)
        check(call.query, body, reading=True)
        return uploads.media(self.objects.data(body), body, call.request.headers.get("range"))

    async def read_xml(self, call: Call) -> Result:
        """GET of an object's bytes by the XML API."""
        name = call.path["object"]
        body = self.objects.find(call.path["bucket"], name, call.query.get("generation"))
        if body is None:
            raise missing(f"{call.request.url.path}")
        return uploads.media(self.objects.data(body), body, call.request.headers.get("range"))

    async def patch_object(self, call: Call) -> Result:
        """PATCH of an object's metadata."""
        body = self._object(call)
        check(call.query, body)
        return self.objects.patch(body, call.json)

    async def delete_object(self, call: Call) -> Result:
        """DELETE of the live object, or of one generation for ever."""
        body = self._object(call)
        check(call.query, body)
        self.objects.delete(self.bucket(call), body, forever="generation" in call.query)
        return Response(status_code=204)

    async def copy_object(self, call: Call) -> Result:
        """POST of `…/copyTo/b/B/o/O` or `…/rewriteTo/b/B/o/O`."""
        source_name, verb, bucket_name, name = _copy_path(call)
        source = self._find(call.path["bucket"], source_name, call.query.get("sourceGeneration"))
        check(call.query, source, prefix="ifSource")
        bucket = self._named_bucket(bucket_name)
        check(call.query, self.objects.find(bucket_name, name))
        given = {field: source[field] for field in objects.SETTABLE if field in source} | call.json
        body = self.objects.write(bucket, name, given, self.objects.data(source).read_bytes())
        if verb == "copyTo":
            return body
        size = body["size"]
        done = {"kind": "storage#rewriteResponse", "done": True, "resource": body}
        return done | {"totalBytesRewritten": size, "objectSize": size}

    def _object(self, call: Call) -> Body:
        """The request's object, or a generation of it.

        Raises:
            StorageError: 404.
        """
        self.bucket(call)
        return self._find(call.path["bucket"], _object_name(call), call.query.get("generation"))

    def _find(self, bucket: str, name: str, generation: str | None) -> Body:
        body = self.objects.find(bucket, name, generation)
        if body is None:
            raise missing(f"The object {bucket}/{name}")
        return body

    def _changed(self, body: Body) -> Body:
        metageneration = str(int(body["metageneration"]) + 1)
        changed = {**body, "metageneration": metageneration, "updated": now()}
        return self._store.put(BUCKET, body["name"], {**changed, "etag": f"CA{metageneration}="})


def _object_name(call: Call) -> str:
    """The object's name: what follows `/o/`, unquoted once; a name may hold slashes."""
    raw: bytes = call.request.scope["raw_path"]
    return unquote(raw.decode("ascii").split("/o/", 1)[1])


def _copy_path(call: Call) -> tuple[str, str, str, str]:
    """Source name, verb, target bucket and target name of a copy's path."""
    parts = call.request.scope["raw_path"].decode("ascii").split("/o/", 1)[1].split("/")
    for verb in ("copyTo", "rewriteTo"):
        if len(parts) == 6 and parts[1:3] == [verb, "b"] and parts[4] == "o":
            return unquote(parts[0]), verb, unquote(parts[3]), unquote(parts[5])
    raise missing(call.request.url.path)


def _page(items: list[Body], call: Call) -> Body:
    query = call.query
    try:
        size, start = int(query.get("maxResults") or 1000), int(query.get("pageToken") or 0)
    except ValueError:
        raise bad("maxResults and pageToken must be numbers") from None
    answer: Body = {"items": items[start : start + size]}
    if start + size < len(items):
        answer["nextPageToken"] = str(start + size)
    return answer
