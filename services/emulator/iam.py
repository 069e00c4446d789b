"""IAM: service accounts, and the policies of projects, accounts, secrets and engines."""

from __future__ import annotations

import re
from base64 import b64encode
from datetime import UTC, datetime, timedelta

from starlette.routing import BaseRoute

from services.emulator import engines, policies
from services.emulator.access import Access
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.identity import LIFETIME_SECONDS
from services.emulator.platform import Platform
from services.emulator.projects import canonical, project_id
from services.emulator.rest import Call, Handler, Result, page, route
from services.emulator.state import Body

ACCOUNT = "serviceAccount"
ACCOUNT_ID = re.compile(r"[a-z]([-a-z0-9]{4,28})[a-z0-9]")
FIRST_UNIQUE_ID = 100_000_000_000_000_000_001  # Google's have 21 digits
EDITABLE = ("displayName", "description")

_PROJECT = "/{version:version}/projects/{project:id}"
# What has a policy; buckets have theirs in Storage's own way.
_TARGETS = (
    _PROJECT,
    _PROJECT + "/secrets/{secret:id}",
    _PROJECT + "/locations/{location:id}/reasoningEngines/{engine:id}",
    _PROJECT + "/locations/{location:id}/repositories/{repository:id}",
    _PROJECT + "/locations/{location:id}/keyRings/{ring:id}/cryptoKeys/{key:id}",
)
# What a path's parameter stands for in the store; a policy needs what it lies on.
_KINDS = {
    "secret": "secret",
    "engine": engines.KIND,
    "repository": "repositories",
    "key": "cryptoKeys",
}


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    accounts, targets = _Accounts(platform), _Policies(platform)
    many = "/v1/projects/{project:id}/serviceAccounts"
    one = many + "/{account:id}"
    table: list[tuple[str, str, Handler]] = [
        ("POST", many, accounts.create),
        ("GET", many, accounts.list),
        ("GET", one, accounts.get),
        ("PATCH", one, accounts.patch),
        ("DELETE", one, accounts.delete),
        ("POST", one + ":enable", accounts.enable),
        ("POST", one + ":disable", accounts.disable),
        ("GET", one + ":getIamPolicy", accounts.get_policy),
        ("POST", one + ":getIamPolicy", accounts.get_policy),
        ("POST", one + ":setIamPolicy", accounts.set_policy),
        ("POST", one + ":testIamPermissions", accounts.test_permissions),
        ("POST", one + ":generateAccessToken", accounts.generate_token),
    ]
    for path in _TARGETS:
        table += [
            ("GET", path + ":getIamPolicy", targets.get),
            ("POST", path + ":getIamPolicy", targets.get),
            ("POST", path + ":setIamPolicy", targets.set),
            ("POST", path + ":testIamPermissions", targets.test_permissions),
        ]
    # Secret Manager's client may come without credentials, to policies too.
    return [route(m, path, h, anonymous="{secret:id}" in path) for m, path, h in table]


class _Policies:
    """`:getIamPolicy` and `:setIamPolicy` of what is named by its path alone."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def get(self, call: Call) -> Result:
        """`…:getIamPolicy`, options in the query or the body."""
        return policies.read(self._store, self._resource(call))

    async def set(self, call: Call) -> Result:
        """`…:setIamPolicy`."""
        return policies.write(self._store, self._resource(call), _sent(call))

    async def test_permissions(self, call: Call) -> Result:
        """`…:testIamPermissions`: which of these the caller has."""
        return _tested(self._platform, call, self._resource(call))

    def _resource(self, call: Call) -> str:
        """The resource's name.

        Raises:
            ApiError: NOT_FOUND, for what is not there.
        """
        name = call.request.url.path.split("/", 2)[2].rpartition(":")[0]
        resource = canonical(self._platform, name)
        for parameter, kind in _KINDS.items():
            if parameter in call.path and self._store.get(kind, resource) is None:
                raise not_found(f"Secret [{resource}]" if kind == "secret" else resource)
        return resource


class _Accounts:
    """The serviceAccounts methods; an account is named by its e-mail or its unique id."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def create(self, call: Call) -> Result:
        """`POST …/serviceAccounts` with `accountId` and `serviceAccount`."""
        project = project_id(self._platform, call.path["project"])
        account, fields = str(call.body.get("accountId", "")), _fields(call)
        if not ACCOUNT_ID.fullmatch(account):
            raise invalid(
                f"The account ID {account!r} does not have 6 to 30 lowercase letters, digits and "
                "hyphens, the first one a letter."
            )
        email = f"{account}@{project}.iam.gserviceaccount.com"
        key = f"{self._parent(project)}{email}"
        if self._store.get(ACCOUNT, key):
            raise ApiError(
                "ALREADY_EXISTS",
                f"Service account {account} already exists within project projects/{project}.",
            )
        unique = str(FIRST_UNIQUE_ID + self._store.next_id("serviceAccount", 0))
        body: Body = {
            "name": f"projects/{project}/serviceAccounts/{email}",
            "projectId": project,
            "uniqueId": unique,
            "email": email,
            "oauth2ClientId": unique,
            **{field: fields[field] for field in EDITABLE if fields.get(field)},
        }
        return self._save(body)

    async def list(self, call: Call) -> Result:
        """`GET …/serviceAccounts`."""
        found = self._store.list(ACCOUNT, self._parent(call.path["project"]))
        return page(found, call, "accounts", default=20)

    async def get(self, call: Call) -> Result:
        """`GET …/serviceAccounts/EMAIL`."""
        return self._find(call)

    async def patch(self, call: Call) -> Result:
        """`PATCH` with `serviceAccount` and `updateMask`, a list of fields with commas."""
        body, fields = self._find(call), _fields(call)
        mask = [part.strip() for part in str(call.body.get("updateMask", "")).split(",") if part]
        mask = ["displayName" if field == "display_name" else field for field in mask]
        if not mask or not set(mask) <= set(EDITABLE):
            raise invalid(f"update_mask: only {', '.join(EDITABLE)} can be changed, one at least.")
        return self._save({**body, **{field: fields.get(field, "") for field in mask}})

    async def delete(self, call: Call) -> Result:
        """`DELETE`; its policy goes with it, bindings of others that name it stay."""
        body = self._find(call)
        self._store.delete(ACCOUNT, canonical(self._platform, body["name"]))
        policies.remove(self._store, canonical(self._platform, body["name"]))
        return {}

    async def enable(self, call: Call) -> Result:
        """`POST …:enable`."""
        self._save({k: v for k, v in self._find(call).items() if k != "disabled"})
        return {}

    async def disable(self, call: Call) -> Result:
        """`POST …:disable`."""
        self._save({**self._find(call), "disabled": True})
        return {}

    async def get_policy(self, call: Call) -> Result:
        """`…:getIamPolicy`."""
        return policies.read(self._store, canonical(self._platform, self._find(call)["name"]))

    async def set_policy(self, call: Call) -> Result:
        """`…:setIamPolicy`."""
        resource = canonical(self._platform, self._find(call)["name"])
        return policies.write(self._store, resource, _sent(call))

    async def test_permissions(self, call: Call) -> Result:
        """`…:testIamPermissions`."""
        resource = canonical(self._platform, self._find(call)["name"])
        return _tested(self._platform, call, resource)

    async def generate_token(self, call: Call) -> Result:
        """`…:generateAccessToken`, of the IAM Credentials API: impersonation."""
        token = self._platform.identity.mint(str(self._find(call)["email"]))
        expires = datetime.now(UTC) + timedelta(seconds=LIFETIME_SECONDS)
        return {"accessToken": token, "expireTime": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}

    def _parent(self, project: str) -> str:
        return f"projects/{self._platform.project_number(project)}/serviceAccounts/"

    def _find(self, call: Call) -> Body:
        """The account; the project `-` stands for whichever it lies in."""
        project, account = call.path["project"], call.path["account"]
        prefix = "" if project == "-" else self._parent(project)
        for body in self._store.list(ACCOUNT, prefix):
            if account in (body["email"], body["uniqueId"]):
                return body
        raise not_found(f"Service account projects/{project}/serviceAccounts/{account}")

    def _save(self, body: Body) -> Body:
        body["etag"] = b64encode(self._store.next_id("etag").to_bytes(8, "big")).decode()
        return self._store.put(ACCOUNT, canonical(self._platform, body["name"]), body)


def account_resource(platform: Platform, email: str) -> str:
    """An account's name as its policy is kept under it, whether or not it exists."""
    project = email.partition("@")[2].partition(".")[0]
    return canonical(platform, f"projects/{project}/serviceAccounts/{email}")


def _tested(platform: Platform, call: Call, resource: str) -> Body:
    asked = call.body.get("permissions")
    if not isinstance(asked, list) or not all(isinstance(item, str) for item in asked):
        raise invalid("permissions: a list of permissions is expected.")
    held = Access(platform).held(call.principal, resource, asked)
    return {"permissions": held} if held else {}


def _sent(call: Call) -> Body:
    policy = call.json.get("policy")
    if not isinstance(policy, dict):
        raise invalid("policy: an object is expected.")
    return policy


def _fields(call: Call) -> Body:
    """The account in a request's body; elsewhere this name is an e-mail address."""
    fields = call.body.get("serviceAccount") or {}
    if not isinstance(fields, dict):
        raise invalid("Invalid value at 'serviceAccount': an object is expected.")
    return fields
