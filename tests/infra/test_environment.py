"""Random settings: valid ones synthesize to JSON that fits the schema, broken ones are refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from infra import manifest, pipelines, settings, toml_file, topics
from infra.environment import REGIONS, Environment
from infra.errors import InputError
from infra.schema import check
from infra.stack import declare
from tests.infra.synth import ROOT

EXAMPLES = 200
LABEL = st.from_regex(r"[a-z0-9_-]{1,63}", fullmatch=True)
GROUP = st.from_regex(r"[a-z]{1,10}@[a-z]{1,10}\.example", fullmatch=True)
DAYS = st.integers(1, 3650)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A table of which any keys may be left out."""
    return st.fixed_dictionaries({}, optional=fields)


BANK = optional(
    deletion_policy=st.just("PREVENT"),
    embedding_model=st.from_regex(r"[a-z][a-z0-9.-]{1,30}", fullmatch=True),
    created_days=DAYS,
    generated_days=DAYS,
    updated_days=DAYS,
    revision_days=DAYS,
    revisions=st.booleans(),
)
RULE = optional(
    event_count=st.integers(1, 100),
    fixed_interval_minutes=st.integers(1, 1440),
    idle_minutes=st.integers(1, 1440),
)
BUILD = optional(
    repository=st.from_regex(
        r"[a-z][a-z0-9-]{0,20}/[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True
    ),
    remote_uri=st.just("https://git.example/acme/agents.git"),
    branch=st.just("^release$"),
    promote_to=st.sampled_from(["dev", "prod"]),
    worker_pool=st.sampled_from(["default", "private"]),
    disk_gb=st.integers(100, 4000),
)
GROUPS = optional(
    viewer=GROUP, releaser=GROUP, approver=GROUP, memory_officer=GROUP, break_glass=GROUP
)
ALERTS = optional(email=GROUP, errors_per_5_minutes=st.integers(1, 10_000))
BUDGET = st.fixed_dictionaries(
    {
        "billing_account": st.from_regex(r"[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}", fullmatch=True),
        "amount": st.integers(1, 100_000_000),
    }
)


@st.composite
def environments(draw: st.DrawFn) -> dict[str, Any]:
    """The data of a valid environment file."""
    region = draw(st.sampled_from(sorted(REGIONS)))
    data: dict[str, Any] = {
        "name": draw(st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?", fullmatch=True)),
        "project": draw(st.from_regex(r"[a-z][a-z0-9-]{4,14}[a-z0-9]", fullmatch=True)),
        "region": region,
        "endpoint": "google",
        "credentials": "application-default",
        "provider": "google",
    }
    extra = optional(
        name_prefix=st.from_regex(r"[a-z][a-z0-9]{0,4}", fullmatch=True),
        memory=st.sampled_from(["bank", "none"]),
        deletion_policy=st.sampled_from(["DELETE", "FORCE", "PREVENT", "ABANDON"]),
        kms_key=st.just(f"projects/p/locations/{region}/keyRings/r/cryptoKeys/k"),
        owner=optional(team=LABEL, cost_centre=LABEL),
        bank=BANK,
        build=BUILD,
        groups=GROUPS,
        alerts=ALERTS,
        budget=BUDGET,
        network=st.just({"subnetwork": f"projects/acme-x/regions/{region}/subnetworks/agents"}),
        adopt=st.just({"router": "1234"}),
        databricks=st.just(
            {"host": "https://x.example", "warehouse": "w1", "schema": "main.acme", "replan_job": 7}
        ),
        bigquery=st.just({"dataset": "acme-data.marketing"}),
    )
    data |= draw(extra)
    if "databricks" in data and "bigquery" in data:
        kinds = st.sampled_from(["sample", "bigquery", "databricks"])
        data["data"] = draw(optional(marketing=kinds, supply=kinds))
    if "bank" in data and draw(st.booleans()):
        data["bank"] |= {"generation_model": "gemini-3-flash"} | draw(RULE)
    if draw(st.booleans()):
        ttl = draw(st.integers(1, 720))
        data |= {"ephemeral": True, "ttl_hours": ttl, "deletion_policy": "FORCE"}
        data["bank"] = data.get("bank", {}) | {"deletion_policy": "FORCE"}
    return data


# (key, a value that is wrong for a stated reason)
BROKEN: list[tuple[str, Any]] = [
    ("name", "Upper"),  # Google's label rule
    ("name", "x" * 21),
    ("project", "short"),  # IDs have 6 to 30 characters
    ("project", "acme_agents"),
    ("region", "us-central"),
    ("region", "global"),  # engines are regional
    ("endpoint", "azure"),
    ("credentials", "key-file"),
    ("provider", "aws"),
    ("terraform", "latest"),
    ("model", "gpt-5"),
    ("memory", True),
    ("name_prefix", "-x"),
    ("name_prefix", "elevenchars"),
    ("ephemeral", "perhaps"),
    ("ttl_hours", 0),
    ("ttl_hours", 721),
    ("deletion_policy", "KEEP"),
    ("kms_key", "projects/p/keys/k"),
    ("owner.team", "Data Team"),
    ("owner.cost_centre", "x" * 64),
    ("bank.deletion_policy", "DELETE"),  # memories outlive a destroy
    ("bank.created_days", 0),
    ("bank.revision_days", 3651),
    ("bank.generation_model", "palm"),
    ("bank.revisions", "some"),
    ("bank.event_count", 101),
    ("build.repository", "agents"),
    ("build.remote_uri", "git@git.example:acme/agents.git"),
    ("build.worker_pool", "shared"),
    ("build.disk_gb", 99),
    ("build.audit_schedule", "daily"),
    ("groups.viewer", "everyone"),
    ("alerts.email", "nobody"),
    ("alerts.runbooks", "http://plain.example"),
    ("alerts.errors_per_5_minutes", 0),
    ("budget", {"billing_account": "0", "amount": 1}),
    ("budget", {"billing_account": "012345-6789AB-CDEF01", "amount": 0}),
    ("network.subnetwork", "agents"),
    ("data.marketing", "oracle"),
    ("bigquery.dataset", "marketing"),  # no project
    ("databricks.host", "http://plain.example"),
    ("databricks", {"host": "local"}),  # in the cloud
    ("adopt.router", "acb-demo"),  # an ID is a number
    ("write_only.key", "latest"),
    ("owner.manager", "maria"),  # unknown keys
    ("bank.topics", []),
    ("regoin", "us-central1"),
]


@cache
def committed() -> tuple[Any, Any, Any]:
    """The committed agents, topics and pipelines."""
    return manifest.load_all(ROOT), topics.load(ROOT), pipelines.load_all(ROOT)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / settings.FOLDER).mkdir(parents=True)
    return tmp_path


def load(root: Path, data: dict[str, Any]) -> Environment:
    """The environment of a file with this data, as TOML inline tables have it."""
    path = root / settings.FOLDER / f"{data['name']}.toml"
    path.write_text("\n".join(f"{key} = {toml(value)}" for key, value in data.items()))
    try:
        return settings.load(root, str(data["name"]))
    finally:
        path.unlink()


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {toml(v)}" for k, v in value.items()) + " }"
    return json.dumps(value)


FUNCTION_SCOPED = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)


@given(environments())
@hypothesis_settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=FUNCTION_SCOPED)
def test_valid_settings_synthesize_to_what_the_schema_takes(
    root: Path, data: dict[str, Any]
) -> None:
    env = load(root, data)
    resources = declare(env, *committed()).resources
    assert len(resources) > 60
    for resource in resources:
        check.check_resource(resource.type, resource.name, resource.fields)


@given(environments(), st.sampled_from(BROKEN))
@hypothesis_settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=FUNCTION_SCOPED)
def test_broken_settings_are_refused_by_field_name(
    root: Path, data: dict[str, Any], broken: tuple[str, Any]
) -> None:
    key, value = broken
    table: dict[str, Any] = data
    *parents, last = key.split(".")
    for part in parents:
        table = table.setdefault(part, {})
    table[last] = value
    if key == "bank.deletion_policy":
        data["ephemeral"] = False
        data.pop("ttl_hours", None)
    if key == "name":
        with pytest.raises(InputError) as caught:
            parsed(data)
        assert "name" in caught.value.what
        return
    with pytest.raises(InputError) as caught:
        load(root, data)
    said = [caught.value, *caught.value.also]
    assert any(key.partition(".")[0] in problem.what for problem in said), caught.value


def parsed(data: dict[str, Any]) -> Environment:
    """The model of the data, without a file: a wrong name is no file's name."""
    return toml_file.parse(Environment, toml_file.TomlFile("qa.toml", data, {}))


def test_regions_are_those_of_the_sdk() -> None:
    from google.cloud.aiplatform.constants import base

    assert frozenset(base.SUPPORTED_REGIONS) - {"global"} == REGIONS


@pytest.mark.parametrize(
    ("kind", "words"), [("bigquery", r"\[bigquery\]"), ("databricks", "host, warehouse and schema")]
)
def test_data_that_is_elsewhere_needs_to_say_where(root: Path, kind: str, words: str) -> None:
    data = {
        "name": "a", "project": "acme-x", "endpoint": "google",
        "credentials": "application-default", "provider": "google", "data": {"supply": kind},
        "databricks": {"host": "https://x.example", "replan_job": 7},
    }  # fmt: skip
    with pytest.raises(InputError, match=words):
        load(root, data)
