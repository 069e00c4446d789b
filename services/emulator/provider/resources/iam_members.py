"""The `…_iam_member` resources: one member of one role, by read-modify-write with the etag."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from services.emulator.provider.client import ApiFailure
from services.emulator.provider.codec import Values
from services.emulator.provider.resources.base import Context, Refused, Resource
from services.emulator.provider.schema import Block

ATTEMPTS = 30
VERSION = 3
ABORTED = (409, 412)

Policy = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """Where policies of one type lie."""

    api: str
    path: Callable[[Values, Context], str]
    """The resource's path; it is also the first part of the member's ID."""
    keys: tuple[str, ...]
    """Arguments that say which resource."""
    bucket: bool = False
    """Whether it is Cloud Storage's form: GET and PUT of `/iam`."""
    get: str = "GET"


def _secret(value: Values, context: Context) -> str:
    id_ = value["secret_id"]
    return id_ if "/" in id_ else f"projects/{_project(value, context)}/secrets/{id_}"


def _engine(value: Values, context: Context) -> str:
    id_ = value["reasoning_engine"].rsplit("/", 1)[-1]
    region = value["region"] if isinstance(value.get("region"), str) else context.region
    return f"projects/{_project(value, context)}/locations/{region}/reasoningEngines/{id_}"


def _project(value: Values, context: Context) -> str:
    return value["project"] if isinstance(value.get("project"), str) else context.project


PLACES = {
    "google_project_iam_member": Place(
        "resource_manager", lambda v, _: f"projects/{v['project']}", ("project",), get="POST"
    ),
    "google_service_account_iam_member": Place(
        "iam", lambda v, _: str(v["service_account_id"]), ("service_account_id",), get="POST"
    ),
    "google_secret_manager_secret_iam_member": Place(
        "secret_manager", _secret, ("secret_id", "project")
    ),
    "google_vertex_ai_reasoning_engine_iam_member": Place(
        "vertex_ai", _engine, ("reasoning_engine", "region", "project"), get="POST"
    ),
    "google_storage_bucket_iam_member": Place(
        "storage", lambda v, _: f"b/{str(v['bucket']).removeprefix('b/')}", ("bucket",), bucket=True
    ),
}


class IamMember(Resource):
    """A member of a role; every argument's change is a new one."""

    local = frozenset()

    def __init__(self, block: Block, place: Place) -> None:
        super().__init__(block)
        self._place = place

    # Every argument says which member it is, so that nothing can be changed in place.
    @property
    def force_new(self) -> frozenset[str]:  # type: ignore[override]  # differs by type
        return frozenset({*self._place.keys, "role", "member", "condition"})

    def create(self, context: Context, value: Values) -> Values:
        def add(policy: Policy) -> bool:
            for binding in policy.setdefault("bindings", []):
                if binding["role"] == value["role"] and not binding.get("condition"):
                    if value["member"] in binding["members"]:
                        return False
                    binding["members"].append(value["member"])
                    return True
            policy["bindings"].append({"role": value["role"], "members": [value["member"]]})
            return True

        if value.get("condition"):
            raise Refused("conditions are not supported on the local platform yet")
        etag = self._modify(context, value, add)
        return self._state(context, value, etag)

    def read(self, context: Context, state: Values) -> Values | None:
        try:
            policy = self._get(context, state)
        except ApiFailure as failure:
            if failure.status == 404:
                return None
            raise
        for binding in policy.get("bindings", []):
            if binding["role"] == state["role"] and state["member"] in binding["members"]:
                # The policy's etag changes with every other member; that is no change of this one.
                return self._state(context, state, state.get("etag") or policy.get("etag"))
        return None

    def update(self, context: Context, prior: Values, value: Values) -> Values:
        return self._state(context, {**value, "id": prior["id"]}, prior.get("etag"))

    def delete(self, context: Context, state: Values) -> None:
        def remove(policy: Policy) -> bool:
            for binding in policy.get("bindings", []):
                if binding["role"] == state["role"] and state["member"] in binding["members"]:
                    binding["members"].remove(state["member"])
                    policy["bindings"] = [b for b in policy["bindings"] if b["members"]]
                    return True
            return False

        try:
            self._modify(context, state, remove)
        except ApiFailure as failure:
            if failure.status != 404:
                raise

    def imported(self, context: Context, id_: str) -> Values:
        parts = id_.split(" ")
        if len(parts) != 3:
            raise Refused(f"{id_!r} is not RESOURCE ROLE MEMBER")
        return {self._place.keys[0]: parts[0], "role": parts[1], "member": parts[2]}

    def _state(self, context: Context, value: Values, etag: str | None) -> Values:
        path = self._place.path(value, context)
        id_ = f"{path}/{value['role']}/{value['member']}"
        return {**value, "id": id_, "etag": etag}

    def _get(self, context: Context, value: Values) -> Policy:
        path, api = self._place.path(value, context), self._place.api
        if self._place.bucket:
            query = {"optionsRequestedPolicyVersion": str(VERSION)}
            return context.client.call("GET", api, f"{path}/iam", query=query)
        if self._place.get == "POST":
            body = {"options": {"requestedPolicyVersion": VERSION}}
            return context.client.call("POST", api, f"{path}:getIamPolicy", body=body)
        query = {"options.requestedPolicyVersion": str(VERSION)}
        return context.client.call("GET", api, f"{path}:getIamPolicy", query=query)

    def _modify(
        self, context: Context, value: Values, change: Callable[[Policy], bool]
    ) -> str | None:
        """Reads, changes and writes the policy until nobody was in between; returns its etag."""
        path, api = self._place.path(value, context), self._place.api
        for attempt in range(ATTEMPTS):
            policy = self._get(context, value)
            if not change(policy):
                return policy.get("etag")
            try:
                if self._place.bucket:
                    written = context.client.call("PUT", api, f"{path}/iam", body=policy)
                else:
                    body = {"policy": policy}
                    written = context.client.call("POST", api, f"{path}:setIamPolicy", body=body)
            except ApiFailure as failure:
                if failure.status not in ABORTED:
                    raise
                time.sleep(min(0.01 * (attempt + 1), 0.2))
            else:
                return written.get("etag")
        raise Refused(f"the IAM policy of {path} changed {ATTEMPTS} times while it was written")
