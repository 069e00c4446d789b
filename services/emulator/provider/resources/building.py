"""What is built and where: registries, worker pools, repository connections, scheduled jobs."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import ClassVar

from services.emulator.provider.codec import UNKNOWN, State
from services.emulator.provider.errors import Problem
from services.emulator.provider.mapping import Body, Field, Fields, at
from services.emulator.provider.resources.collection import LAST, CollectionKind, local
from services.emulator.provider.settings import Provider

_INT64 = Field(encode=str)
_BYTES = Field(
    encode=lambda text: base64.b64encode(str(text).encode()).decode(),
    decode=lambda data: base64.b64decode(data).decode(),
)
_LOCATION = "projects/{project}/locations/{location}"


class ArtifactRepository(CollectionKind):
    """google_artifact_registry_repository."""

    type = "google_artifact_registry_repository"
    collection = _LOCATION + "/repositories"
    key = "repository_id"
    query = "repository_id"
    operation = True
    places = ("location",)
    formats = ("{project}/{location}/{repository_id}", "{location}/{repository_id}")
    force_new = ("location", "repository_id", "project", "format", "kms_key_name", "mode")
    volatile = ("update_time",)
    fields: ClassVar[Fields] = {
        **local("repository_id", "location", "cleanup_policy_dry_run"),
        "name": LAST,
        "mode": Field(default="STANDARD_REPOSITORY"),
    }


class WorkerPool(CollectionKind):
    """google_cloudbuild_worker_pool."""

    type = "google_cloudbuild_worker_pool"
    collection = _LOCATION + "/workerPools"
    query = "workerPoolId"
    operation = True
    formats = ("{project}/{location}/{name}", "{location}/{name}")
    force_new = ("location", "name", "project", "network_config", "private_service_connect")
    volatile = ("update_time",)
    fields: ClassVar[Fields] = {
        **local("location"),
        "name": LAST,
        "worker_config": at("privatePoolV1Config", "workerConfig"),
        "worker_config.disk_size_gb": _INT64,
        "network_config": at("privatePoolV1Config", "networkConfig"),
        "private_service_connect": at("privatePoolV1Config", "privateServiceConnect"),
    }


class Connection(CollectionKind):
    """google_cloudbuildv2_connection."""

    type = "google_cloudbuildv2_connection"
    version = "v2"
    collection = _LOCATION + "/connections"
    query = "connectionId"
    operation = True
    formats = ("{project}/{location}/{name}", "{location}/{name}")
    force_new = ("location", "name", "project")
    volatile = ("update_time", "etag")
    fields: ClassVar[Fields] = {**local("location"), "name": LAST}


class LinkedRepository(CollectionKind):
    """google_cloudbuildv2_repository; `parent_connection` is a name, full or bare."""

    type = "google_cloudbuildv2_repository"
    version = "v2"
    collection = _LOCATION + "/connections/{parent_connection}/repositories"
    query = "repositoryId"
    operation = True
    places = ("location",)
    formats = ("{project}/{location}/{parent_connection}/{name}",)
    force_new = ("location", "name", "project", "parent_connection", "remote_uri", "annotations")
    fields: ClassVar[Fields] = {**local("location", "parent_connection"), "name": LAST}

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST below the connection."""
        bare = str(planned["parent_connection"]).rpartition("/")[2]
        return super().create(provider, {**planned, "parent_connection": bare}, config)


class ScheduledJob(CollectionKind):
    """google_cloud_scheduler_job; `paused` is a verb of its own."""

    type = "google_cloud_scheduler_job"
    collection = "projects/{project}/locations/{region}/jobs"
    whole = True
    places = ("region",)
    formats = ("{project}/{region}/{name}", "{region}/{name}", "{name}")
    force_new = ("name", "region", "project")
    fields: ClassVar[Fields] = {
        **local("region", "paused"),
        "name": LAST,
        "time_zone": Field(default="Etc/UTC"),
        "http_target.body": _BYTES,
        "pubsub_target.data": _BYTES,
    }

    def check(self, config: State) -> Iterator[Problem]:
        """Exactly one target."""
        targets = ("pubsub_target", "http_target", "app_engine_http_target")
        if len([name for name in targets if config.get(name)]) != 1:
            yield Problem(f"exactly one of {', '.join(targets)} must be specified")

    def foresee(self, provider: Provider, planned: State, prior: State | None) -> None:
        """It runs unless it is paused."""
        super().foresee(provider, planned, prior)
        if planned.get("paused") is UNKNOWN:
            planned["paused"] = False
        if prior is not None and planned["paused"] != prior.get("paused"):
            planned["state"] = UNKNOWN

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST, then what `paused` says."""
        made = super().create(provider, planned, config)
        verb = "pause" if planned.get("paused") is True else "resume"
        provider.client.call("POST", f"/v1/{made['id']}:{verb}", {})
        return made

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH, then what `paused` says, if that changes."""
        super().update(provider, prior, planned)
        if bool(prior.get("paused")) != bool(planned.get("paused")):
            verb = "pause" if planned.get("paused") else "resume"
            provider.client.call("POST", f"/v1/{planned['id']}:{verb}", {})

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """Whether it is paused follows from its state."""
        del provider, state
        return {"paused": body.get("state") == "PAUSED"}
