"""`google_cloudbuild_trigger`."""

from __future__ import annotations

import re

from services.emulator.provider.client import ApiFailure
from services.emulator.provider.codec import Values
from services.emulator.provider.resources.base import Context, Refused, Resource, gone, ready

API = "cloud_build"
_ID = re.compile(r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/triggers/[^/]+")
GLOBAL = "global"


class Trigger(Resource):
    """A trigger in a region, or `global`; an update sends the whole of it."""

    force_new = frozenset({"location", "project"})

    def create(self, context: Context, value: Values) -> Values:
        parent = f"projects/{value['project']}/locations/{value.get('location') or GLOBAL}/triggers"
        made = context.client.call("POST", API, parent, body=self.body(value))
        id_ = f"{parent}/{made['id']}"
        return ready(self.read(context, {**value, "id": id_}), id_)

    def read(self, context: Context, state: Values) -> Values | None:
        body = context.client.find(API, state["id"])
        if body is None:
            return None
        match = _ID.fullmatch(state["id"])
        assert match is not None
        prior = None if state.get("trigger_id") is None and state.get("name") is None else state
        known = {"id": state["id"], "trigger_id": body["id"], "project": match["project"]}
        location = state.get("location") or match["location"]
        return self.state({**body, "location": location}, prior, **known)

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        if self.changed(prior, value):
            body = self.body(value) | {"id": prior["trigger_id"]}
            context.client.call("PATCH", API, prior["id"], body=body)
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        try:
            context.client.call("DELETE", API, state["id"])
        except ApiFailure as failure:
            if not gone(failure):
                raise

    def imported(self, context: Context, id_: str) -> Values:
        match = _ID.fullmatch(id_)
        if match is None:
            raise Refused(f"{id_!r} is not projects/P/locations/L/triggers/ID")
        return {"id": id_, **match.groupdict()}
