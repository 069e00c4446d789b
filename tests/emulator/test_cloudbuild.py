"""Cloud Build triggers, projects and services as Google's clients call them."""

from __future__ import annotations

from typing import Any

import pytest
from google.api_core.exceptions import BadRequest, Conflict, NotFound
from google.auth.credentials import AnonymousCredentials
from google.cloud.devtools import cloudbuild_v1
from google.protobuf.field_mask_pb2 import FieldMask

from tests.emulator.conftest import LOCATION, PROJECT, Local

PARENT = f"projects/{PROJECT}/locations/{LOCATION}"


@pytest.fixture(scope="module")
def client(local: Local) -> Any:
    return cloudbuild_v1.CloudBuildClient(
        transport="rest",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": local.endpoint},
    )


def trigger(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "filename": "pipelines/deploy.yaml",
        "included_files": ["agents/**"],
        "substitutions": {"_ENV": "local"},
        "repository_event_config": {
            "repository": f"{PARENT}/connections/github/repositories/acme",
            "push": {"branch": "^main$"},
        },
    }


def create(client: Any, name: str) -> Any:
    return client.create_build_trigger(request={"parent": PARENT, "trigger": trigger(name)})


def test_trigger_life(client: Any) -> None:
    made = create(client, "deploy-life")
    assert made.resource_name == f"{PARENT}/triggers/{made.id}"
    assert made.repository_event_config.push.branch == "^main$"
    assert dict(made.substitutions) == {"_ENV": "local"}
    assert made.create_time.timestamp() > 0
    assert client.get_build_trigger(request={"name": made.resource_name}) == made
    by_name = client.get_build_trigger(request={"name": f"{PARENT}/triggers/deploy-life"})
    assert by_name == made
    listed = client.list_build_triggers(request={"parent": PARENT})
    assert made in list(listed)
    with pytest.raises(Conflict):
        create(client, "deploy-life")
    client.delete_build_trigger(request={"name": made.resource_name})
    with pytest.raises(NotFound):
        client.get_build_trigger(request={"name": made.resource_name})


def test_trigger_patch_honours_its_mask(client: Any) -> None:
    made = create(client, "deploy-mask")
    sent = {"resource_name": made.resource_name, "disabled": True, "filename": "other.yaml"}
    changed = client.update_build_trigger(
        request={"trigger": sent, "update_mask": FieldMask(paths=["disabled"])}
    )
    assert (changed.disabled, changed.filename) == (True, "pipelines/deploy.yaml")
    assert (changed.id, changed.create_time) == (made.id, made.create_time)
    sent["repository_event_config"] = {"push": {"branch": "^release$"}}
    paths = ["repository_event_config.push.branch"]
    changed = client.update_build_trigger(
        request={"trigger": sent, "update_mask": FieldMask(paths=paths)}
    )
    assert changed.repository_event_config.push.branch == "^release$"
    assert changed.repository_event_config.repository == made.repository_event_config.repository


def test_trigger_patch_without_a_mask_replaces(local: Local, client: Any) -> None:
    made = create(client, "deploy-whole")
    sent = {"name": "deploy-whole", "filename": "other.yaml"}
    changed = local.rest("PATCH", f"v1/{made.resource_name}?alt=json", sent).json()
    assert changed["id"] == made.id
    assert changed["filename"] == "other.yaml"
    assert "includedFiles" not in changed


def test_global_and_regional_triggers_are_apart(local: Local, client: Any) -> None:
    made = client.create_build_trigger(project_id=PROJECT, trigger=trigger("deploy-global"))
    assert made.resource_name == f"projects/{PROJECT}/locations/global/triggers/{made.id}"
    assert client.get_build_trigger(project_id=PROJECT, trigger_id=made.id) == made
    assert local.rest("GET", f"v1/{PARENT}/triggers/{made.id}").status_code == 404
    with pytest.raises(BadRequest):
        create(client, "no spaces")


def test_project(local: Local) -> None:
    body = local.rest("GET", f"v1/projects/{PROJECT}?alt=json").json()
    assert (body["projectId"], body["lifecycleState"]) == (PROJECT, "ACTIVE")
    assert body["projectNumber"].isdigit()
    assert local.rest("GET", f"v1/projects/{body['projectNumber']}").json() == body


def test_services_are_enabled_by_operations(local: Local) -> None:
    services = f"v1/projects/{PROJECT}/services"
    done = local.rest("POST", f"{services}/run.googleapis.com:enable", {}).json()
    assert done["done"] is True
    assert done["response"]["service"]["state"] == "ENABLED"
    assert local.rest("GET", f"v1/{done['name']}").json() == done
    ids = ["aiplatform.googleapis.com", "storage.googleapis.com"]
    local.rest("POST", f"{services}:batchEnable", {"serviceIds": ids})
    query = "filter=state:ENABLED&fields=services/name,nextPageToken"
    number = local.rest("GET", f"v1/projects/{PROJECT}").json()["projectNumber"]
    names = {body["name"] for body in local.rest("GET", f"{services}?{query}").json()["services"]}
    assert names >= {f"projects/{number}/services/{name}" for name in ids}
    local.rest("POST", f"{services}/run.googleapis.com:disable", {})
    got = local.rest("GET", f"{services}/run.googleapis.com").json()
    assert got["state"] == "DISABLED"
    assert local.rest("GET", f"{services}/never.googleapis.com").json()["state"] == "DISABLED"
