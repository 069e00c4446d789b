"""Engines under Terraform: who owns which field, memory banks, and the local stack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.errors import TerraformError
from infra.settings import load
from infra.terraform import Connection, Terraform
from tests.emulator.conftest import LOCATION, PROJECT, ROOT, Local
from tests.emulator.provider_world import World, world
from tests.infra.synth import run_main, stack_path

TYPE = "google_vertex_ai_reasoning_engine"


@pytest.fixture
def tf(local: Local, tmp_path: Path) -> Iterator[World]:
    with world(local, tmp_path) as made:
        yield made


def engine(**arguments: Any) -> dict[str, Any]:
    return {"display_name": "one", "region": LOCATION, **arguments}


def live(local: Local, tf: World, name: str = "e") -> dict[str, Any]:
    found: dict[str, Any] = local.rest("GET", f"v1/{tf.stored(f'{TYPE}.{name}')['id']}").json()
    return found


def test_names(tf: World) -> None:
    tf.resources = {TYPE: {"e": engine()}}
    tf.apply()
    stored = tf.stored(f"{TYPE}.e")
    assert stored["name"].isdigit()
    assert stored["id"] == (
        f"projects/{PROJECT}/locations/{LOCATION}/reasoningEngines/{stored['name']}"
    )
    assert tf.plan().empty


def test_a_changed_label_is_sent_with_the_mask_labels(tf: World, local: Local) -> None:
    tf.resources = {TYPE: {"e": engine(labels={"kit": "a", "old": "x"}, description="words")}}
    tf.apply()
    tf.resources[TYPE]["e"]["labels"] = {"kit": "b"}

    assert tf.apply().changed == (f"{TYPE}.e",)

    [sent] = tf.recorder.changes()
    assert (sent.method, sent.query["updateMask"]) == ("PATCH", "labels")
    marked = {"kit": "b", "goog-terraform-provisioned": "true"}
    assert sent.json == {"labels": marked}
    assert live(local, tf)["labels"] == marked
    assert tf.plan().empty


def test_an_argument_that_is_gone_is_cleared(tf: World, local: Local) -> None:
    tf.resources = {TYPE: {"e": engine(description="words")}}
    tf.apply()
    del tf.resources[TYPE]["e"]["description"]
    tf.apply()
    [sent] = tf.recorder.changes()
    assert (sent.query["updateMask"], sent.json) == ("description", {})
    assert not live(local, tf).get("description")
    assert tf.plan().empty


def test_a_deployed_spec_is_not_terraforms(tf: World, local: Local) -> None:
    """The deploy tool owns `spec`: what it sends leaves the plan empty, before and after."""
    own = engine(labels={"kit": "a"}, lifecycle={"ignore_changes": ["spec"]})
    tf.resources = {TYPE: {"e": own}}
    tf.apply()
    spec = {
        "agentFramework": "google-adk",
        "deploymentSpec": {
            "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}],
            "minInstances": 1,
            "resourceLimits": {"cpu": "2", "memory": "4Gi"},
        },
        "classMethods": [{"name": "query", "api_mode": ""}],
    }
    name = tf.stored(f"{TYPE}.e")["id"]
    answer = local.rest("PATCH", f"v1/{name}?updateMask=spec", {"spec": spec})
    assert answer.status_code == 200
    before = live(local, tf)["spec"]
    assert before["deploymentSpec"]["resourceLimits"] == {"cpu": "2", "memory": "4Gi"}

    assert tf.plan().empty
    own["labels"] = {"kit": "b"}
    tf.apply()
    assert live(local, tf)["spec"] == before
    assert tf.plan().empty


def test_spec_as_terraforms_own(tf: World, local: Local) -> None:
    spec = {
        "agent_framework": "google-adk",
        "class_methods": '[ {"name": "query"} ]',
        "deployment_spec": {
            "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}],
            "max_instances": 3,
        },
    }
    tf.resources = {TYPE: {"e": engine(spec=spec)}}
    tf.apply()
    assert live(local, tf)["spec"]["classMethods"] == [{"name": "query"}]
    assert tf.plan().empty  # neither the order of a set nor blanks in JSON are a change
    spec["class_methods"] = '[{"name":"query"}]'
    assert tf.plan().empty
    spec["deployment_spec"]["env"] = [{"name": "A", "value": "1"}]  # type: ignore[index]
    tf.apply()
    [sent] = tf.recorder.changes()
    assert sent.query["updateMask"] == "spec"
    assert live(local, tf)["spec"]["deploymentSpec"]["env"] == [{"name": "A", "value": "1"}]
    assert tf.plan().empty


def test_a_memory_bank(tf: World, local: Local) -> None:
    topic = {"custom_memory_topic": {"label": "scope", "description": "Names only."}}
    managed = {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}}
    bank = {
        "customization_configs": [
            {"scope_keys": ["app_name", "user_id"], "memory_topics": [managed, topic]}
        ],
        "ttl_config": {"default_ttl": "86400s"},
    }
    tf.resources = {TYPE: {"e": engine(context_spec={"memory_bank_config": bank})}}
    tf.apply()
    held = live(local, tf)
    assert "spec" not in held
    [config] = held["contextSpec"]["memoryBankConfig"]["customizationConfigs"]
    assert config["memoryTopics"] == [
        {"managedMemoryTopic": {"managedTopicEnum": "USER_PREFERENCES"}},
        {"customMemoryTopic": {"label": "scope", "description": "Names only."}},
    ]
    assert tf.plan().empty

    topic["custom_memory_topic"]["description"] = "Never figures."
    tf.apply()
    [sent] = tf.recorder.changes()
    assert sent.query["updateMask"] == "contextSpec"
    assert tf.plan().empty


def test_drift_shows_and_is_repaired(tf: World, local: Local) -> None:
    tf.resources = {TYPE: {"e": engine(labels={"kit": "a"})}}
    tf.apply()
    name = tf.stored(f"{TYPE}.e")["id"]
    local.rest("PATCH", f"v1/{name}?updateMask=displayName", {"displayName": "other"})

    plan = tf.plan()

    assert (plan.changed, plan.drifted) == ((f"{TYPE}.e",), (f"{TYPE}.e",))
    tf.apply()
    assert live(local, tf)["displayName"] == "one"
    local.rest("DELETE", f"v1/{name}")
    assert tf.plan().created == (f"{TYPE}.e",)


def test_force_deletes_an_engine_with_sessions(tf: World, local: Local) -> None:
    tf.resources = {TYPE: {"e": engine()}}
    tf.apply()
    name = tf.stored(f"{TYPE}.e")["id"]
    assert local.rest("POST", f"v1beta1/{name}/sessions", {"userId": "maria"}).status_code == 200
    with pytest.raises(TerraformError, match="child resources"):
        tf.destroy()
    tf.resources[TYPE]["e"]["deletion_policy"] = "FORCE"
    tf.apply()
    assert tf.recorder.changes() == []
    tf.destroy()
    [sent] = tf.recorder.changes()
    assert (sent.method, sent.query["force"]) == ("DELETE", "true")
    assert local.rest("GET", f"v1/{name}").status_code == 404


def test_another_region_means_another_engine(tf: World) -> None:
    tf.resources = {TYPE: {"e": engine()}}
    tf.apply()
    tf.resources[TYPE]["e"]["region"] = "europe-west1"
    assert tf.plan().replaced == (f"{TYPE}.e",)


def test_import(tf: World) -> None:
    own = engine(labels={"kit": "a"}, deletion_policy="FORCE")
    tf.resources = {TYPE: {"e": own}}
    tf.apply()
    name = tf.stored(f"{TYPE}.e")["id"]
    tf.resources = {TYPE: {"again": own}}
    tf.imports = [{"to": f"{TYPE}.again", "id": name}]
    tf.removed = [{"from": f"{TYPE}.e", "lifecycle": {"destroy": False}}]
    plan = tf.apply()
    assert plan.adopted == (f"{TYPE}.again",)
    assert plan.created == plan.replaced == ()
    tf.imports = []
    assert tf.plan().empty
    assert tf.stored(f"{TYPE}.again")["id"] == name


def test_two_sources_are_refused(tf: World) -> None:
    source = {"container_spec": {"image_uri": "i"}, "source_code_spec": {}}
    tf.resources = {TYPE: {"e": engine(spec=source)}}
    with pytest.raises(TerraformError, match="container_spec and source_code_spec exclude"):
        tf.plan()


def test_the_local_environment(own: Local, tmp_path: Path) -> None:
    """What `slipway up` applies: made in one go, nothing left to change, nothing left behind."""
    out = tmp_path / "out"
    assert run_main("local", out=out).returncode == 0
    env = load(ROOT, "local")
    bucket = json.loads(stack_path(out, "local").read_text())["terraform"]["backend"]["gcs"]
    own.rest("POST", f"storage/v1/b?project={env.project}", {"name": bucket["bucket"]})
    connection = Connection(own.reattach, own.endpoint, "operator")
    work = tmp_path / "work"
    with Terraform(stack_path(out, "local"), work, env, connection, lambda line: None) as terraform:
        plan = terraform.plan()
        assert len(terraform.apply(plan)) == plan.count
        assert terraform.plan().empty
        outputs = terraform.output()
        base = f"storage/v1/b/{env.project}-local-policy/o/descriptor.json?alt=media"
        descriptor = own.rest("GET", base).json()
        assert descriptor["memory_bank"]["name"] == outputs["memory_bank"]
        names = {agent: body["name"] for agent, body in descriptor["engines"].items()}
        assert names == outputs["engines"]
        terraform.destroy()

    parent = f"v1/projects/{env.project}"
    location = f"{parent}/locations/{env.region}"
    left = {
        f"{location}/reasoningEngines": "reasoningEngines",
        f"{location}/triggers": "triggers",
        f"{parent}/serviceAccounts": "accounts",
        f"{parent}/secrets": "secrets",
    }
    assert [own.rest("GET", path).json().get(key, []) for path, key in left.items()] == [[]] * 4
    buckets = own.rest("GET", f"storage/v1/b?project={env.project}").json()["items"]
    assert [item["name"] for item in buckets] == [bucket["bucket"]]
    policy = own.rest("POST", f"{parent}:getIamPolicy", {}).json()
    assert policy.get("bindings", []) == []
