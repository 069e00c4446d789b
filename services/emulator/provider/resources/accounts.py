"""google_service_account."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from services.emulator.provider.codec import UNKNOWN, State
from services.emulator.provider.errors import ApiFailure, Problem
from services.emulator.provider.mapping import LOCAL, Body, Fields
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider

_ACCOUNT_ID = re.compile(r"[a-z](?:[-a-z0-9]{4,28}[a-z0-9])")
_MASK = {"displayName": "display_name", "description": "description"}


class ServiceAccount(Kind):
    """E-mail and member are known at plan: they follow from the account's ID and project."""

    type = "google_service_account"
    force_new = ("account_id", "project")
    fields: ClassVar[Fields] = {
        "account_id": LOCAL,
        "member": LOCAL,
        "create_ignore_already_exists": LOCAL,
    }

    def check(self, config: State) -> Iterator[Problem]:
        """The shape of an account's ID."""
        id_ = config.get("account_id")
        if isinstance(id_, str) and not _ACCOUNT_ID.fullmatch(id_):
            told = (
                f"account_id {id_!r} must have 6 to 30 lower-case letters, digits and dashes, "
                "begin with a letter and not end with a dash."
            )
            yield Problem(told, ("account_id",))

    def foresee(self, provider: Provider, planned: State, prior: State | None) -> None:
        """Plans what follows from the ID."""
        del provider
        if prior is None and planned["account_id"] is not UNKNOWN:
            email = _email(planned["account_id"], planned["project"])
            planned |= {"email": email, "member": f"serviceAccount:{email}"}

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST; an account that exists already is taken when the configuration says so."""
        del config
        body = {"accountId": planned["account_id"], "serviceAccount": self.body(planned)}
        path = f"/v1/projects/{planned['project']}/serviceAccounts"
        try:
            made = provider.client.call("POST", path, body)
        except ApiFailure as failure:
            if failure.code != 409 or not planned.get("create_ignore_already_exists"):
                raise
            made = {"email": _email(planned["account_id"], planned["project"])}
        found = self._found(planned["project"], made["email"])
        if planned.get("disabled"):
            provider.client.call("POST", f"/v1/{found['name']}:disable", {})
        return found

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET by e-mail."""
        return provider.client.find(f"/v1/{state['id']}")

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """The account's ID and IAM member."""
        del provider, state
        email = str(body["email"])
        member = f"serviceAccount:{email}"
        return {"account_id": email.partition("@")[0], "member": member}

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH of the texts; disabling is a verb of its own."""
        fields = [key for key, name in _MASK.items() if prior.get(name) != planned.get(name)]
        if fields:
            given = {key: planned.get(_MASK[key]) or "" for key in fields}
            body = {"serviceAccount": given, "updateMask": ",".join(fields)}
            provider.client.call("PATCH", f"/v1/{planned['id']}", body)
        if bool(prior.get("disabled")) != bool(planned.get("disabled")):
            verb = "disable" if planned.get("disabled") else "enable"
            provider.client.call("POST", f"/v1/{planned['id']}:{verb}", {})

    def remove(self, provider: Provider, state: State) -> None:
        """DELETE."""
        provider.client.call("DELETE", f"/v1/{state['id']}")

    def locate(self, provider: Provider, id_: str) -> State:
        """A full name, or the e-mail."""
        found = parse(
            id_, "projects/{project}/serviceAccounts/{email}", "{project}/{email}", "{email}"
        )
        return self._found(found.get("project") or provider.project_of({}), found["email"])

    def _found(self, project: str, email: str) -> State:
        name = f"projects/{project}/serviceAccounts/{email}"
        return {"id": name, "name": name, "email": email, "project": project}


def _email(account_id: str, project: str) -> str:
    return f"{account_id}@{project}.iam.gserviceaccount.com"
