"""`google_secret_manager_secret` and `google_secret_manager_secret_version`."""

from __future__ import annotations

import base64
from typing import Any

from services.emulator.provider.client import ApiFailure
from services.emulator.provider.codec import Values
from services.emulator.provider.mapping import camel
from services.emulator.provider.resources.base import Context, Refused, Resource, gone, ready, tail

API = "secret_manager"


class Secret(Resource):
    """Its ID has the project's ID, its `name` the project's number, as the API answers."""

    force_new = frozenset({"secret_id", "project", "replication"})
    local = frozenset({"deletion_policy", "deletion_protection"})

    def create(self, context: Context, value: Values) -> Values:
        path = f"projects/{value['project']}/secrets"
        query = {"secretId": value["secret_id"]}
        context.client.call("POST", API, path, query=query, body=self._body(value))
        id_ = f"{path}/{value['secret_id']}"
        return ready(self.read(context, {**value, "id": id_}), id_)

    def read(self, context: Context, state: Values) -> Values | None:
        body = context.client.find(API, state["id"])
        if body is None:
            return None
        replication = body.get("replication", {})
        if "automatic" in replication:
            body["replication"] = {"auto": replication["automatic"]}
        _, project, _, secret = state["id"].split("/")
        prior = None if state.get("secret_id") is None else state
        return self.state(body, prior, id=state["id"], project=project, secret_id=secret)

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        changed = self.changed(prior, value)
        if changed:
            body = self._body(value)
            sent = {camel(name): body[camel(name)] for name in changed if camel(name) in body}
            query = {"updateMask": ",".join(sorted(map(camel, changed)))}
            context.client.call("PATCH", API, prior["id"], query=query, body=sent)
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        if state.get("deletion_protection"):
            raise Refused(f"{state['id']} has deletion_protection")
        _delete(context, state["id"])

    def imported(self, context: Context, id_: str) -> Values:
        return {"id": id_ if "/" in id_ else f"projects/{context.project}/secrets/{id_}"}

    def _body(self, value: Values) -> dict[str, Any]:
        body = self.body(value, leave_out=frozenset({"secret_id", "replication"}))
        replication = (value.get("replication") or [{}])[0]
        if replication.get("auto"):
            body["replication"] = {"automatic": {}}
        elif value.get("replication"):
            full = self.body(value)["replication"]
            body["replication"] = full
        return body


class SecretVersion(Resource):
    """A value. A write-only one (`secret_data_wo`) is in the configuration, never in the state."""

    force_new = frozenset({"secret", "secret_data", "secret_data_wo_version"})
    local = frozenset({"deletion_policy", "is_secret_data_base64", "secret_data_wo_version"})

    def create(self, context: Context, value: Values) -> Values:
        text = value.get("secret_data_wo") or value.get("secret_data")
        if not text:
            raise Refused("one of secret_data and secret_data_wo is required")
        data = (
            text if value.get("is_secret_data_base64") else base64.b64encode(text.encode()).decode()
        )
        path = f"{value['secret']}:addVersion"
        made = context.client.call("POST", API, path, body={"payload": {"data": data}})
        state = {**value, "id": made["name"], "secret_data_wo": None}
        if value.get("enabled") is False:
            context.client.call("POST", API, f"{made['name']}:disable", body={})
        return ready(self.read(context, state), made["name"])

    def read(self, context: Context, state: Values) -> Values | None:
        body = context.client.find(API, state["id"])
        if body is None or body["state"] == "DESTROYED":
            return None
        result = self.state(
            body,
            state,
            id=state["id"],
            secret=state.get("secret") or state["id"].split("/versions/")[0],
            version=tail(state["id"]),
            secret_data=state.get("secret_data"),
            secret_data_wo=None,
        )
        if state.get("enabled") is not None:
            result["enabled"] = body["state"] == "ENABLED"
        return result

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        if value.get("enabled") != prior.get("enabled"):
            verb = "disable" if value.get("enabled") is False else "enable"
            context.client.call("POST", API, f"{prior['id']}:{verb}", body={})
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        policy = state.get("deletion_policy") or "DELETE"
        if policy == "ABANDON":
            return
        verb = "disable" if policy == "DISABLE" else "destroy"
        try:
            context.client.call("POST", API, f"{state['id']}:{verb}", body={})
        except ApiFailure as failure:
            if not gone(failure):
                raise

    def imported(self, context: Context, id_: str) -> Values:
        return {"id": id_}


def _delete(context: Context, path: str) -> None:
    try:
        context.client.call("DELETE", API, path)
    except ApiFailure as failure:
        if not gone(failure):
            raise
