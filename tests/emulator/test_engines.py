"""Engines through Google's client and through plain REST: fields, masks, listing, deletion."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.genai.errors import ClientError

from .conftest import BUNDLES, Deployer, Local

METHODS = [{"name": "query", "api_mode": ""}]


def test_the_client_creates_gets_lists_updates_and_deletes(
    sdk: Any, local: Local, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sdk.runtimes.create(config={"display_name": "crud", "labels": {"a_b": "c"}})
    name = made.api_resource.name
    assert sdk.runtimes.get(name=name).api_resource.labels == {"a_b": "c"}
    listed = sdk.runtimes.list(config={"filter": 'display_name="crud"'})
    assert [item.api_resource.name for item in listed] == [name]
    # The client packs from the working directory, and polls an operation every ten seconds.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text((BUNDLES / "echo/agent.py").read_text())
    (tmp_path / "requirements.txt").write_text("pydantic>=2\n")
    config = {
        "display_name": "crud 2",
        "source_packages": ["agent.py", "requirements.txt"],
        "entrypoint_module": "agent",
        "entrypoint_object": "app",
        "requirements_file": "requirements.txt",
        "class_methods": METHODS,
        "env_vars": {"PLAIN": "x"},
        "agent_framework": "custom",
    }
    updated = sdk.runtimes.update(name=name, config=config)
    assert updated.query(text="hi")["text"] == "hi"
    body = local.rest("GET", f"v1/{name}").json()
    assert body["displayName"] == "crud 2"
    assert body["labels"] == {"a_b": "c"}
    assert body["spec"]["deploymentSpec"]["env"] == [{"name": "PLAIN", "value": "x"}]
    assert body["spec"]["classMethods"] == METHODS
    sdk.runtimes.delete(name=name)
    with pytest.raises(ClientError) as gone:
        sdk.runtimes.get(name=name)
    assert gone.value.code == 404


def test_the_source_never_comes_back(local: Local, echo: str) -> None:
    source = local.rest("GET", f"v1beta1/{echo}").json()["spec"]["sourceCodeSpec"]
    assert source == {
        "inlineSource": {},
        "pythonSpec": {"entrypointModule": "agent", "entrypointObject": "app"},
    }


def test_both_versions_and_both_spellings_of_the_project_name_one_engine(
    local: Local, deployer: Deployer
) -> None:
    name = deployer.engine()
    # Names have the project's number, as in the cloud.
    assert name.split("/")[1].isdigit()
    by_id = f"{local.parent}/reasoningEngines/{name.rpartition('/')[2]}"
    bodies = [
        local.rest("GET", f"{v}/{n}").json() for v in ("v1", "v1beta1") for n in (name, by_id)
    ]
    assert all(body == bodies[0] for body in bodies)


def test_a_nested_mask_changes_what_it_names_and_nothing_else(
    local: Local, deployer: Deployer
) -> None:
    name = deployer.deployed()
    mask = "spec.deployment_spec.min_instances,spec.deployment_spec.env"
    spec = {"deployment_spec": {"min_instances": 2}, "class_methods": [{"name": "other"}]}
    deployer.patch(name, spec, mask)
    kept = local.rest("GET", f"v1/{name}").json()["spec"]
    # env is in the mask and not in the body: cleared. class_methods is not in the mask: as it was.
    assert kept["deploymentSpec"] == {"minInstances": 2}
    assert "surroundings" in [method["name"] for method in kept["classMethods"]]
    assert deployer.query(name, text="still").json()["output"]["text"] == "still"


def test_a_source_that_the_mask_does_not_name_is_not_deployed(deployer: Deployer) -> None:
    name = deployer.deployed()
    other = deployer.spec(agent__py="import nothing_like_this\n")
    assert "error" not in deployer.patch(name, other, "spec.class_methods")
    assert deployer.query(name, text="as before").status_code == 200


def test_a_top_level_mask_leaves_the_spec_alone(local: Local, deployer: Deployer) -> None:
    name = deployer.deployed()
    before = local.rest("GET", f"v1/{name}").json()
    body = {"labels": {"agent": "x"}, "description": "not in the mask"}
    assert local.rest("PATCH", f"v1/{name}?updateMask=labels", body).json()["done"] is True
    after = local.rest("GET", f"v1/{name}").json()
    # Every change is a new etag and a new time; nothing else may differ.
    assert after["etag"] != before["etag"]
    changed = {key: after[key] for key in ("updateTime", "etag")}
    assert after == before | {"labels": {"agent": "x"}} | changed


def test_a_mask_of_the_whole_spec_replaces_it_and_without_one_what_is_given(
    local: Local, deployer: Deployer
) -> None:
    name = deployer.engine(labels={"a": "b"}, description="d")
    first = deployer.spec() | {"service_account": "old@acme-local.iam.gserviceaccount.com"}
    deployer.patch(name, first)
    deployer.patch(name, deployer.spec())
    assert "serviceAccount" not in local.rest("GET", f"v1/{name}").json()["spec"]
    assert local.rest("PATCH", f"v1/{name}", {"description": "e"}).status_code == 200
    body = local.rest("GET", f"v1/{name}").json()
    assert (body["description"], body["labels"]) == ("e", {"a": "b"})


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("?updateMask=spec.nothing", {"spec": {}}, "spec.nothing"),
        ("?updateMask=labels.a", {"labels": {}}, "labels.a"),
        ("", {"spec": {"deployment_spec": {"evn": []}}}, "reasoning_engine.spec.deploymentSpec"),
        ("?updateMask=labels", {"labels": {}, "color": "red"}, '"color"'),
    ],
)
def test_unknown_fields_and_masks_are_refused(
    local: Local, deployer: Deployer, path: str, body: dict[str, Any], said: str
) -> None:
    answer = local.rest("PATCH", f"v1beta1/{deployer.engine()}{path}", body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


@pytest.mark.parametrize("how", ["?force=true", ""])
def test_sessions_and_memories_hold_an_engine_back(
    local: Local, deployer: Deployer, sdk: Any, how: str
) -> None:
    name = deployer.engine()
    sdk.sessions.create(name=name, user_id="maria")
    sdk.memory_banks.memories.create(name=name, fact="Prefers euros", scope={"user_id": "maria"})
    refused = local.rest("DELETE", f"v1/{name}")
    assert refused.status_code == 400
    assert refused.json()["error"]["status"] == "FAILED_PRECONDITION"
    body = None if how else {"force": True}
    operation = local.rest("DELETE", f"v1/{name}{how}", body).json()
    # Terraform asks for the operation of an engine that is gone.
    assert local.rest("GET", f"v1/{operation['name']}").json()["done"] is True
    assert local.rest("GET", f"v1/{name}/memories").status_code == 404


def test_nobody_without_a_token(local: Local, echo: str) -> None:
    answer = local.rest("GET", f"v1beta1/{echo}", token=None)
    assert (answer.status_code, answer.json()["error"]["status"]) == (401, "UNAUTHENTICATED")


def test_pages(local: Local, deployer: Deployer) -> None:
    names = [deployer.engine(labels={"test": "pages"}) for _ in range(3)]
    path = f"v1/{local.parent}/reasoningEngines?filter=labels.test=pages&pageSize=2"
    first = local.rest("GET", path).json()
    second = local.rest("GET", f"{path}&pageToken={first['nextPageToken']}").json()
    assert [e["name"] for e in first["reasoningEngines"] + second["reasoningEngines"]] == names
    assert "nextPageToken" not in second
