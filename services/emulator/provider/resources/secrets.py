"""google_secret_manager_secret and its versions."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import ClassVar

from services.emulator.provider.codec import State
from services.emulator.provider.errors import Problem, ProviderError
from services.emulator.provider.mapping import INPUT, LOCAL, Body, Fields, at
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider


class Secret(Kind):
    """`id` has the project as it is configured, `name` its number."""

    type = "google_secret_manager_secret"
    force_new = ("secret_id", "project", "replication", "secret_type", "tags")
    fields: ClassVar[Fields] = {
        "secret_id": LOCAL,
        "deletion_protection": LOCAL,
        "replication.auto": at("automatic"),
        "ttl": INPUT,
        "tags": INPUT,
    }

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST."""
        del config
        path = f"/v1/projects/{planned['project']}/secrets"
        query = {"secretId": planned["secret_id"]}
        provider.client.call("POST", path, self.body(planned), query=query)
        return self._found(planned["project"], planned["secret_id"])

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET."""
        return provider.client.find(f"/v1/{state['id']}")

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH of the top-level fields that differ."""
        mask, body = self.difference(prior, planned)
        if mask:
            query = {"updateMask": ",".join(mask)}
            provider.client.call("PATCH", f"/v1/{planned['id']}", body, query=query)

    def remove(self, provider: Provider, state: State) -> None:
        """DELETE, with all versions, unless it is protected."""
        if state.get("deletion_protection"):
            raise ProviderError(f"{state['id']} must not be destroyed: deletion_protection is set")
        provider.client.call("DELETE", f"/v1/{state['id']}")

    def locate(self, provider: Provider, id_: str) -> State:
        """A full name, or less of it."""
        found = parse(
            id_, "projects/{project}/secrets/{secret_id}", "{project}/{secret_id}", "{secret_id}"
        )
        return self._found(found.get("project") or provider.project_of({}), found["secret_id"])

    def _found(self, project: str, secret_id: str) -> State:
        id_ = f"projects/{project}/secrets/{secret_id}"
        return {"id": id_, "project": project, "secret_id": secret_id}


class SecretVersion(Kind):
    """A version; the value of `secret_data_wo` is sent and never kept."""

    type = "google_secret_manager_secret_version"
    force_new = ("secret", "secret_data", "secret_data_wo_version", "is_secret_data_base64")
    policies = ("DELETE", "DISABLE", "ABANDON", "PREVENT")
    fields: ClassVar[Fields] = dict.fromkeys(
        (
            "secret",
            "secret_data",
            "secret_data_wo_version",
            "is_secret_data_base64",
            "enabled",
            "version",
        ),
        LOCAL,
    )

    def check(self, config: State) -> Iterator[Problem]:
        """One value; a write-only one needs a version, or a change of it would not be seen."""
        kept, sent = config.get("secret_data"), config.get("secret_data_wo")
        if (kept is None) == (sent is None):
            told = "Exactly one of secret_data and secret_data_wo must be set."
            yield Problem(told, ("secret_data",))
        if sent is not None and config.get("secret_data_wo_version") is None:
            told = "secret_data_wo needs secret_data_wo_version."
            yield Problem(told, ("secret_data_wo_version",))

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST of the value, then of its state."""
        value = str(config.get("secret_data_wo") or planned.get("secret_data") or "")
        coded = value if planned.get("is_secret_data_base64") else _coded(value)
        path = f"/v1/{planned['secret']}:addVersion"
        made = provider.client.call("POST", path, {"payload": {"data": coded}})
        name = str(made["name"])
        verb = "disable" if planned.get("enabled") is False else "enable"
        provider.client.call("POST", f"/v1/{name}:{verb}", {})
        return {"id": name, "name": name}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET; a destroyed version counts as gone."""
        body = provider.client.find(f"/v1/{state['name']}")
        return None if body is None or body.get("state") == "DESTROYED" else body

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """Its number and state, and the value where the state keeps it."""
        on = body.get("state") == "ENABLED"
        found: State = {"version": str(body["name"]).rpartition("/")[2]}
        found["enabled"] = None if on and state.get("enabled") is None else on
        if on and state.get("secret_data") is not None:
            answer = provider.client.call("GET", f"/v1/{state['name']}:access")
            data = str(answer["payload"]["data"])
            plain = state.get("is_secret_data_base64")
            found["secret_data"] = data if plain else base64.b64decode(data).decode()
        return found

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """Enables or disables it."""
        if (prior.get("enabled") is False) != (planned.get("enabled") is False):
            verb = "disable" if planned.get("enabled") is False else "enable"
            provider.client.call("POST", f"/v1/{planned['name']}:{verb}", {})

    def remove(self, provider: Provider, state: State) -> None:
        """Destroys the value; the version's number is never used again."""
        verb = "disable" if state.get("deletion_policy") == "DISABLE" else "destroy"
        provider.client.call("POST", f"/v1/{state['name']}:{verb}", {})

    def locate(self, provider: Provider, id_: str) -> State:
        """A full name."""
        del provider
        found = parse(id_, "projects/{project}/secrets/{secret}/versions/{version}")
        secret = f"projects/{found['project']}/secrets/{found['secret']}"
        return {"id": id_, "name": id_, "secret": secret}


def _coded(value: str) -> str:
    return base64.b64encode(value.encode()).decode()
