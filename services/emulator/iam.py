"""Service accounts, and the IAM policies of projects, accounts, secrets and engines.

Policies are kept and given back; an etag that is not the current one refuses a write, so that a
concurrent read-modify-write never loses a binding.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import BaseRoute

from services.emulator import engines, secretmanager
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call, Handler, Result, page, route
from services.emulator.state import Body

ACCOUNT = "service_account"
POLICY = "policy"
ACCOUNTS_PATH = "/v1/projects/{project:id}/serviceAccounts"
ACCOUNT_PATH = ACCOUNTS_PATH + "/{account:id}"
DOMAIN = "iam.gserviceaccount.com"


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    api = Accounts(platform)
    named = Policies(platform)
    places: list[tuple[str, Callable[[Call], str], bool]] = [
        ("/v1/projects/{project:id}", named.of_project, False),
        (ACCOUNT_PATH, named.of_account, False),
        (secretmanager.PATH, named.of_secret, True),
        (engines.PATH, named.of_engine, False),
    ]
    found: list[BaseRoute] = [
        route("POST", ACCOUNTS_PATH, api.create),
        route("GET", ACCOUNTS_PATH, api.list),
        route("GET", ACCOUNT_PATH, api.get),
        route("PATCH", ACCOUNT_PATH, api.update),
        route("DELETE", ACCOUNT_PATH, api.delete),
    ]
    for path, name, anonymous in places:
        get, put, test = named.getter(name), named.setter(name), named.tester(name)
        found += [
            route("GET", f"{path}:getIamPolicy", get, anonymous=anonymous),
            route("POST", f"{path}:getIamPolicy", get, anonymous=anonymous),
            route("POST", f"{path}:setIamPolicy", put, anonymous=anonymous),
            route("POST", f"{path}:testIamPermissions", test, anonymous=anonymous),
        ]
    return found


class Accounts:
    """The handlers of service accounts, which are named by their e-mail or their unique ID."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    def find(self, call: Call) -> Body:
        """The request's account; project `-` stands for any.

        Raises:
            ApiError: NOT_FOUND.
        """
        wanted, project = call.path["account"], call.path["project"]
        for body in self._store.list(ACCOUNT):
            named = wanted in (body["email"], body["uniqueId"])
            if named and project in ("-", body["projectId"]):
                return body
        raise not_found(f"projects/{project}/serviceAccounts/{wanted}")

    async def create(self, call: Call) -> Result:
        """POST of a new one."""
        project, id_ = call.path["project"], call.body.get("accountId")
        if not isinstance(id_, str) or not 6 <= len(id_) <= 30:
            raise invalid(f"account_id must have 6 to 30 characters, but is {id_!r}.")
        email = f"{id_}@{project}.{DOMAIN}"
        name = f"projects/{project}/serviceAccounts/{email}"
        if self._store.get(ACCOUNT, name) is not None:
            raise ApiError(
                "ALREADY_EXISTS", f"Service account {id_} already exists within {project}."
            )
        given = call.body.get("serviceAccount", {})
        unique = f"1{self._store.next_id('service_account', 1):020d}"
        body: Body = {
            "name": name,
            "projectId": project,
            "uniqueId": unique,
            "email": email,
            "displayName": given.get("displayName", ""),
            "description": given.get("description", ""),
            "etag": "MDEwMjE5MjA=",
            "oauth2ClientId": unique,
        }
        return self._store.put(ACCOUNT, name, body)

    async def list(self, call: Call) -> Result:
        """GET of a project's."""
        prefix = f"projects/{call.path['project']}/serviceAccounts/"
        return page(self._store.list(ACCOUNT, prefix), call, "accounts")

    async def get(self, call: Call) -> Result:
        """GET of one."""
        return self.find(call)

    async def update(self, call: Call) -> Result:
        """PATCH of display name and description, by `updateMask` in the body."""
        body = self.find(call)
        mask = str(call.body.get("updateMask", "displayName,description")).split(",")
        given = call.body.get("serviceAccount", {})
        names = {"display_name": "displayName"}
        fields = {names.get(field.strip(), field.strip()) for field in mask}
        changed = {key: given.get(key, "") for key in fields & {"displayName", "description"}}
        return self._store.put(ACCOUNT, body["name"], {**body, **changed})

    async def delete(self, call: Call) -> Result:
        """DELETE of one and its policy."""
        name = self.find(call)["name"]
        self._store.delete(ACCOUNT, name)
        self._store.delete(POLICY, name)
        return {}


class Policies:
    """IAM policies by the full name of what they lie on."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store
        self._accounts = Accounts(platform)

    def of_project(self, call: Call) -> str:
        """Name of the request's project; every project exists here."""
        return f"projects/{self._platform.project_number(call.path['project'])}"

    def of_account(self, call: Call) -> str:
        """Name of the request's service account."""
        return str(self._accounts.find(call)["name"])

    def of_secret(self, call: Call) -> str:
        """Name of the request's secret."""
        return str(secretmanager.find(self._platform, call)["name"])

    def of_engine(self, call: Call) -> str:
        """Name of the request's engine."""
        return str(engines.find(self._platform, call)["name"])

    def getter(self, name: Callable[[Call], str]) -> Handler:
        """The handler of `:getIamPolicy`."""

        async def handler(call: Call) -> Result:
            return self._read(name(call))

        return handler

    def setter(self, name: Callable[[Call], str]) -> Handler:
        """The handler of `:setIamPolicy`."""

        async def handler(call: Call) -> Result:
            where, policy = name(call), call.json.get("policy")
            if not isinstance(policy, dict):
                raise invalid("policy is required.")
            current = self._read(where)
            if policy.get("etag") not in (None, "", current["etag"]):
                raise ApiError(
                    "ABORTED",
                    "There were concurrent policy changes. Please retry the whole "
                    "read-modify-write with exponential backoff.",
                )
            kept = {key: policy[key] for key in ("bindings", "auditConfigs") if policy.get(key)}
            etag = f"BwY{self._store.next_id('etag')}="
            version = policy.get("version", current["version"])
            return self._store.put(POLICY, where, {"version": version, "etag": etag, **kept})

        return handler

    def tester(self, name: Callable[[Call], str]) -> Handler:
        """The handler of `:testIamPermissions`: nothing is enforced here, so all are held."""

        async def handler(call: Call) -> Result:
            name(call)
            return {"permissions": call.body.get("permissions", [])}

        return handler

    def _read(self, name: str) -> Body:
        return self._store.get(POLICY, name) or {"version": 1, "etag": "ACAB"}
