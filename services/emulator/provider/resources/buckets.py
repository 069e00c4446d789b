"""`google_storage_bucket` and `google_storage_bucket_object`."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import quote

from services.emulator.provider.client import ApiFailure
from services.emulator.provider.codec import Values
from services.emulator.provider.mapping import camel
from services.emulator.provider.resources.base import Context, Refused, Resource, gone, ready

API = "storage"


class Bucket(Resource):
    """Its ID is its name."""

    force_new = frozenset({"name", "location", "project"})
    local = frozenset({"deletion_policy", "force_destroy"})

    def create(self, context: Context, value: Values) -> Values:
        query = {"project": value["project"]}
        context.client.call("POST", API, "b", query=query, body=self._body(value))
        return ready(self.read(context, {**value, "id": value["name"]}), value["name"])

    def read(self, context: Context, state: Values) -> Values | None:
        body = context.client.find(API, f"b/{state['id']}")
        if body is None:
            return None
        access = body.get("iamConfiguration", {})
        body["uniformBucketLevelAccess"] = access.get("uniformBucketLevelAccess", {}).get("enabled")
        body["publicAccessPrevention"] = access.get("publicAccessPrevention")
        body["lifecycleRule"] = body.get("lifecycle", {}).get("rule", [])
        prior = None if state.get("name") is None else state
        known = {"id": body["name"], "url": f"gs://{body['name']}"}
        result = self.state(body, prior, **known, project=state.get("project") or context.project)
        before = state.get("location")
        if before and before.upper() == body["location"]:
            result["location"] = before
        return result

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        changed = self.changed(prior, value)
        if changed:
            body = self._body(value)
            fields = {_field(name) for name in changed}
            sent = {field: body.get(field) for field in fields}
            if "labels" in fields:
                dropped = dict.fromkeys(prior.get("effective_labels") or {})
                sent["labels"] = {**dropped, **(body.get("labels") or {})}
            context.client.call("PATCH", API, f"b/{prior['id']}", body=sent)
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        name = state["id"]
        try:
            if state.get("force_destroy"):
                self._empty(context, name)
            context.client.call("DELETE", API, f"b/{name}")
        except ApiFailure as failure:
            if gone(failure):
                return
            if failure.status == 409 and not state.get("force_destroy"):
                raise Refused(
                    f"the bucket {name} is not empty, and force_destroy is not set"
                ) from None
            raise

    def imported(self, context: Context, id_: str) -> Values:
        return {"id": id_.rsplit("/", 1)[-1]}

    def _empty(self, context: Context, name: str) -> None:
        """Deletes every generation of every object."""
        while True:
            listing = context.client.call("GET", API, f"b/{name}/o", query={"versions": "true"})
            items = listing.get("items", [])
            for item in items:
                path = f"b/{name}/o/{quote(item['name'], safe='')}"
                context.client.call("DELETE", API, path, query={"generation": item["generation"]})
            if not items:
                return

    def _body(self, value: Values) -> dict[str, Any]:
        special = frozenset(
            {"uniform_bucket_level_access", "public_access_prevention", "lifecycle_rule"}
        )
        body = self.body(value, leave_out=special) | {"location": value["location"]}
        access: dict[str, Any] = {}
        if value.get("uniform_bucket_level_access") is not None:
            access["uniformBucketLevelAccess"] = {"enabled": value["uniform_bucket_level_access"]}
        if isinstance(value.get("public_access_prevention"), str):
            access["publicAccessPrevention"] = value["public_access_prevention"]
        if access:
            body["iamConfiguration"] = access
        if value.get("lifecycle_rule"):
            body["lifecycle"] = {"rule": self.body(value)["lifecycleRule"]}
        return body


def _field(argument: str) -> str:
    """The API's top-level field for a bucket's argument."""
    if argument in ("uniform_bucket_level_access", "public_access_prevention"):
        return "iamConfiguration"
    return "lifecycle" if argument == "lifecycle_rule" else camel(argument)


class BucketObject(Resource):
    """An object with its content in the configuration; its ID is `BUCKET-NAME`."""

    force_new = frozenset({"bucket", "name", "content", "source"})
    local = frozenset(
        {
            "deletion_policy",
            "detect_md5hash",
            "force_empty_content_type",
            "source",
            "source_md5hash",
        }
    )

    def create(self, context: Context, value: Values) -> Values:
        if value.get("source"):
            raise Refused("source is not supported on the local platform; use content")
        out = frozenset({"content", "bucket", "name"})
        metadata = self.body(value, leave_out=out) | {"name": value["name"]}
        content = value["content"] if isinstance(value["content"], str) else ""
        context.client.upload(value["bucket"], value["name"], metadata, content.encode())
        id_ = f"{value['bucket']}-{value['name']}"
        return ready(self.read(context, {**value, "id": id_}), id_)

    def read(self, context: Context, state: Values) -> Values | None:
        path = _path(state)
        body = context.client.find(API, path)
        if body is None:
            return None
        md5 = base64.b64decode(body["md5Hash"])
        content = state.get("content")
        if content is None or hashlib.md5(content.encode(), usedforsecurity=False).digest() != md5:
            content = context.client.download(path).decode(errors="replace")
        return self.state(
            body,
            state,
            id=f"{state['bucket']}-{state['name']}",
            content=content,
            md5hash=body["md5Hash"],
            md5hexhash=md5.hex(),
            output_name=body["name"],
        )

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        if changed := self.changed(prior, value):
            body = self.body(value)
            sent = {camel(name): body.get(camel(name)) for name in changed}
            context.client.call("PATCH", API, _path(prior), body=sent)
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        try:
            context.client.call("DELETE", API, _path(state))
        except ApiFailure as failure:
            if not gone(failure):
                raise

    def imported(self, context: Context, id_: str) -> Values:
        bucket, _, name = id_.removeprefix("b/").partition("/")
        return {"id": f"{bucket}-{name}", "bucket": bucket, "name": name.removeprefix("o/")}


def _path(state: Values) -> str:
    return f"b/{state['bucket']}/o/{quote(state['name'], safe='')}"
