"""Planted mistakes are found when a resource is constructed, each by its resource and argument."""

from __future__ import annotations

from typing import Any

import pytest

from infra.errors import InputError
from infra.schema import check

BUCKET = {"name": "acme", "location": "EU"}

# (resource type, arguments, what the error says, what the fix names)
WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "google_storage_bucket",
        BUCKET | {"versionning": {"enabled": True}},
        "unknown argument 'versionning'",
        "did you mean 'versioning'?",
    ),
    (
        "google_storage_bucket",
        BUCKET | {"versioning": {"enable": True}},
        "unknown argument 'versioning.enable'",
        "did you mean 'enabled'?",
    ),
    ("google_storage_bucket", {"name": "acme"}, "'location' is missing", "set location"),
    (
        "google_storage_bucket",
        BUCKET | {"versioning": {}},
        "'versioning.enabled' is missing",
        "set versioning.enabled",
    ),
    ("google_storage_bucket", BUCKET | {"location": None}, "'location' is missing", "set location"),
    (
        "google_storage_bucket",
        BUCKET | {"name": 1},
        "'name' must be a string, not int 1",
        "give name as a string",
    ),
    (
        "google_storage_bucket",
        BUCKET | {"force_destroy": "yes"},
        "must be a bool",
        "force_destroy as a bool",
    ),
    (
        "google_storage_bucket",
        BUCKET | {"labels": ["a"]},
        "must be a map of strings",
        "labels as a map",
    ),
    (
        "google_storage_bucket",
        BUCKET | {"labels": {"a": 1}},
        "must be a map of strings",
        "labels as a map",
    ),
    (
        "google_storage_bucket",
        BUCKET | {"soft_delete_policy": {"retention_duration_seconds": True}},
        "must be a number",
        "retention_duration_seconds as a number",
    ),
    ("google_storage_bucket", BUCKET | {"url": "x"}, "set by the provider", "remove url"),
    ("google_storage_bucket", BUCKET | {"versioning": True}, "is a block", "versioning as a table"),
    (
        "google_storage_bucket",
        BUCKET | {"versioning": [{"enabled": True}] * 2},
        "is given 2 times; it takes at most 1",
        "at most 1 time",
    ),
    (
        "google_storage_bucket",
        BUCKET | {"lifecycle_rule": [{"action": {"type": "Delete"}}]},
        "'lifecycle_rule.condition' is missing",
        "set lifecycle_rule.condition",
    ),
    (
        "google_storage_bucket",
        BUCKET | {"lifecycle_rule": [{"action": [], "condition": {}}]},
        "is given 0 times; it takes at least 1",
        "at least 1 time",
    ),
    (
        "google_secret_manager_secret",
        {"secret_id": "key"},
        "'replication' is missing",
        "set replication",
    ),
    ("google_storage_bukket", BUCKET, "unknown resource type", "did you mean 'google_storage_buc"),
    ("aws_s3_bucket", BUCKET, "unknown resource type", "rebuild.py"),
]


@pytest.mark.parametrize(("type_", "fields", "what", "fix"), WRONG)
def test_planted_mistakes(type_: str, fields: dict[str, Any], what: str, fix: str) -> None:
    with pytest.raises(InputError) as caught:
        check.check_resource(type_, "it", fields)
    assert caught.value.where == f"{type_}.it"
    assert what in caught.value.what
    assert fix in (caught.value.fix or "")


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "${var.name}", "location": "${var.location}", "force_destroy": "${var.force}"},
        BUCKET | {"labels": "${local.labels}", "versioning": "${local.versioning}"},
        BUCKET | {"lifecycle_rule": [{"action": {"type": "Delete"}, "condition": {"age": 1}}] * 2},
        BUCKET | {"cors": [], "lifecycle": {"prevent_destroy": True}, "depends_on": []},
    ],
)
def test_what_is_taken(fields: dict[str, Any]) -> None:
    check.check_resource("google_storage_bucket", "it", fields)


def test_an_escaped_interpolation_is_a_plain_string() -> None:
    with pytest.raises(InputError, match="must be a bool"):
        check.check_resource("google_storage_bucket", "it", BUCKET | {"force_destroy": "$${x}"})


def test_references() -> None:
    check.check_reference("google_storage_bucket", "it", "project_number")
    with pytest.raises(InputError) as caught:
        check.check_reference("google_storage_bucket", "it", "project_nummer")
    assert "did you mean 'project_number'?" in str(caught.value)


def test_the_provider() -> None:
    check.check_provider({"project": "acme", "vertex_ai_custom_endpoint": "http://x/v1/"})
    with pytest.raises(
        InputError, match=r"provider\.google: unknown argument 'vertex_ai_endpoint'"
    ):
        check.check_provider({"vertex_ai_endpoint": "http://x/v1/"})
