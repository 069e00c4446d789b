"""Secret Manager: secrets and their versions. Values lie in files that only this user can read."""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path

import google_crc32c
from starlette.routing import BaseRoute

from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, page, route
from services.emulator.state import Body, now

SECRET = "secret"
VERSION = "secret_version"
COLLECTION = "/v1/projects/{project:id}/secrets"
PATH = COLLECTION + "/{secret:id}"
VERSION_PATH = PATH + "/versions/{number:id}"
MAX_BYTES = 64 * 1024
OUTPUT = frozenset({"name", "createTime", "etag"})


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    api = Secrets(platform)
    table = [
        ("POST", COLLECTION, api.create),
        ("GET", COLLECTION, api.list),
        ("GET", PATH, api.get),
        ("PATCH", PATH, api.update),
        ("DELETE", PATH, api.delete),
        ("POST", PATH + ":addVersion", api.add_version),
        ("GET", PATH + "/versions", api.list_versions),
        ("GET", VERSION_PATH, api.get_version),
        ("GET", VERSION_PATH + ":access", api.access),
        ("POST", VERSION_PATH + ":enable", api.enable),
        ("POST", VERSION_PATH + ":disable", api.disable),
        ("POST", VERSION_PATH + ":destroy", api.destroy),
    ]
    return [route(method, path, handler, anonymous=True) for method, path, handler in table]


def find(platform: Platform, call: Call) -> Body:
    """The request's secret.

    Raises:
        ApiError: NOT_FOUND.
    """
    return _secret(platform, call.path["project"], call.path["secret"])


def access(platform: Platform, project: str, secret_id: str, version: str) -> bytes:
    """The value of a version; `latest` is the newest one, whatever its state.

    Args:
        project: the project's ID or number.

    Raises:
        ApiError: NOT_FOUND, or FAILED_PRECONDITION when the version is disabled or destroyed.
    """
    body = _version(platform, _secret(platform, project, secret_id), version)
    if body["state"] != "ENABLED":
        raise ApiError(
            "FAILED_PRECONDITION", f"Secret Version [{body['name']}] is in {body['state']} state."
        )
    return _file(platform, body["name"]).read_bytes()


class Secrets:
    """The handlers."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def create(self, call: Call) -> Result:
        """POST of a secret without a value."""
        id_ = call.query.get("secretId", "")
        if not id_ or len(id_) > 255 or not all(c.isalnum() or c in "-_" for c in id_):
            raise invalid(f"The provided Secret ID [{id_}] does not match the expected format.")
        name = f"{_parent(self._platform, call.path['project'])}/secrets/{id_}"
        if self._store.get(SECRET, name) is not None:
            raise ApiError("ALREADY_EXISTS", f"Secret [{name}] already exists.")
        given = {key: value for key, value in call.body.items() if key not in OUTPUT}
        if "replication" not in given:
            raise invalid("secret.replication is required.")
        body = {"name": name, "createTime": now(), "etag": '"1"', **given}
        return self._store.put(SECRET, name, body)

    async def list(self, call: Call) -> Result:
        """GET of a project's."""
        prefix = f"{_parent(self._platform, call.path['project'])}/secrets/"
        return page(self._store.list(SECRET, prefix), call, "secrets")

    async def get(self, call: Call) -> Result:
        """GET of one."""
        return find(self._platform, call)

    async def update(self, call: Call) -> Result:
        """PATCH by mask."""
        body = find(self._platform, call)
        mask = call.query.get("updateMask", "")
        if not mask:
            raise invalid("updateMask is required.")
        changed = dict(body)
        for path in mask.split(","):
            field = path.split(".")[0]
            field = "".join(p.title() if i else p for i, p in enumerate(field.split("_")))
            if field in OUTPUT or field == "replication":
                raise invalid(f"The field {path!r} cannot be updated.")
            changed.pop(field, None)
            if field in call.body:
                changed[field] = call.body[field]
        changed["etag"] = f'"{self._store.next_id("etag")}"'
        return self._store.put(SECRET, body["name"], changed)

    async def delete(self, call: Call) -> Result:
        """DELETE of a secret with all its values."""
        name = find(self._platform, call)["name"]
        for version in self._store.list(VERSION, f"{name}/versions/"):
            _file(self._platform, version["name"]).unlink(missing_ok=True)
            self._store.delete(VERSION, version["name"])
        self._store.delete(SECRET, name)
        return {}

    async def add_version(self, call: Call) -> Result:
        """POST of a new value."""
        secret = find(self._platform, call)
        payload = call.body.get("payload", {})
        try:
            value = base64.b64decode(payload.get("data", ""), validate=True)
        except (binascii.Error, ValueError, TypeError):
            raise invalid("payload.data must be base64.") from None
        if not value or len(value) > MAX_BYTES:
            raise invalid(f"The payload must have 1 to {MAX_BYTES} bytes.")
        if "dataCrc32c" in payload and int(payload["dataCrc32c"]) != google_crc32c.value(value):
            raise invalid("The payload's checksum does not match its data.")
        prefix = f"{secret['name']}/versions/"
        number = self._store.next_id(
            f"versions of {secret['name']} since {secret['createTime']}", 1
        )
        body: Body = {
            "name": f"{prefix}{number}",
            "createTime": now(),
            "state": "ENABLED",
            "etag": '"1"',
            "replicationStatus": {"automatic": {}},
            "clientSpecifiedPayloadChecksum": "dataCrc32c" in payload,
        }
        _write(_file(self._platform, body["name"]), value)
        return self._store.put(VERSION, body["name"], body)

    async def list_versions(self, call: Call) -> Result:
        """GET of a secret's versions, the newest first, by `filter` `state:STATE`."""
        name = find(self._platform, call)["name"]
        found = self._store.list(VERSION, f"{name}/versions/")[::-1]
        wanted = call.query.get("filter", "").replace(" ", "").upper()
        if wanted:
            key, _, state = wanted.replace("=", ":").partition(":")
            if key != "STATE":
                raise invalid(f"The local platform knows no filter but state:…, not {wanted!r}.")
            found = [body for body in found if body["state"] == state]
        return page(found, call, "versions")

    async def get_version(self, call: Call) -> Result:
        """GET of a version, without its value."""
        return self._found_version(call)

    async def access(self, call: Call) -> Result:
        """GET of a version's value."""
        path = call.path
        value = access(self._platform, path["project"], path["secret"], path["number"])
        data, crc = base64.b64encode(value).decode(), str(google_crc32c.value(value))
        name = self._found_version(call)["name"]
        return {"name": name, "payload": {"data": data, "dataCrc32c": crc}}

    async def enable(self, call: Call) -> Result:
        """POST."""
        return self._set_state(call, "ENABLED")

    async def disable(self, call: Call) -> Result:
        """POST."""
        return self._set_state(call, "DISABLED")

    async def destroy(self, call: Call) -> Result:
        """POST: the value is gone for ever."""
        body = self._set_state(call, "DESTROYED")
        _file(self._platform, body["name"]).unlink(missing_ok=True)
        return body

    def _found_version(self, call: Call) -> Body:
        return _version(self._platform, find(self._platform, call), call.path["number"])

    def _set_state(self, call: Call, state: str) -> Body:
        body = self._found_version(call)
        if body["state"] == "DESTROYED":
            raise ApiError("FAILED_PRECONDITION", f"Secret Version [{body['name']}] is destroyed.")
        gone = {"destroyTime": now()} if state == "DESTROYED" else {}
        return self._store.put(VERSION, body["name"], {**body, "state": state, **gone})


def _parent(platform: Platform, project: str) -> str:
    """Names are answered with the project's number, as in the cloud."""
    return f"projects/{platform.project_number(project)}"


def _secret(platform: Platform, project: str, secret_id: str) -> Body:
    name = f"{_parent(platform, project)}/secrets/{secret_id}"
    body = platform.store.get(SECRET, name)
    if body is None:
        raise ApiError("NOT_FOUND", f"Secret [{name}] not found.")
    return body


def _version(platform: Platform, secret: Body, number: str) -> Body:
    prefix = f"{secret['name']}/versions/"
    if number == "latest":
        found = platform.store.list(VERSION, prefix)
        if not found:
            raise not_found(f"{prefix}latest")
        return found[-1]
    body = platform.store.get(VERSION, prefix + number)
    if body is None:
        raise not_found(prefix + number)
    return body


def _file(platform: Platform, version: str) -> Path:
    return platform.store.files / "secrets" / version


def _write(path: Path, value: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_suffix(".partial")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(value)
    partial.replace(path)
