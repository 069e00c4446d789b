"""Secret Manager as Google's own client sees it."""

from __future__ import annotations

from typing import Any

import pytest
from google.api_core.exceptions import (
    BadRequest,
    Conflict,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
)
from google.auth.credentials import AnonymousCredentials
from google.cloud import secretmanager
from google.protobuf.field_mask_pb2 import FieldMask

from services.emulator import secretmanager as emulated
from services.emulator.errors import ApiError
from services.emulator.platform import Platform
from services.emulator.state import Store
from tests.emulator.conftest import PROJECT, SCHEMA, Local

PARENT = f"projects/{PROJECT}"
# Google's REST transport maps 400 to BadRequest or one of its children.
REFUSED = (BadRequest, InvalidArgument, FailedPrecondition)


@pytest.fixture(scope="module")
def client(local: Local) -> Any:
    return secretmanager.SecretManagerServiceClient(
        transport="rest",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": local.endpoint},
    )


def create(client: Any, secret_id: str) -> Any:
    secret = {"replication": {"automatic": {}}, "labels": {"environment": "local"}}
    return client.create_secret(
        request={"parent": PARENT, "secret_id": secret_id, "secret": secret}
    )


def add(client: Any, name: str, data: bytes) -> Any:
    return client.add_secret_version(request={"parent": name, "payload": {"data": data}})


def test_secret_life(local: Local, client: Any) -> None:
    made = create(client, "life")
    number = local.rest("GET", f"v1/projects/{PROJECT}").json()["projectNumber"]
    assert made.name == f"projects/{number}/secrets/life"
    for project in (PROJECT, number):
        got = client.get_secret(request={"name": f"projects/{project}/secrets/life"})
        assert got == made
    assert dict(got.labels) == {"environment": "local"}
    assert "automatic" in got.replication
    assert got.etag
    assert got.create_time.timestamp() > 0
    assert made.name in [secret.name for secret in client.list_secrets(parent=PARENT)]
    changed = client.update_secret(
        secret={"name": made.name, "labels": {"a": "b"}}, update_mask=FieldMask(paths=["labels"])
    )
    assert dict(changed.labels) == {"a": "b"}
    assert changed.etag != made.etag
    with pytest.raises(Conflict):
        create(client, "life")
    client.delete_secret(name=made.name)
    with pytest.raises(NotFound):
        client.get_secret(name=made.name)


def test_version_life(client: Any) -> None:
    name = create(client, "versions").name
    with pytest.raises(NotFound):
        client.access_secret_version(name=f"{name}/versions/latest")
    first, second = add(client, name, b"one"), add(client, name, b"two\x00\xff")
    assert (first.name, second.name) == (f"{name}/versions/1", f"{name}/versions/2")
    got = client.access_secret_version(name=f"{PARENT}/secrets/versions/versions/latest")
    assert (got.name, got.payload.data) == (second.name, b"two\x00\xff")
    client.disable_secret_version(name=second.name)
    with pytest.raises(REFUSED, match="DISABLED"):
        client.access_secret_version(name=f"{name}/versions/latest")
    assert [v.name for v in client.list_secret_versions(parent=name)] == [second.name, first.name]
    enabled = client.list_secret_versions(request={"parent": name, "filter": "state:ENABLED"})
    assert [version.name for version in enabled] == [first.name]
    client.enable_secret_version(name=second.name)
    destroyed = client.destroy_secret_version(name=first.name)
    assert destroyed.state.name == "DESTROYED"
    assert destroyed.destroy_time.timestamp() > 0
    with pytest.raises(REFUSED, match="DESTROYED"):
        client.access_secret_version(name=first.name)
    with pytest.raises(REFUSED, match="DESTROYED"):
        client.enable_secret_version(name=first.name)
    assert client.access_secret_version(name=second.name).payload.data == b"two\x00\xff"


def test_payload_checksum(client: Any) -> None:
    name = create(client, "checksum").name
    # The check value of CRC-32C: 0xE3069283 for the nine digits.
    payload = {"data": b"123456789", "data_crc32c": 0xE3069283}
    version = client.add_secret_version(parent=name, payload=payload)
    assert version.client_specified_payload_checksum
    got = client.access_secret_version(name=version.name)
    assert got.payload.data_crc32c == 0xE3069283
    with pytest.raises(REFUSED):
        client.add_secret_version(parent=name, payload={**payload, "data": b"other"})


def test_a_deleted_secret_starts_again(client: Any) -> None:
    name = create(client, "again").name
    add(client, name, b"old")
    client.delete_secret(name=name)
    create(client, "again")
    with pytest.raises(NotFound):
        client.access_secret_version(name=f"{name}/versions/1")
    assert add(client, name, b"new").name.endswith("/versions/1")


def test_bad_input(local: Local, client: Any) -> None:
    name = create(client, "bad").name
    with pytest.raises(REFUSED):
        create(client, "no.dots")
    with pytest.raises(REFUSED):
        add(client, name, b"")
    with pytest.raises(REFUSED):
        add(client, name, b"x" * (64 * 1024 + 1))
    with pytest.raises(NotFound):
        add(client, f"{PARENT}/secrets/none", b"x")
    for body in (
        {"payload": "x"},
        {"payload": {"data": "§"}},
        {"payload": {"data": "YQ==", "dataCrc32c": "x"}},
    ):
        assert local.rest("POST", f"v1/{name}:addVersion", body).status_code == 400


def test_payloads_lie_in_private_files_only(local: Local, client: Any) -> None:
    name = create(client, "private").name
    add(client, name, b"hunter2-in-no-log")
    _, number, _, _ = name.split("/")
    file = local.state / "files/secrets" / number / "private/1"
    assert file.read_bytes() == b"hunter2-in-no-log"
    assert file.stat().st_mode & 0o777 == 0o600
    client.access_secret_version(name=f"{name}/versions/1")
    for path in local.state.glob("*"):
        if path.is_file():
            assert b"hunter2" not in path.read_bytes(), path


def test_policy_by_the_client(client: Any) -> None:
    name = create(client, "policy").name
    member = f"serviceAccount:router-local@{PROJECT}.iam.gserviceaccount.com"
    role = "roles/secretmanager.secretAccessor"
    policy = client.get_iam_policy(request={"resource": name})
    policy.bindings.add(role=role, members=[member])
    client.set_iam_policy(request={"resource": name, "policy": policy})
    got = client.get_iam_policy(request={"resource": name})
    assert [(b.role, list(b.members)) for b in got.bindings] == [(role, [member])]


def test_access_inside_the_platform(local: Local, client: Any) -> None:
    """What fills an engine's secret env: by project id or number, with Google's own refusals."""
    name = create(client, "inside").name
    add(client, name, b"key")
    store = Store(local.state)
    platform = Platform(store, local.endpoint, SCHEMA)
    try:
        assert emulated.access(platform, PROJECT, "inside", "latest") == b"key"
        assert emulated.access(platform, name.split("/")[1], "inside", "1") == b"key"
        client.disable_secret_version(name=f"{name}/versions/1")
        for secret, version, status in (
            ("inside", "1", "FAILED_PRECONDITION"),
            ("inside", "2", "NOT_FOUND"),
            ("none", "latest", "NOT_FOUND"),
        ):
            with pytest.raises(ApiError) as caught:
                emulated.access(platform, PROJECT, secret, version)
            assert caught.value.status == status
    finally:
        store.close()
