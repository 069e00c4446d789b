"""Secret Manager v1: secrets, their versions, and access to a payload.

Names carry the project's number, as Google's do. A payload lies in a file of mode 0600, never in
the database, and never in an answer other than that of `:access`.
"""

from __future__ import annotations

import os
import re
import shutil
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Literal

import google_crc32c
from starlette.routing import BaseRoute

from services.emulator import policies
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call, Handler, Result, page, route
from services.emulator.state import Body, now

SECRET, VERSION = "secret", "secretVersion"
SECRET_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
MAX_BYTES = 64 * 1024
EDITABLE = frozenset(
    {"labels", "annotations", "topics", "expireTime", "ttl", "rotation", "versionAliases",
     "versionDestroyTtl"}
)  # fmt: skip

State = Literal["ENABLED", "DISABLED", "DESTROYED"]


def access(platform: Platform, project: str, secret_id: str, version: str) -> bytes:
    """The payload of a version (a number, or `latest`); project by id or number.

    Raises:
        ApiError: NOT_FOUND; FAILED_PRECONDITION, when the version is disabled or destroyed.
    """
    vault = Vault(platform)
    body = vault.version(vault.secret(project, secret_id), version)
    if body["state"] != "ENABLED":
        raise ApiError(
            "FAILED_PRECONDITION",
            f"Secret Version [{body['name']}] is in {body['state']} state.",
        )
    return vault.payload(body).read_bytes()


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    secrets, versions = _Secrets(platform), _Versions(platform)
    many = "/v1/projects/{project:id}/secrets"
    one = many + "/{secret:id}"
    version = one + "/versions/{number:id}"
    table: list[tuple[str, str, Handler]] = [
        ("POST", many, secrets.create),
        ("GET", many, secrets.list),
        ("GET", one, secrets.get),
        ("PATCH", one, secrets.patch),
        ("DELETE", one, secrets.delete),
        ("POST", one + ":addVersion", versions.add),
        ("GET", one + "/versions", versions.list),
        ("GET", version, versions.get),
        ("GET", version + ":access", versions.access),
        ("POST", version + ":enable", versions.enable),
        ("POST", version + ":disable", versions.disable),
        ("POST", version + ":destroy", versions.destroy),
    ]
    return [route(method, path, handler, anonymous=True) for method, path, handler in table]


class Vault:
    """Secrets and versions in the store, and where their payloads lie."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self.store = platform, platform.store

    def parent(self, project: str) -> str:
        """`projects/NUMBER/secrets` of a project given by id or number."""
        return f"projects/{self._platform.project_number(project)}/secrets"

    def secret(self, project: str, secret_id: str) -> Body:
        """The secret's resource.

        Raises:
            ApiError: NOT_FOUND.
        """
        name = f"{self.parent(project)}/{secret_id}"
        body = self.store.get(SECRET, name)
        if body is None:
            raise not_found(f"Secret [{name}]")
        return body

    def versions(self, secret: Body) -> list[Body]:
        """All versions, the oldest first; destroyed ones stay."""
        return self.store.list(VERSION, f"{secret['name']}/versions/")

    def version(self, secret: Body, number: str) -> Body:
        """One version; `latest` is the one created last, whatever its state.

        Raises:
            ApiError: NOT_FOUND.
        """
        name = f"{secret['name']}/versions/{number}"
        if number == "latest":
            known = self.versions(secret)
            body = known[-1] if known else None
        else:
            body = self.store.get(VERSION, name)
        if body is None:
            raise ApiError("NOT_FOUND", f"Secret Version [{name}] not found or has no versions.")
        return body

    def payload(self, version: Body) -> Path:
        """The file of a version's payload."""
        _, project, _, secret, _, number = str(version["name"]).split("/")
        return self.store.files / "secrets" / project / secret / number

    def etag(self) -> str:
        """A new one, in the quotes that Secret Manager writes."""
        return f'"{self.store.next_id("etag"):x}"'


class _Secrets:
    def __init__(self, platform: Platform) -> None:
        self._vault, self._store = Vault(platform), platform.store

    async def create(self, call: Call) -> Result:
        """`POST …/secrets?secretId=ID`."""
        secret_id, fields = call.query.get("secretId", ""), call.body
        if not SECRET_ID.fullmatch(secret_id):
            raise invalid("secretId: 1 to 255 letters, digits, hyphens and underscores.")
        if not {"automatic", "userManaged"} & set(fields.get("replication") or {}):
            raise invalid("replication: automatic or userManaged must be given.")
        name = f"{self._vault.parent(call.path['project'])}/{secret_id}"
        if self._store.get(SECRET, name):
            raise ApiError("ALREADY_EXISTS", f"Secret [{name}] already exists.")
        kept = {key: value for key, value in fields.items() if key in EDITABLE | {"replication"}}
        body = {"name": name, **kept, "createTime": now(), "etag": self._vault.etag()}
        return self._store.put(SECRET, name, body)

    async def list(self, call: Call) -> Result:
        """`GET …/secrets`."""
        if call.query.get("filter"):
            raise ApiError("UNIMPLEMENTED", "The local platform lists secrets without a filter.")
        found = self._store.list(SECRET, f"{self._vault.parent(call.path['project'])}/")
        return {**page(found, call, "secrets"), "totalSize": len(found)}

    async def get(self, call: Call) -> Result:
        """`GET …/secrets/ID`."""
        return self._vault.secret(call.path["project"], call.path["secret"])

    async def patch(self, call: Call) -> Result:
        """`PATCH …/secrets/ID?updateMask=labels,…`."""
        body = self._vault.secret(call.path["project"], call.path["secret"])
        mask = [field for field in call.query.get("updateMask", "").split(",") if field]
        unknown = [field for field in mask if field not in EDITABLE]
        if unknown or not mask:
            allowed = ", ".join(sorted(EDITABLE))
            raise invalid(f"updateMask: {', '.join(unknown) or 'missing'}; allowed are {allowed}.")
        for field in mask:
            body.pop(field, None)
            if call.body.get(field):
                body[field] = call.body[field]
        return self._store.put(SECRET, body["name"], {**body, "etag": self._vault.etag()})

    async def delete(self, call: Call) -> Result:
        """`DELETE …/secrets/ID`, with all its versions."""
        body = self._vault.secret(call.path["project"], call.path["secret"])
        versions = self._vault.versions(body)
        with self._store.transaction():
            for version in versions:
                self._store.delete(VERSION, version["name"])
            self._store.delete(SECRET, body["name"])
            policies.remove(self._store, body["name"])
        if versions:
            shutil.rmtree(self._vault.payload(versions[0]).parent, ignore_errors=True)
        return {}


class _Versions:
    def __init__(self, platform: Platform) -> None:
        self._platform, self._vault, self._store = platform, Vault(platform), platform.store

    async def add(self, call: Call) -> Result:
        """`POST …/secrets/ID:addVersion`."""
        secret = self._vault.secret(call.path["project"], call.path["secret"])
        payload = call.body.get("payload")
        if not isinstance(payload, dict):
            raise invalid("payload: an object is expected.")
        data, checksum = _data(payload), payload.get("dataCrc32c")
        if checksum is not None and str(checksum) != str(crc32c(data)):
            raise invalid("The payload does not match its dataCrc32c.")
        number = len(self._vault.versions(secret)) + 1
        body: Body = {
            "name": f"{secret['name']}/versions/{number}",
            "createTime": now(),
            "state": "ENABLED",
            "replicationStatus": {"automatic": {}},
            "etag": self._vault.etag(),
        }
        if checksum is not None:
            body["clientSpecifiedPayloadChecksum"] = True
        _write(self._vault.payload(body), data)
        return self._store.put(VERSION, body["name"], body)

    async def list(self, call: Call) -> Result:
        """`GET …/versions?filter=state:ENABLED`, the newest first."""
        secret = self._vault.secret(call.path["project"], call.path["secret"])
        found = self._vault.versions(secret)[::-1]
        if wanted := call.query.get("filter", "").replace(" ", ""):
            match = re.fullmatch(r"state[:=](ENABLED|DISABLED|DESTROYED)", wanted)
            if match is None:
                raise invalid(f"filter: {wanted} is not state:ENABLED, DISABLED or DESTROYED.")
            found = [body for body in found if body["state"] == match[1]]
        return {**page(found, call, "versions"), "totalSize": len(found)}

    async def get(self, call: Call) -> Result:
        """`GET …/versions/N`."""
        return self._find(call)

    async def access(self, call: Call) -> Result:
        """`GET …/versions/N:access`."""
        path = call.path
        data = access(self._platform, path["project"], path["secret"], path["number"])
        payload = {"data": b64encode(data).decode(), "dataCrc32c": str(crc32c(data))}
        return {"name": self._find(call)["name"], "payload": payload}

    async def enable(self, call: Call) -> Result:
        """`POST …:enable`."""
        return self._become(call, "ENABLED")

    async def disable(self, call: Call) -> Result:
        """`POST …:disable`."""
        return self._become(call, "DISABLED")

    async def destroy(self, call: Call) -> Result:
        """`POST …:destroy`: the payload is gone for good."""
        body = self._become(call, "DESTROYED")
        self._vault.payload(body).unlink(missing_ok=True)
        return body

    def _find(self, call: Call) -> Body:
        secret = self._vault.secret(call.path["project"], call.path["secret"])
        return self._vault.version(secret, call.path["number"])

    def _become(self, call: Call, state: State) -> Body:
        body = self._find(call)
        if body["state"] == "DESTROYED":
            raise ApiError(
                "FAILED_PRECONDITION", f"Secret Version [{body['name']}] is in DESTROYED state."
            )
        body |= {"state": state, "etag": self._vault.etag()}
        if state == "DESTROYED":
            body["destroyTime"] = now()
        return self._store.put(VERSION, body["name"], body)


def crc32c(data: bytes) -> int:
    """The checksum as Secret Manager's `dataCrc32c` counts it."""
    return int(google_crc32c.value(data))


def _data(payload: Body) -> bytes:
    """The bytes of a payload; both alphabets of base64 are taken, as in Google's JSON."""
    text = str(payload.get("data", "")).replace("-", "+").replace("_", "/")
    try:
        data = b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        raise invalid("payload.data is not base64.") from None
    if not data:
        raise invalid("The secret payload is empty.")
    if len(data) > MAX_BYTES:
        raise invalid(f"The secret payload has more than {MAX_BYTES} bytes.")
    return data


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    partial.replace(path)
