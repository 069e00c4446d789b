"""What is sent to Agent Runtime, compared with Google's SDK, and what its answers become."""

from __future__ import annotations

import base64
import gzip
import io
import tarfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from infra import manifest
from infra.errors import RemoteError
from services.release import bundle, remote, sources, spec, transport
from services.release.bundle import Bundle
from services.release.transport import Transport
from services.sdk import import_guarded
from tests.release.conftest import Api
from tests.release.targets import bundle_of, descriptor_of, target_at

ENGINE = descriptor_of("router", "supply").engines["router"].name
OPERATION = f"{ENGINE}/operations/7"
SPEC = {"agent_framework": "custom", "source_code_spec": {"python_spec": {"version": "3.11"}}}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeats without waiting long."""
    monkeypatch.setattr(remote, "BACKOFF_SECONDS", 0.001)


def camel(value: Any) -> Any:
    """Keys in camelCase but for what is data: the SDK mixes both ways, the API takes either."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    same = {}
    for key, item in value.items():
        head, *tail = key.split("_")
        name = head + "".join(part.title() for part in tail)
        same[name] = item if name in ("classMethods", "resourceLimits") else camel(item)
    return same


def sdk_update(api: Api, built: Bundle, wanted: dict[str, Any], packages: list[str]) -> None:
    """The same deployment by `runtimes.update`, with everything it can be told."""
    import_guarded()
    import agentplatform
    from google.genai.types import HttpOptions

    target = target_at(api.endpoint)
    client = agentplatform.Client(
        project="acme-local",
        location="us-central1",
        credentials=target.credentials,
        http_options=HttpOptions(base_url=api.endpoint),
    )
    deployment = wanted["deployment_spec"]
    env = {item["name"]: item["value"] for item in deployment["env"]}
    env |= {item["name"]: item["secret_ref"] for item in deployment["secret_env"]}
    client.runtimes.update(
        name=ENGINE,
        config={
            "source_packages": packages,
            "entrypoint_module": "agents.router.agent",
            "entrypoint_object": "app",
            "requirements_file": "requirements.txt",
            "python_version": built.python,
            "class_methods": built.class_methods,
            "agent_framework": built.framework,
            "identity_type": "SERVICE_ACCOUNT",
            "service_account": wanted["service_account"],
            "env_vars": env,
            "min_instances": 1,
            "max_instances": 3,
            "container_concurrency": 9,
            "resource_limits": {"cpu": "2", "memory": "4Gi"},
        },
    )


def test_the_request_is_what_the_sdk_sends(
    api: Api, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Same method, path and body. By design different: the mask is the whole `spec`, so that what
    is no longer declared goes away, and the archive is the bundle's own bytes."""
    declared = manifest.load(checkout, "router")
    files = sources.collect(checkout, declared)
    tar = bundle.canonical_tar(files)
    methods = [{"name": "query", "api_mode": "", "parameters": {"required": ["message"]}}]
    built = bundle_of("router", archive=gzip.compress(tar, mtime=0), class_methods=methods)
    descriptor = descriptor_of("router", "supply")
    wanted = spec.wanted(
        target_at(api.endpoint), descriptor, declared, built, "r1", {"caller-signing-key": "3"}
    )
    done = {"name": OPERATION, "done": True, "response": {"name": ENGINE}}
    api.answers[("PATCH", f"/v1beta1/{ENGINE}")] = [(200, done)]
    api.answers[("GET", f"/v1beta1/{OPERATION}")] = [(200, done)]
    api.answers[("GET", f"/v1beta1/{ENGINE}")] = [(200, {"name": ENGINE})]

    Transport(target_at(api.endpoint)).patch_spec(ENGINE, wanted, built.archive)
    (ours,) = api.requests
    api.requests.clear()
    folder = tmp_path / "unpacked"
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        opened.extractall(folder, filter="data")
    monkeypatch.chdir(folder)  # the SDK packs what lies below the working directory
    sdk_update(api, built, wanted, ["agents", "requirements.txt"])
    theirs = next(request for request in api.requests if request[0] == "PATCH")

    assert ours[1] == f"/v1beta1/{ENGINE}?updateMask=spec"
    path, _, mask = theirs[1].partition("?")
    assert path == f"/v1beta1/{ENGINE}"
    assert "spec.source_code_spec.inline_source.source_archive" in mask
    ours_body, theirs_body = camel(ours[2]), camel(theirs[2])
    sent = ours_body["spec"]["sourceCodeSpec"]["inlineSource"].pop("sourceArchive")
    assert base64.urlsafe_b64decode(sent) == built.archive
    assert theirs_body["spec"]["sourceCodeSpec"]["inlineSource"].pop("sourceArchive") != sent
    for body in (ours_body, theirs_body):
        body["spec"]["deploymentSpec"]["env"].sort(key=lambda item: item["name"])
    assert ours_body == theirs_body


def test_a_field_that_google_does_not_know_is_never_sent() -> None:
    with pytest.raises(ValueError, match="agent_framwork"):
        transport.request_spec(SPEC | {"agent_framwork": "custom"}, b"")


def test_reads_are_repeated(api: Api, quick: None) -> None:
    faults: list[tuple[int, Any]] = [(status, {}) for status in (503, 500, 429, 504)]
    api.answers[("GET", f"/v1beta1/{ENGINE}")] = [*faults, (200, {"name": ENGINE})]
    assert Transport(target_at(api.endpoint)).engine(ENGINE) == {"name": ENGINE}
    assert len(api.requests) == 5


def test_reads_end_after_five_attempts(api: Api, quick: None) -> None:
    busy = {"error": {"code": 503, "status": "UNAVAILABLE", "message": "try later"}}
    api.answers[("GET", f"/v1beta1/{ENGINE}")] = [(503, busy)]
    with pytest.raises(RemoteError, match="503: UNAVAILABLE try later") as caught:
        Transport(target_at(api.endpoint)).engine(ENGINE)
    assert len(api.requests) == 5
    assert caught.value.where == f"GET {ENGINE}"


@pytest.mark.parametrize(("status", "requests"), [(429, 2), (503, 2), (500, 1), (504, 1), (400, 1)])
def test_a_write_is_repeated_only_when_it_was_not_taken(
    api: Api, quick: None, status: int, requests: int
) -> None:
    taken = (200, {"name": OPERATION})
    api.answers[("PATCH", f"/v1beta1/{ENGINE}")] = [(status, {}), taken]
    with suppress(RemoteError):
        Transport(target_at(api.endpoint)).patch_spec(ENGINE, SPEC, b"x")
    assert len(api.requests) == requests


def test_the_server_says_how_long_to_wait() -> None:
    class Answer:
        headers = {"Retry-After": "3"}  # noqa: RUF012 - a constant

    assert transport._pause(Answer(), 1) == 3
    Answer.headers = {"Retry-After": "9999"}
    assert transport._pause(Answer(), 1) == 60
    Answer.headers = {}
    assert transport._pause(Answer(), 3) == remote.BACKOFF_SECONDS * 4


@pytest.mark.parametrize(
    ("status", "fix"),
    [(403, "role"), (404, "slipway up"), (429, "quota"), (400, "--debug")],
)
def test_a_refusal_carries_googles_words_and_what_to_do(
    api: Api, quick: None, status: int, fix: str
) -> None:
    error = {"error": {"code": status, "status": "SOME_STATUS", "message": "because of this"}}
    api.answers[("PATCH", f"/v1beta1/{ENGINE}")] = [(status, error)]
    with pytest.raises(RemoteError, match="SOME_STATUS because of this") as caught:
        Transport(target_at(api.endpoint)).patch_spec(ENGINE, SPEC, b"x")
    assert fix in str(caught.value.fix)


def test_refused_credentials_are_told(api: Api) -> None:
    api.answers[("GET", f"/v1beta1/{ENGINE}")] = [(401, {})]
    with pytest.raises(RemoteError, match="credentials were refused") as caught:
        Transport(target_at(api.endpoint)).engine(ENGINE)
    assert "gcloud auth" in str(caught.value.fix)


def test_another_program_at_the_address_is_told(api: Api) -> None:
    api.answers[("GET", f"/v1beta1/{ENGINE}")] = [(200, ["a list"])]
    with pytest.raises(RemoteError, match="something else answers"):
        Transport(target_at(api.endpoint)).engine(ENGINE)


def test_nobody_at_the_address_is_told(quick: None) -> None:
    with pytest.raises(RemoteError, match=r"cannot be reached: .*refused") as caught:
        Transport(target_at("http://127.0.0.1:1")).engine(ENGINE)
    assert "slipway up" in str(caught.value.fix)
