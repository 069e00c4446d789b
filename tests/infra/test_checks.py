"""What a schema cannot say: conflicts, exactly-one-of, shapes, labels, IAM and references."""

from __future__ import annotations

from typing import Any

import pytest

from infra import checks
from infra.errors import InputError, SlipwayError
from infra.resource import Declarations, Resource

ENGINE = "google_vertex_ai_reasoning_engine"
HERE = "infra/environments/qa.toml:7"


def problems(*declared: tuple[str, str, dict[str, Any]]) -> list[SlipwayError]:
    stack = Declarations()
    for type_, name, fields in declared:
        Resource(stack, type_, name, origin=HERE, **fields)
    try:
        checks.check(stack.resources)
    except InputError as error:
        return [error, *error.also]
    return []


def bank(**config: Any) -> tuple[str, str, dict[str, Any]]:
    fields = {"display_name": "bank", "context_spec": {"memory_bank_config": config}}
    return ENGINE, "bank", fields


def topics(*given: dict[str, Any]) -> dict[str, Any]:
    return {"customization_configs": [{"memory_topics": list(given)}]}


CUSTOM = {"custom_memory_topic": {"label": "l", "description": "d"}}
MANAGED = {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}}
PATTERN = {"branch": "^main$"}


def trigger(**fields: Any) -> tuple[str, str, dict[str, Any]]:
    return "google_cloudbuild_trigger", "deploy", {"name": "deploy", **fields}


def member(member: str, role: str = "roles/viewer") -> tuple[str, str, dict[str, Any]]:
    fields = {"project": "acme-qa", "role": role, "member": member}
    return "google_project_iam_member", "x", fields


WRONG = [
    (bank(ttl_config={"default_ttl": "1s", "granular_ttl_config": {"create_ttl": "1s"}}),
     "default_ttl and granular_ttl_config exclude each other"),
    (bank(**topics({**CUSTOM, **MANAGED})), "needs exactly one of custom_memory_topic"),
    (bank(**topics({})), "needs exactly one of custom_memory_topic"),
    (trigger(filename="a.yaml", build={"step": [{"name": "x"}]}), "filename and build exclude"),
    (trigger(repository_event_config={"push": PATTERN, "pull_request": PATTERN}),
     "push and pull_request exclude"),
    (trigger(name="-deploy"), "name = '-deploy' must match"),
    (("google_service_account", "x", {"account_id": "short"}), "account_id = 'short' must match"),
    (("google_storage_bucket", "x", {"name": "Up", "location": "EU"}), "name = 'Up' must match"),
    ((ENGINE, "x", {"display_name": "x" * 129}), "display_name = "),
    ((ENGINE, "x", {"display_name": "x", "labels": {"Team": "x"}}), "Team = 'x' is no label"),
    ((ENGINE, "x", {"display_name": "x", "labels": {f"l{n}": "" for n in range(65)}}),
     "65 labels; at most 64"),
    (member("allUsers"), "member allUsers would make it public"),
    (member("maria@acme.example"), "'maria@acme.example' is no IAM member"),
    (member("group:a@acme.example", "viewer"), "role = 'viewer' is no role"),
    ((ENGINE, "x", {"display_name": "${google_kms_crypto_key.none.id}"}),
     "refers to google_kms_crypto_key.none.id, which is not in this stack"),
    (("google_secret_manager_secret", "x", {"secret_id": "x", "replication": {}}),
     "replication"),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "what"), WRONG, ids=[what[:40] for _, what in WRONG])
def test_refused_with_the_line_that_asked_for_it(
    declared: tuple[str, str, dict[str, Any]], what: str
) -> None:
    [problem] = problems(declared)
    assert what in problem.what
    assert problem.where == HERE
    assert problem.fix


RIGHT = [
    bank(**topics(CUSTOM, MANAGED)),
    trigger(build={"step": [{"name": "x"}]}, repository_event_config={"push": PATTERN}),
    member("serviceAccount:x@acme-qa.iam.gserviceaccount.com"),
    member("group:agents@acme.example", "projects/acme-qa/roles/custom.one"),
    (ENGINE, "x", {"display_name": "$${google_not.a.reference}"}),
    (ENGINE, "x", {"display_name": "x", "labels": {"team": "", "kit": "slip_way-1"}}),
]


@pytest.mark.parametrize("declared", RIGHT)
def test_what_the_provider_takes_is_taken(declared: tuple[str, str, dict[str, Any]]) -> None:
    assert problems(declared) == []


def test_two_of_one_name() -> None:
    [problem] = problems((ENGINE, "x", {"display_name": "a"}), (ENGINE, "x", {"display_name": "b"}))
    assert "is declared twice" in problem.what


def test_everything_at_once() -> None:
    assert len(problems(member("allUsers", "viewer"), trigger(name="-"))) == 3
