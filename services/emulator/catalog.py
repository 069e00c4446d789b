"""The collections that the platform keeps as they are sent: registries, jobs, keys, alerts …

Nothing runs a job, fires an alert or encrypts with a key here; they are declared, read back,
changed and deleted as the APIs have it. What each API refuses is in its check.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

from starlette.routing import BaseRoute

from services.emulator.collections import Collection, Place, named, nothing
from services.emulator.collections import routes as plain
from services.emulator.errors import invalid, not_found
from services.emulator.platform import Platform
from services.emulator.projects import canonical
from services.emulator.rest import Call, Handler, Result, route
from services.emulator.state import Body, now

_LOCATION = "/v1/projects/{project:id}/locations/{location:id}"
_V2 = "/v2/projects/{project:id}/locations/{location:id}"
_MONITORING = "/v3/projects/{project:id}"
JOBS = _LOCATION + "/jobs"
CRON = re.compile(r"\S+( \S+){4}")
_TARGETS = ("httpTarget", "pubsubTarget", "appEngineHttpTarget")
_CONDITIONS = re.compile(r"condition[A-Z]\w+")


def routes(platform: Platform) -> list[BaseRoute]:
    """The REST routes of all of them, and the verbs that some have."""
    verbs = [
        route("POST", f"{JOBS}/{{id:id}}:{verb}", _pausing(platform, state))
        for verb, state in (("pause", "PAUSED"), ("resume", "ENABLED"))
    ]
    return [*verbs, *plain(platform, CATALOG)]


def _repository(body: Body, place: Place) -> Body:
    _, project, _, location, *_ = place.parent.split("/")
    kind = str(body.get("format", "")).lower()
    uri = f"{location}-{kind}.pkg.dev/{project}/{place.id}"
    return {"mode": "STANDARD_REPOSITORY", **body, **named(body, place), "registryUri": uri}


def _check_repository(body: Body) -> None:
    if not re.fullmatch(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?", body["name"].rpartition("/")[2]):
        raise invalid("repository_id must have 1 to 63 of [a-z0-9-], a letter first.")
    if not body.get("format"):
        raise invalid("format: a repository needs one.")


def _job(body: Body, place: Place) -> Body:
    return {"name": place.name, "state": body.get("state", "ENABLED"), "userUpdateTime": now()}


def _check_job(body: Body) -> None:
    if len([target for target in _TARGETS if body.get(target)]) != 1:
        raise invalid("A job needs exactly one target.")
    if not CRON.fullmatch(str(body.get("schedule", ""))):
        raise invalid(f"Schedule or time zone is invalid: {body.get('schedule')!r}.")


def _pool(body: Body, place: Place) -> Body:
    return {**named(body, place), "uid": str(uuid.UUID(int=place.number)), "state": "RUNNING"}


def _connection(body: Body, place: Place) -> Body:
    # A person installs the app on the host's page; here nobody has to.
    done = {"stage": "COMPLETE"}
    return {**named(body, place), "installationState": done, "etag": str(place.number)}


def _linked(body: Body, place: Place) -> Body:
    return {**named(body, place), "etag": str(place.number)}


def _check_linked(body: Body) -> None:
    if not str(body.get("remoteUri", "")).startswith("https://"):
        raise invalid("remoteUri must be an https address.")


def _ring(body: Body, place: Place) -> Body:
    return {"name": place.name, "createTime": body.get("createTime", now())}


def _key(body: Body, place: Place) -> Body:
    template = {"protectionLevel": "SOFTWARE", "algorithm": "GOOGLE_SYMMETRIC_ENCRYPTION"}
    primary = {"name": f"{place.name}/cryptoKeyVersions/1", "state": "ENABLED"}
    defaults = {"purpose": "ENCRYPT_DECRYPT", "versionTemplate": template}
    defaults |= {"destroyScheduledDuration": "2592000s"}
    return {**defaults, **body, **_ring(body, place), "primary": primary}


def _metric(body: Body, place: Place) -> Body:
    descriptor = {"metricKind": "DELTA", "valueType": "INT64", **body.get("metricDescriptor", {})}
    name = f"{place.parent.removesuffix('/metrics')}/metricDescriptors/logging.googleapis.com/user"
    descriptor |= {"name": f"{name}/{place.id}", "type": f"logging.googleapis.com/user/{place.id}"}
    return {**named(body, place), "name": place.id, "metricDescriptor": descriptor}


def _check_metric(body: Body) -> None:
    if not body.get("filter"):
        raise invalid("filter: a metric needs one.")
    if len(body["name"]) > 100:
        raise invalid("name: at most 100 characters.")


def _policy(body: Body, place: Place) -> Body:
    conditions = [
        {**condition, "name": f"{place.name}/conditions/{place.number}{index}"}
        for index, condition in enumerate(body.get("conditions", []))
    ]
    record = {"mutateTime": body.get("creationRecord", {}).get("mutateTime", now())}
    return {"enabled": True, **body, "name": place.name, "conditions": conditions,
            "creationRecord": record}  # fmt: skip


def _check_policy(body: Body) -> None:
    conditions = body["conditions"]
    if not 1 <= len(conditions) <= 6:
        raise invalid("Field alert_policy.conditions must have 1 to 6 conditions.")
    for condition in conditions:
        if len([key for key in condition if _CONDITIONS.fullmatch(key)]) != 1:
            raise invalid("Each condition must have exactly one type.")


def _channel(body: Body, place: Place) -> Body:
    return {"enabled": True, **body, "name": place.name}


def _check_channel(body: Body) -> None:
    if body.get("type") == "email" and not body.get("labels", {}).get("email_address"):
        raise invalid("labels: a channel of type email needs email_address.")


def _budget(body: Body, place: Place) -> Body:
    return {**body, "name": place.name, "etag": str(place.number)}


def _check_budget(body: Body) -> None:
    if (
        len(
            [
                key
                for key in ("specifiedAmount", "lastPeriodAmount")
                if key in body.get("amount", {})
            ]
        )
        != 1
    ):
        raise invalid("amount: exactly one of specifiedAmount and lastPeriodAmount.")


def _attachment(body: Body, place: Place) -> Body:
    link = f"https://www.googleapis.com/compute/v1/{place.name}"
    subnetwork = str((body.get("subnetworks") or [""])[0])
    network = re.sub(r"/regions/[^/]+/subnetworks/", "/global/networks/", subnetwork)
    return {
        **body,
        "kind": "compute#networkAttachment",
        "id": str(place.number),
        "name": place.id,
        "selfLink": link,
        "selfLinkWithId": f"{link.rpartition('/')[0]}/{place.number}",
        "creationTimestamp": body.get("creationTimestamp", datetime.now(UTC).isoformat()),
        "fingerprint": str(place.number),
        "network": network,
        "connectionEndpoints": [],
    }


def _pausing(platform: Platform, state: str) -> Handler:
    async def handler(call: Call) -> Result:
        """`POST …/jobs/ID:pause` and `:resume`."""
        path = call.path
        name = f"projects/{path['project']}/locations/{path['location']}/jobs/{path['id']}"
        key = canonical(platform, name)
        body = platform.store.get("jobs", key)
        if body is None:
            raise not_found(name)
        platform.store.put("jobs", key, {**body, "state": state})
        return {key: value for key, value in {**body, "state": state}.items() if key != "_number"}

    return handler


CATALOG = (
    Collection(
        _LOCATION + "/repositories",
        id_query="repository_id",
        complete=_repository,
        check=_check_repository,
        operation=True,
    ),
    Collection(JOBS, id_field="name", complete=_job, check=_check_job),
    Collection(_LOCATION + "/workerPools", id_query="workerPoolId", complete=_pool, operation=True),
    Collection(_V2 + "/connections", id_query="connectionId", complete=_connection, operation=True),
    Collection(
        _V2 + "/connections/{connection:id}/repositories",
        id_query="repositoryId",
        complete=_linked,
        check=_check_linked,
        operation=True,
        owner="connections",
    ),
    Collection(_LOCATION + "/keyRings", id_query="keyRingId", complete=_ring, kept=False),
    Collection(
        _LOCATION + "/keyRings/{ring:id}/cryptoKeys",
        id_query="cryptoKeyId",
        complete=_key,
        owner="keyRings",
        kept=False,
    ),
    Collection(
        "/v2/projects/{project:id}/metrics",
        id_field="name",
        complete=_metric,
        check=_check_metric,
        put=True,
        slashes=True,
    ),
    Collection(_MONITORING + "/alertPolicies", complete=_policy, check=_check_policy),
    Collection(_MONITORING + "/notificationChannels", complete=_channel, check=_check_channel),
    Collection("/v1/billingAccounts/{account:id}/budgets", complete=_budget, check=_check_budget),
    Collection(
        "/compute/v1/projects/{project:id}/regions/{region:id}/networkAttachments",
        id_field="name",
        complete=_attachment,
        check=nothing,
        operation=True,
    ),
)
