"""`google_vertex_ai_reasoning_engine`: engines, and memory banks."""

from __future__ import annotations

import json
import re
from typing import Any

from services.emulator.provider.client import ApiFailure
from services.emulator.provider.codec import Values
from services.emulator.provider.mapping import camel
from services.emulator.provider.resources.base import Context, Refused, Resource, gone, ready, tail

API = "vertex_ai"
_ID = re.compile(r"projects/(?P<project>[^/]+)/locations/(?P<region>[^/]+)/reasoningEngines/[^/]+")


class ReasoningEngine(Resource):
    """Update masks are top-level fields, as the real provider sends them."""

    force_new = frozenset({"region", "project", "encryption_spec"})

    def create(self, context: Context, value: Values) -> Values:
        parent = f"projects/{value['project']}/locations/{value['region']}"
        operation = context.client.call(
            "POST", API, f"{parent}/reasoningEngines", body=self._body(value)
        )
        made = context.client.wait(API, operation)
        name = f"{parent}/reasoningEngines/{tail(made['name'])}"
        return ready(self.read(context, {**value, "id": name}), name)

    def read(self, context: Context, state: Values) -> Values | None:
        body = context.client.find(API, state["id"])
        if body is None:
            return None
        if methods := body.get("spec", {}).get("classMethods"):
            body["spec"]["classMethods"] = json.dumps(methods)
        prior = None if state.get("display_name") is None else state
        place = {key: state[key] for key in ("id", "project", "region")}
        return self.state(body, prior, **place, name=tail(state["id"]))

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        body, changed = self._body(value), self.changed(prior, value)
        if changed:
            sent = {camel(name): body.get(camel(name)) for name in changed}
            sent = {key: item for key, item in sent.items() if item is not None}
            query = {"updateMask": ",".join(sorted(map(camel, changed)))}
            operation = context.client.call("PATCH", API, prior["id"], query=query, body=sent)
            context.client.wait(API, operation)
        return ready(self.read(context, {**value, "id": prior["id"]}), prior["id"])

    def delete(self, context: Context, state: Values) -> None:
        policy = state.get("deletion_policy") or "DELETE"
        if policy == "PREVENT":
            raise Refused(
                f"{state['id']} has deletion_policy PREVENT, so Terraform may not delete it"
            )
        if policy == "ABANDON":
            return
        query = {"force": "true"} if policy == "FORCE" else {}
        try:
            operation = context.client.call("DELETE", API, state["id"], query=query)
            context.client.wait(API, operation)
        except ApiFailure as failure:
            if not gone(failure):
                raise

    def imported(self, context: Context, id_: str) -> Values:
        match = _ID.fullmatch(id_)
        if match is None:
            raise Refused(f"{id_!r} is not projects/P/locations/L/reasoningEngines/ID")
        return {"id": id_, **match.groupdict()}

    def _body(self, value: Values) -> dict[str, Any]:
        body = self.body(value)
        if methods := body.get("spec", {}).get("classMethods"):
            body["spec"]["classMethods"] = json.loads(methods)
        return body
