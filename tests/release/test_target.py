"""A descriptor is believed only when it is of this environment and of a known schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.errors import RemoteError
from services.release.target import parse_descriptor
from tests.release.targets import descriptor_of, target_at

WHERE = "gs://acme-local-local-policy/descriptor.json"


def parse(**changes: Any) -> Any:
    body = {**descriptor_of("router").model_dump(), **changes}
    text = json.dumps({key: value for key, value in body.items() if value != "absent"}).encode()
    return parse_descriptor(text, target_at("http://127.0.0.1:1"), WHERE)


def test_a_descriptor_of_this_environment_is_taken() -> None:
    assert parse() == descriptor_of("router")
    assert parse(memory_bank=None).memory_bank is None


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"environment": "prod"}, "of environment 'prod', but local says 'local'"),
        ({"project": "other-project"}, "of project 'other-project'"),
        ({"region": "europe-west1"}, "of region 'europe-west1'"),
        ({"schema_version": 2}, "schema 2; this slipway knows 1"),
        ({"schema_version": "absent"}, "not a descriptor"),
        ({"engines": {"router": {"id": "1"}}}, "engines.router.name"),
        ({"surprise": 1}, "surprise"),
        ({"secrets": {"key": "projects/other/secrets/key"}}, "projects/other/secrets/key"),
        ({"project_number": "2", "secrets": {"key": "projects/22/secrets/key"}}, "another project"),
        (
            {"memory_bank": {"id": "1", "name": "projects/other/x", "location": "us-central1"}},
            "projects/other/x, which is of another project",
        ),
    ],
)
def test_another_descriptor_is_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(RemoteError) as caught:
        parse(**changes)
    assert what in caught.value.what
    assert caught.value.where == WHERE
    assert caught.value.fix


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"null", b'{"schema_version": null}', b"\xff"])
def test_what_is_no_descriptor_is_refused(text: bytes) -> None:
    with pytest.raises(RemoteError, match="not a descriptor"):
        parse_descriptor(text, target_at("http://127.0.0.1:1"), WHERE)


def test_credentials_are_not_shown() -> None:
    assert "operator" not in repr(target_at("http://127.0.0.1:1"))
