"""`google_service_account` and `google_project_service`."""

from __future__ import annotations

from services.emulator.provider.client import ApiFailure
from services.emulator.provider.codec import Values
from services.emulator.provider.resources.base import Context, Resource, gone, ready, tail

IAM, USAGE = "iam", "service_usage"


class ServiceAccount(Resource):
    """Its ID is its name, `projects/P/serviceAccounts/EMAIL`."""

    force_new = frozenset({"account_id", "project"})
    local = frozenset({"deletion_policy", "create_ignore_already_exists"})

    def create(self, context: Context, value: Values) -> Values:
        fields = {"displayName": value["display_name"], "description": value["description"]}
        given = {key: item for key, item in fields.items() if item}
        body = {"accountId": value["account_id"], "serviceAccount": given}
        path = f"projects/{value['project']}/serviceAccounts"
        made = context.client.call("POST", IAM, path, body=body)
        return ready(self.read(context, {**value, "id": made["name"]}), made["name"])

    def read(self, context: Context, state: Values) -> Values | None:
        body = context.client.find(IAM, state["id"])
        if body is None:
            return None
        email = body["email"]
        prior = None if state.get("account_id") is None else state
        return self.state(
            body,
            prior,
            id=body["name"],
            account_id=email.split("@")[0],
            member=f"serviceAccount:{email}",
            project=body["projectId"],
        )

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        fields = [name for name in ("display_name", "description") if value[name] != prior[name]]
        if fields:
            account = {"displayName": value["display_name"], "description": value["description"]}
            body = {"serviceAccount": account, "updateMask": ",".join(fields)}
            context.client.call("PATCH", IAM, prior["id"], body=body)
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        try:
            context.client.call("DELETE", IAM, state["id"])
        except ApiFailure as failure:
            if not gone(failure):
                raise

    def imported(self, context: Context, id_: str) -> Values:
        name = id_ if "/" in id_ else f"projects/{context.project}/serviceAccounts/{id_}"
        return {"id": name, "email": tail(name)}


class ProjectService(Resource):
    """An API that is enabled; its ID is `PROJECT/SERVICE`."""

    force_new = frozenset({"service", "project"})
    local = frozenset({"deletion_policy", "disable_on_destroy", "disable_dependent_services"})

    def create(self, context: Context, value: Values) -> Values:
        path = f"projects/{value['project']}/services/{value['service']}:enable"
        context.client.wait(USAGE, context.client.call("POST", USAGE, path, body={}))
        id_ = f"{value['project']}/{value['service']}"
        return ready(self.read(context, {**value, "id": id_}), id_)

    def read(self, context: Context, state: Values) -> Values | None:
        project, service = state["id"].split("/", 1)
        body = context.client.find(USAGE, f"projects/{project}/services/{service}")
        if body is None or body.get("state") != "ENABLED":
            return None
        return {**state, "project": project, "service": service}

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        if state.get("disable_on_destroy") is False:
            return
        path = f"projects/{state['project']}/services/{state['service']}:disable"
        context.client.wait(USAGE, context.client.call("POST", USAGE, path, body={}))

    def imported(self, context: Context, id_: str) -> Values:
        return {"id": id_}
