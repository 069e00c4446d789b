"""What an environment's stack holds, compared with the committed inventory and by rule."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infra import manifest, settings
from infra.constructs import identity
from infra.descriptor import Descriptor
from infra.schema import check
from tests.infra.conftest import Rewrite
from tests.infra.synth import GOLDEN, ROOT, Stack, inventory, read_stack, run_main

ENGINE = "google_vertex_ai_reasoning_engine"
REGENERATE = "if this is meant: python tests/infra/golden/regenerate.py, and read the diff"


def resources(stack: Stack) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (type_, name, {key: value for key, value in body.items() if key != "//"})
        for type_, bodies in stack["resource"].items()
        for name, body in bodies.items()
    ]


@pytest.mark.parametrize("name", ["dev", "local", "prod", "staging"])
def test_golden_inventory(stacks: dict[str, Stack], name: str) -> None:
    golden = json.loads((GOLDEN / f"{name}.json").read_text())
    assert inventory(stacks[name]) == golden, REGENERATE


@pytest.mark.parametrize("name", ["dev", "local", "prod", "staging"])
def test_every_resource_fits_the_schema(stacks: dict[str, Stack], name: str) -> None:
    for type_, label, fields in resources(stacks[name]):
        check.check_resource(type_, label, fields)
    [provider] = stacks[name]["provider"]["google"]
    check.check_provider(provider)


@pytest.mark.parametrize("name", ["dev", "local", "prod", "staging"])
def test_every_reference_leads_somewhere(stacks: dict[str, Stack], name: str) -> None:
    stack = stacks[name]
    found = re.findall(r"(google_\w+)\.([\w-]+)\.(\w+)", json.dumps(stack["resource"]))
    assert len(found) > 40
    for type_, label, attribute in found:
        assert label in stack["resource"][type_], f"{type_}.{label}"
        check.check_reference(type_, label, attribute)


def test_agents_engines_have_no_spec_and_ignore_it(stacks: dict[str, Stack]) -> None:
    engines = stacks["local"]["resource"][ENGINE]
    assert set(engines) == {"marketing", "router", "supply", "memory-bank"}
    for name in ("marketing", "router", "supply"):
        assert "spec" not in engines[name]
        assert engines[name]["lifecycle"] == {"ignore_changes": ["spec"]}
        assert engines[name]["labels"] == {
            "environment": "local",
            "agent": name,
            "kit": "slipway",
            "team": "agents",
            "cost_centre": "none",
        }
        assert engines[name]["deletion_policy"] == "FORCE"


def test_the_memory_bank_has_the_three_topics(stacks: dict[str, Stack]) -> None:
    bank = stacks["local"]["resource"][ENGINE]["memory-bank"]
    assert "spec" not in bank
    assert bank["labels"]["agent"] == "memory-bank"
    [config] = bank["context_spec"]["memory_bank_config"]["customization_configs"]
    managed, preferences, scope = config["memory_topics"]
    assert managed == {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}}
    assert preferences["custom_memory_topic"]["label"] == "analysis_preferences"
    assert scope["custom_memory_topic"]["label"] == "data_scope"


def test_secrets_have_no_value(stacks: dict[str, Stack]) -> None:
    for stack in stacks.values():
        assert "google_secret_manager_secret_version" not in stack["resource"]
        assert set(stack["resource"]["google_secret_manager_secret"]) == {"caller-signing-key"}


def test_buckets_are_closed_and_keep_versions(stacks: dict[str, Stack]) -> None:
    buckets = stacks["local"]["resource"]["google_storage_bucket"]
    assert {use: bucket["name"] for use, bucket in buckets.items()} == {
        "releases": "acme-local-local-releases",
        "control": "acme-local-local-control",
        "policy": "acme-local-local-policy",
        "artifacts": "acme-local-local-artifacts",
    }
    for bucket in buckets.values():
        assert bucket["uniform_bucket_level_access"] is True
        assert bucket["public_access_prevention"] == "enforced"
        assert bucket["versioning"] == {"enabled": True}
        assert bucket["soft_delete_policy"] == {"retention_duration_seconds": 604800}


def test_the_descriptor_holds_references_in_its_own_fields(stacks: dict[str, Stack]) -> None:
    body = stacks["local"]["resource"]["google_storage_bucket_object"]["descriptor"]
    assert body["name"] == "descriptor.json"
    expression = re.fullmatch(r"\$\{jsonencode\((.*)\)\}", body["content"])
    assert expression is not None
    found = Descriptor.model_validate_json(expression[1])
    assert found.engines["router"].id == f"${{{ENGINE}.router.name}}"
    assert found.engines["router"].name == f"${{{ENGINE}.router.id}}"
    assert found.memory_bank is not None
    assert found.memory_bank.location == "us-central1"
    assert found.project_number == "${tostring(google_storage_bucket.policy.project_number)}"


def test_a_local_stack_names_no_address_and_a_cloud_stack_no_variable(
    stacks: dict[str, Stack],
) -> None:
    [provider] = stacks["local"]["provider"]["google"]
    assert provider["vertex_ai_custom_endpoint"] == "${var.platform_endpoint}/v1/"
    assert provider["access_token"] == "${var.access_token}"
    assert stacks["local"]["variable"]["access_token"]["sensitive"] is True
    assert stacks["dev"]["provider"]["google"] == [
        {"project": "acme-agents-dev", "region": "us-central1"}
    ]
    assert "variable" not in stacks["dev"]
    for stack in stacks.values():
        assert stack["terraform"]["required_providers"]["google"]["version"] == "8.7.0"
        [backend] = stack["terraform"]["backend"].values()
        assert set(backend) == {"bucket", "prefix"}


def test_who_reads_bigquery_may_run_queries(
    checkout: Path, tmp_path: Path, rewrite: Rewrite
) -> None:
    cloud = "infra/environments/dev.toml"
    tables = '[bigquery]\ndataset = "acme-data.marketing"\n[data]\nmarketing = "bigquery"\n'
    rewrite(cloud, "[build]", f"{tables}[build]")
    assert run_main("dev", root=checkout, out=tmp_path / "out").returncode == 0
    resources = read_stack(tmp_path / "out", "dev")["resource"]
    members = resources["google_project_iam_member"].values()
    [only] = [row["member"] for row in members if row["role"] == "roles/bigquery.jobUser"]
    assert "marketing" in only
    apis = {item["service"] for item in resources["google_project_service"].values()}
    assert "bigquery.googleapis.com" in apis
    rewrite(cloud, 'marketing = "bigquery"', 'marketting = "bigquery"')
    wrong = run_main("dev", root=checkout, out=tmp_path / "out")
    assert wrong.returncode == 2
    assert "no agent 'marketting'" in wrong.stderr


def test_bindings_follow_the_manifests() -> None:
    agents = manifest.load_all(ROOT)
    rows = identity.table(agents, settings.load(ROOT, "dev"))
    assert all(row.needs for row in rows)
    got = {(row.who, row.role.removeprefix("roles/"), row.on) for row in rows}
    # Only the router declares uses_memory and the other agents' engines.
    assert {row for row in got if row[2] == "bank"} == {
        ("router", "aiplatform.memoryUser", "bank"),
        ("memory-audit", "aiplatform.memoryViewer", "bank"),
    }
    assert {row for row in got if row[2].startswith("engine/")} == {
        ("router", "aiplatform.user", "engine/marketing"),
        ("router", "aiplatform.user", "engine/supply"),
        ("router", "aiplatform.sessionUser", "engine/router"),
        *(
            (pipeline, "aiplatform.user", f"engine/{agent}")
            for pipeline in ("deployer", "promote", "rollback")
            for agent in agents
        ),
    }
    accessors = {row[0] for row in got if row[1] == "secretmanager.secretAccessor"}
    assert accessors == {name for name, agent in agents.items() if agent.secrets}
    # The deployer reads what Terraform allows, and cannot write it.
    assert {row[1] for row in got if row[2] == "bucket/policy"} == {"storage.objectViewer"}


def test_without_memory_there_is_no_bank(checkout: Path, tmp_path: Path, rewrite: Rewrite) -> None:
    rewrite("infra/environments/local.toml", 'memory = "bank"', 'memory = "none"')
    assert run_main("local", root=checkout, out=tmp_path / "out").returncode == 0
    stack = read_stack(tmp_path / "out", "local")
    assert "memory-bank" not in stack["resource"][ENGINE]
    assert "memory_bank" not in stack["output"]
    assert "aiplatform.memory" not in json.dumps(stack)
    assert '"memory_bank": null' in json.dumps(stack["resource"]).replace('\\"', '"')


def test_a_fourth_agent_needs_no_change_here(checkout: Path, tmp_path: Path) -> None:
    folder = checkout / "agents" / "price_watch"
    folder.mkdir()
    (folder / "agent.toml").write_text(
        'name = "price_watch"\ndescription = "d"\nentrypoint = "agents.price_watch.agent:app"\n'
        '[secrets]\nFEED_KEY = "feed-key"\n'
    )
    assert run_main("local", root=checkout, out=tmp_path / "out").returncode == 0
    stack = read_stack(tmp_path / "out", "local")
    assert stack["resource"][ENGINE]["price_watch"]["labels"]["agent"] == "price_watch"
    account = stack["resource"]["google_service_account"]["price_watch"]
    assert account["account_id"] == "price-watch-local"
    assert "feed-key" in stack["resource"]["google_secret_manager_secret"]
    readers = sorted(
        name
        for name in stack["resource"]["google_secret_manager_secret_iam_member"]
        if name.endswith("feed-key")
    )
    # The agent reads the value; those who deploy see that there is one.
    assert readers == [
        "deployer-secretmanager-viewer-secret-feed-key",
        "price_watch-secretmanager-secretAccessor-secret-feed-key",
        "promote-secretmanager-viewer-secret-feed-key",
        "rollback-secretmanager-viewer-secret-feed-key",
    ]


def test_words_of_a_topic_are_never_interpolated(
    checkout: Path, tmp_path: Path, rewrite: Rewrite
) -> None:
    rewrite("infra/memory_topics.toml", "How this person wants", "Even ${var.x} and %{if} of this")
    assert run_main("local", root=checkout, out=tmp_path / "out").returncode == 0
    text = json.dumps(read_stack(tmp_path / "out", "local"))
    assert "Even $${var.x} and %%{if} of this" in text
