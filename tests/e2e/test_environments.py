"""Every environment on one laptop: planned, applied, changed, recovered, reaped and destroyed.

Over a copy of the checkout's files, so that new environments can be written. Any order will do:
what a test needs of another one is a fixture.
"""

from __future__ import annotations

import base64
import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.command import ROOT, Slipway

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("environments")]

ENGINE = "google_vertex_ai_reasoning_engine"
PLAYED = ("--platform", "local")


@dataclass(frozen=True)
class Team:
    """A checkout of a team's, and the command in it."""

    root: Path
    slipway: Slipway

    def ok(self, *args: str, **env: str) -> str:
        """Runs a command that must succeed; returns what it printed."""
        done = self.slipway.run(*args, env=env)
        assert done.returncode == 0, f"{args}: {done.stdout}{done.stderr}"
        return done.stdout

    def plan(self, env: str, *args: str, **variables: str) -> Any:
        """What an apply would change."""
        return json.loads(self.ok("infra", "plan", env, *PLAYED, "--json", *args, **variables))

    def rest(self, method: str, path: str, body: Any = None) -> Any:
        """One call of the platform's, as the operator."""
        endpoint = json.loads((self.slipway.home / "platform" / "platform.json").read_text())
        answer = httpx.request(
            method,
            f"{endpoint['endpoint']}/{path}",
            json=body,
            headers={"Authorization": "Bearer operator"},
            timeout=30,
        )
        assert answer.status_code in (200, 204), answer.text
        return answer.json() if answer.content else {}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    root = folder / "checkout"
    for name in ("infra", "agents", "pipelines"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    made = Team(root, Slipway(folder / "home", root))
    made.ok("up", "--no-apply")
    yield made
    made.slipway.run("down")


def bring_up(team: Team, env: str) -> None:
    team.ok("infra", "bootstrap", env, *PLAYED)
    team.ok("infra", "apply", env, *PLAYED, "--yes")


@pytest.fixture(scope="module")
def dev(team: Team) -> Team:
    bring_up(team, "dev")
    return team


@pytest.fixture(scope="module")
def deployed(dev: Team) -> Team:
    run = dev.slipway.run("secret", "set", "dev", "caller-signing-key", *PLAYED, text="k" * 40)
    assert run.returncode == 0, run.stderr
    dev.ok("deploy", "dev", *PLAYED)
    return dev


def test_bootstrap_again_changes_nothing_and_lists_what_a_person_does(dev: Team) -> None:
    done = dev.slipway.run("infra", "bootstrap", "dev", *PLAYED)
    assert done.returncode == 0
    assert "the state bucket is there; no APIs enabled now" in done.stderr
    assert "[ ] billing is linked to the project acme-agents-dev" in done.stdout


def test_a_second_plan_is_empty_before_and_after_a_deployment(deployed: Team) -> None:
    deployed.ok("infra", "plan", "dev", *PLAYED, "--exit-code")
    answer = deployed.ok("ask", "dev", "What did we spend on Acme Bold?", "--user", "sam", *PLAYED)
    assert "Acme Bold" in answer
    assert "€" in answer
    deployed.ok("infra", "plan", "dev", *PLAYED, "--exit-code")


def test_what_was_deployed_can_be_looked_at(deployed: Team) -> None:
    [first] = json.loads(deployed.ok("history", "dev", *PLAYED, "--json"))
    assert (first["number"], first["action"], first["status"]) == (1, "deploy", "succeeded")
    for facts in (agent["facts"] for agent in first["agents"].values()):
        grades = {fact["what"]: (fact["grade"], fact["ok"]) for fact in facts}
        assert grades["spec"] == ("declared", True)
        assert grades["files"] == grades["smoke"] == ("self-reported", True)
    assert deployed.ok("diff", "dev", *PLAYED).strip() == "No differences."
    [release] = json.loads(deployed.ok("release", "list", "dev", *PLAYED, "--json"))
    assert release == {"release": first["release"], "deployments": [1]}
    assert "marketing" in deployed.ok("release", "show", "dev", first["release"], *PLAYED)
    assert "serving after" in deployed.ok("logs", "dev", "supply", *PLAYED)
    [revision] = json.loads(deployed.ok("traffic", "dev", "router", *PLAYED, "--json"))
    assert (revision["percent"], revision["release"]) == (100, first["release"])
    assert "slipway deploy" in deployed.ok("owners", "spec")
    assert first["principal"] == "user:operator@slipway.local"
    scaling = json.loads(deployed.ok("scale", "dev", "supply", *PLAYED, "--json"))
    assert scaling["max_instances"] == 3
    planned = deployed.ok("scale", "dev", "supply", "--max-instances", "9", "--plan", *PLAYED)
    assert "deployment_spec.max_instances: 3 → 9" in planned
    refused = deployed.slipway.run("rollback", "dev", *PLAYED, "--yes")
    assert refused.returncode == 2
    assert "no earlier release" in refused.stderr


# (what CI overrides, what its resources' addresses begin with, which arguments change)
CHANGES = [
    ("OWNER__TEAM", "data", "google_", "labels"),
    ("BANK__REVISION_DAYS", "30", f"{ENGINE}.memory-bank", "context_spec"),
    ("BANK__REVISIONS", "false", f"{ENGINE}.memory-bank", "context_spec"),
    ("BUILD__BRANCH", "^release$", "google_cloudbuild_trigger",
     "source_to_build repository_event_config"),
    ("BUILD__AUDIT_SCHEDULE", "1 2 * * 3", "google_cloud_scheduler_job.memory-audit", "schedule"),
    ("ALERTS__ERRORS_PER_5_MINUTES", "9", "google_monitoring_alert_policy.agent-errors",
     "conditions"),
    ("ALERTS__RUNBOOKS", "https://acme.example/r", "google_monitoring_alert_policy",
     "documentation"),
    ("DELETION_POLICY", "DELETE", "google_", "deletion_policy force_destroy"),
]  # fmt: skip
# What the server computes anew whenever a resource changes.
COMPUTED = {"terraform_labels", "effective_labels", "update_time", "updated", "creation_record",
            "content", "crc32c", "generation", "md5hash", "md5hexhash", "media_link"}  # fmt: skip


@pytest.mark.parametrize(("key", "value", "address", "arguments"), CHANGES)
def test_a_changed_setting_plans_its_own_fields_and_no_other(
    dev: Team, key: str, value: str, address: str, arguments: str
) -> None:
    plan = dev.plan("dev", **{f"SLIPWAY_ENV__DEV__{key}": value})
    assert plan["changed"]
    assert [plan[kind] for kind in ("created", "replaced", "destroyed")] == [[], [], []]
    for changed in plan["changed"]:
        assert changed.startswith(address)
        fields = {field.partition(".")[0] for field in plan["fields"][changed]} - COMPUTED
        assert fields
        assert fields <= set(arguments.split())


def test_a_plan_that_loses_an_engine_must_be_allowed_by_name(dev: Team) -> None:
    moved = {"SLIPWAY_ENV__DEV__REGION": "us-east1"}
    done = dev.slipway.run("infra", "plan", "dev", *PLAYED, env=moved)
    assert done.returncode == 2
    assert "forced by region" in done.stdout
    assert "the plan would destroy marketing, memory-bank, router, supply" in done.stderr
    options = [f"--allow-destroy={n}" for n in ("marketing", "memory-bank", "router", "supply")]
    assert dev.plan("dev", *options, **moved)["replaced"]


def test_drift_is_reported_by_field_and_undone(dev: Team) -> None:
    name = json.loads(dev.ok("infra", "output", "dev", *PLAYED, "--json"))["engines"]["supply"]
    engine = dev.rest("GET", f"v1beta1/{name}")
    labels = {**engine["labels"], "team": "somebody"}
    dev.rest("PATCH", f"v1beta1/{name}?updateMask=labels", {"labels": labels})
    done = dev.slipway.run("infra", "drift", "dev", *PLAYED, "--json")
    assert done.returncode == 3, done.stderr
    [drift] = json.loads(done.stdout)
    assert (drift["address"], drift["fields"]) == (f"{ENGINE}.supply", ["labels"])
    dev.ok("infra", "apply", "dev", *PLAYED, "--yes")
    dev.ok("infra", "drift", "dev", *PLAYED)


def test_a_lost_state_is_rebuilt_from_what_is_there(dev: Team) -> None:
    state = "storage/v1/b/acme-agents-dev-dev-tfstate/o/terraform%2Fdev%2Fdefault.tfstate"
    before = dev.rest("GET", f"{state}?alt=media")
    dev.rest("DELETE", state)
    assert "to adopt" in dev.ok("infra", "recover", "dev", *PLAYED, "--yes")
    dev.ok("infra", "plan", "dev", *PLAYED, "--exit-code")
    after = dev.rest("GET", f"{state}?alt=media")

    def held(state: Any) -> set[tuple[str, str]]:
        return {(resource["type"], resource["name"]) for resource in state["resources"]}

    assert held(after) == held(before)


def test_a_memory_bank_made_by_hand_is_taken_over_with_its_memories(team: Team) -> None:
    home = "projects/acme-agents-staging/locations/us-central1"
    made = team.rest("POST", f"v1beta1/{home}/reasoningEngines", {"displayName": "acb-demo-memory"})
    name = str(made["name"]).rpartition("/operations/")[0]
    memory = {"fact": "Works on Western Europe", "scope": {"user_id": "maria"}}
    team.rest("POST", f"v1beta1/{name}/memories", memory)
    id_ = name.rpartition("/")[2]
    team.ok("infra", "bootstrap", "staging", *PLAYED)
    args = ("infra", "import", "staging", "memory-bank", id_, *PLAYED, "--yes")
    assert "to adopt" in team.ok(*args)
    assert "is in the state of staging already" in team.ok(*args)
    outputs = json.loads(team.ok("infra", "output", "staging", *PLAYED, "--json"))
    assert outputs["memory_bank"].endswith(f"/reasoningEngines/{id_}")
    assert len(team.rest("GET", f"v1beta1/{name}/memories")["memories"]) == 1
    team.ok("infra", "plan", "staging", *PLAYED, "--exit-code")


def test_a_write_only_secret_never_lies_in_the_state(team: Team) -> None:
    text = 'extends = "local.toml"\nname = "sealed"\nproject = "acme-sealed"\n'
    text += '[write_only]\ncaller-signing-key = "1"\n'
    (team.root / "infra" / "environments" / "sealed.toml").write_text(text)
    value = "a-value-that-nobody-may-see-0123456789"
    secret = {"TF_VAR_secret_caller_signing_key": value}
    team.ok("infra", "apply", "sealed", "--yes", **secret)
    team.ok("infra", "plan", "sealed", "--exit-code", **secret)
    version = "v1/projects/acme-sealed/secrets/caller-signing-key/versions/latest:access"
    assert base64.b64decode(team.rest("GET", version)["payload"]["data"]).decode() == value
    for path in (team.slipway.home / "terraform" / "sealed").rglob("*"):
        assert not path.is_file() or value.encode() not in path.read_bytes(), path
    state = "storage/v1/b/acme-sealed-sealed-tfstate/o/terraform%2Fsealed%2Fdefault.tfstate"
    assert value not in json.dumps(team.rest("GET", f"{state}?alt=media"))


def test_an_ephemeral_environment_is_reaped_when_its_time_is_over(team: Team) -> None:
    team.ok("env", "new", "try", "--project", "acme-try", "--extends", "local.toml",
            "--ttl-hours", "2")  # fmt: skip
    team.ok("infra", "apply", "try", "--yes")
    assert json.loads(team.ok("env", "reap", "--plan", "--json")) == []
    age(team.slipway.home / "platform" / "state.db", "acme-try-try-tfstate", hours=3)
    [found] = json.loads(team.ok("env", "reap", "--plan", "--json"))
    assert found["name"] == "try"
    assert "resources destroyed" in team.slipway.run("env", "reap", "--yes").stderr
    listed = team.rest("GET", "v1beta1/projects/acme-try/locations/us-central1/reasoningEngines")
    assert not listed.get("reasoningEngines")
    assert json.loads(team.ok("env", "reap", "--plan", "--json")) == []


def age(database: Path, bucket: str, *, hours: int) -> None:
    """Lets the objects of a bucket be so much older."""
    moment = (datetime.now(UTC) - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with sqlite3.connect(database, timeout=10) as connection:
        rows = connection.execute(
            "select name, body from resources where kind = 'object' and name like ?",
            (f"%{bucket}%",),
        ).fetchall()
        assert rows
        for name, body in rows:
            aged = json.dumps({**json.loads(body), "updated": moment})
            change = "update resources set body = ? where kind = 'object' and name = ?"
            connection.execute(change, (aged, name))


def test_what_must_not_be_destroyed_is_not(dev: Team) -> None:
    done = dev.slipway.run("infra", "destroy", "dev", *PLAYED, "--yes")
    assert done.returncode == 1
    assert "its deletion_policy is PREVENT" in done.stderr
    bring_up(dev, "dev")
    dev.ok("infra", "plan", "dev", *PLAYED, "--exit-code")
