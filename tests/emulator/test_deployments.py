"""Deploying: what is refused or fails, with which reason, and what a process gets."""

from __future__ import annotations

import asyncio
import base64
import io
import os
import signal
import tarfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from google.genai.errors import ServerError

from .conftest import PROJECT, Deployer, Local


def ends(pid: int, seconds: float = 10.0) -> bool:
    """Whether a process (of whatever parent) ends in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


def test_queries_and_streams_through_the_client(sdk: Any, echo: str) -> None:
    engine = sdk.runtimes.get(name=echo)
    assert engine.query(text="hi") == {"text": "hi", "version": "1", "ready": True}

    async def both() -> tuple[list[str], str]:
        words = [item["word"] async for item in engine.async_stream_query(text="a b")]
        return words, await engine.async_query(text="up")

    assert asyncio.run(both()) == (["a", "b"], "UP")


def test_a_plain_generator_streams_too(sdk: Any, echo: str) -> None:
    engine = sdk.runtimes.get(name=echo)
    assert [item["word"] for item in engine.stream_query(text="one two")] == ["one", "two"]


def test_an_error_in_a_stream_comes_after_what_was_said(sdk: Any, echo: str) -> None:
    engine, words = sdk.runtimes.get(name=echo), []

    async def ask() -> None:
        async for item in engine.async_stream_query(text="one fail two"):
            words.append(item["word"])

    with pytest.raises(ServerError) as error:
        asyncio.run(ask())
    assert words == ["one"]
    assert "ValueError: told to" in str(error.value)
    assert "Traceback" not in str(error.value)


@pytest.mark.parametrize(
    ("method", "arguments", "said"),
    [("hidden", {}, "hidden"), ("query", {"wrong": 1}, "wrong"), ("async_query", {}, "text")],
)
def test_calls_that_the_engine_does_not_offer(
    deployer: Deployer, echo: str, method: str, arguments: dict[str, Any], said: str
) -> None:
    answer = deployer.query(echo, method, **arguments)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
    assert list(deployer.query(echo, text="x").json()) == ["output"]


def test_the_process_gets_the_declared_environment_and_only_its_own_code(
    deployer: Deployer, local: Local
) -> None:
    name = deployer.engine()
    spec = deployer.spec()
    spec["deployment_spec"]["env"].append({"name": "DECLARED", "value": "yes"})
    deployer.patch(name, spec)
    seen = deployer.query(name, "surroundings").json()["output"]
    metadata = seen["env"].pop("GCE_METADATA_HOST")
    assert metadata.startswith(local.endpoint.removeprefix("http://") + "/_metadata/")
    home = seen["env"].pop("HOME")
    assert Path(home).is_relative_to(local.state)
    engine = name.rpartition("/")[2]
    assert seen["env"] == {
        "DECLARED": "yes",
        "AGENT_PLATFORM_ENDPOINT": local.endpoint,
        "GOOGLE_CLOUD_PROJECT": PROJECT,
        "GOOGLE_CLOUD_LOCATION": "us-central1",
        "GOOGLE_CLOUD_AGENT_ENGINE_ID": engine,
        "GOOGLE_CLOUD_AGENT_ENGINE_LOCATION": "us-central1",
        "GCE_METADATA_IP": metadata,
        "PATH": os.environ["PATH"],
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # The project is installed in this Python; a bundle must not lean on it.
    assert seen["kit"] == {"infra": False, "services": False}
    assert seen["path"][0] == seen["cwd"] != str(Path.cwd())


@pytest.mark.parametrize("account", [None, "router-local@acme-local.iam.gserviceaccount.com"])
def test_application_default_credentials_are_the_engines_own(
    deployer: Deployer, local: Local, account: str | None
) -> None:
    name = deployer.engine()
    deployer.patch(name, deployer.spec() | ({"service_account": account} if account else {}))
    got = deployer.query(name, "token").json()["output"]
    number = name.split("/")[1]
    expected = account or f"service-{number}@gcp-sa-aiplatform-re.iam.gserviceaccount.com"
    whose = local.rest("GET", f"tokeninfo?access_token={got['token']}").json()["email"]
    assert (whose, got["email"], got["project"]) == (expected, expected, PROJECT)


def test_the_metadata_server_answers_nobody_else(local: Local, echo: str) -> None:
    engine = echo.rpartition("/")[2]
    path = f"_metadata/{engine}/computeMetadata/v1/instance/service-accounts/default/token"
    assert local.rest("GET", path).status_code == 403
    import httpx

    headers = {"Metadata-Flavor": "Google"}
    assert httpx.get(f"{local.endpoint}/{path}", headers=headers).status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"class_methods": []}, "class_methods"),
        ({"deployment_spec": {"env": [{"name": "PORT", "value": "1"}]}}, "PORT"),
        (
            {"deployment_spec": {"secret_env": [{"name": "K_SERVICE", "secret_ref": {}}]}},
            "K_SERVICE",
        ),
        ({"deployment_spec": {"env": [{"name": "A"}, {"name": "A"}]}}, "more than once"),
        ({"source_code_spec": {"python_spec": {"version": "3.11"}}}, "source_archive"),
        (
            {"source_code_spec": {"inline_source": {"source_archive": "no base64!"}}},
            "base64",
        ),
    ],
)
def test_specs_that_are_refused_before_anything_starts(
    deployer: Deployer, local: Local, change: dict[str, Any], said: str
) -> None:
    name = deployer.engine()
    answer = local.rest(
        "PATCH", f"v1beta1/{name}?updateMask=spec", {"spec": deployer.spec() | change}
    )
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
    assert "spec" not in local.rest("GET", f"v1/{name}").json()


@pytest.mark.parametrize(
    "spec",
    [{"container_spec": {"image_uri": "x/y:1"}}, {"source_code_spec": {"image_spec": {}}}],
)
def test_what_only_the_cloud_can_run_is_said_to_be_so(
    deployer: Deployer, local: Local, spec: dict[str, Any]
) -> None:
    answer = local.rest("PATCH", f"v1/{deployer.engine()}?updateMask=spec", {"spec": spec})
    assert (answer.status_code, answer.json()["error"]["status"]) == (501, "UNIMPLEMENTED")


def test_plain_and_url_safe_base64_are_the_same(deployer: Deployer) -> None:
    spec = deployer.spec()
    inline = spec["source_code_spec"]["inline_source"]
    raw = base64.b64decode(inline["source_archive"])
    inline["source_archive"] = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    assert "error" not in deployer.patch(deployer.engine(), spec)


SET_UP = "class A:\n    def set_up(self): raise RuntimeError('no way')\napp = A()\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"agent__py": "import nothing_like_this\n"}, "No module named 'nothing_like_this'"),
        ({"agent__py": "x = 1\n"}, "app"),
        ({"agent__py": SET_UP}, "RuntimeError: no way"),
        ({"requirements__txt": "pydantic==0.0.1 \\\n    --hash=sha256:00\n"}, "pydantic==0.0.1"),
        ({"requirements__txt": "# none\nno-such-package==1\n"}, "line 2: no-such-package"),
    ],
)
def test_an_engine_that_does_not_start_fails_its_operation_and_changes_nothing(
    deployer: Deployer, local: Local, files: dict[str, Any], said: str
) -> None:
    name = deployer.deployed()
    before = local.rest("GET", f"v1/{name}").json()
    operation = deployer.patch(name, deployer.spec(**files))
    assert operation["error"]["code"] == 3
    assert said in operation["error"]["message"]
    assert local.rest("GET", f"v1/{name}").json() == before
    assert deployer.query(name, text="old").json()["output"]["text"] == "old"


def member(name: str, link: str | None = None) -> tarfile.TarInfo:
    """A member of an archive: an empty file, or a link."""
    info = tarfile.TarInfo(name)
    if link is not None:
        info.type, info.linkname = tarfile.SYMTYPE, link
    return info


@pytest.mark.parametrize(
    "outside", [member("../escaped.py"), member("link", "/etc"), member("link", "../../escaped.py")]
)
def test_an_archive_that_leaves_its_folder_is_refused(
    deployer: Deployer, local: Local, outside: tarfile.TarInfo
) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.addfile(outside)
    spec = deployer.spec()
    archive = base64.b64encode(buffer.getvalue()).decode()
    spec["source_code_spec"]["inline_source"]["source_archive"] = archive
    operation = deployer.patch(deployer.engine(), spec)
    assert operation["error"]["code"] == 3
    assert "cannot be unpacked" in operation["error"]["message"]
    assert not list(local.state.rglob("escaped.py"))


def test_a_secret_that_is_not_there_is_named(deployer: Deployer) -> None:
    spec = deployer.spec()
    reference = {"secret": "no-such-secret", "version": "latest"}
    spec["deployment_spec"]["secret_env"] = [{"name": "KEY", "secret_ref": reference}]
    operation = deployer.patch(deployer.engine(), spec)
    assert operation["error"]["code"] == 5
    assert "KEY" in operation["error"]["message"]
    assert "no-such-secret" in operation["error"]["message"]


def test_a_secret_reaches_the_process_and_nothing_else(deployer: Deployer, local: Local) -> None:
    secrets = f"v1/projects/{PROJECT}/secrets"
    body: dict[str, Any] = {"replication": {"automatic": {}}}
    assert local.rest("POST", f"{secrets}?secretId=deployed-key", body).status_code == 200
    payload = {"payload": {"data": base64.b64encode(b"hush-hush").decode()}}
    assert local.rest("POST", f"{secrets}/deployed-key:addVersion", payload).status_code == 200
    name, spec = deployer.engine(), deployer.spec()
    reference = {"secret": "deployed-key", "version": "latest"}
    spec["deployment_spec"]["secret_env"] = [{"name": "KEY", "secret_ref": reference}]
    assert "error" not in deployer.patch(name, spec)
    assert deployer.query(name, "surroundings").json()["output"]["env"]["KEY"] == "hush-hush"
    assert "hush-hush" not in local.rest("GET", f"v1/{name}").text
    leak = "import os\nraise SystemExit('the key is ' + os.environ['KEY'])\n"
    failing = deployer.spec(agent__py=leak) | {"deployment_spec": spec["deployment_spec"]}
    message = deployer.patch(name, failing)["error"]["message"]
    assert "the key is ***" in message


def test_the_old_process_answers_what_it_began(deployer: Deployer, local: Local) -> None:
    name = deployer.deployed()
    body = {"classMethod": "stream_query", "input": {"text": "slow slow slow end"}}
    texts: list[str] = []
    thread = threading.Thread(
        target=lambda: texts.append(local.rest("POST", f"v1/{name}:streamQuery?alt=sse", body).text)
    )
    thread.start()
    source = (Path(__file__).parent / "bundles/echo/agent.py").read_text()
    deployer.patch(name, deployer.spec(agent__py=source.replace('version = "1"', 'version = "2"')))
    assert deployer.query(name).json()["output"]["version"] == "2"
    thread.join(30)
    assert '"end", "version": "1"' in texts[0]


def test_a_process_that_crashed_is_started_again(deployer: Deployer) -> None:
    name = deployer.deployed()
    answer = deployer.query(name, "crash")
    assert (answer.status_code, answer.json()["error"]["status"]) == (503, "UNAVAILABLE")
    assert deployer.query(name, text="back").json()["output"]["text"] == "back"


def test_an_engine_without_source_cannot_be_asked(deployer: Deployer) -> None:
    answer = deployer.query(deployer.engine())
    assert answer.json()["error"]["status"] == "FAILED_PRECONDITION"


def test_deleting_an_engine_ends_its_process(own: Local) -> None:
    deployer = Deployer(own)
    name = deployer.deployed()
    agent = deployer.query(name, "surroundings").json()["output"]["pid"]
    own.rest("DELETE", f"v1/{name}")
    assert ends(agent)
    assert not (own.state / "files/engines" / name.rpartition("/")[2]).exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_agents_end_with_the_platform_and_come_back_with_it(own: Local, number: int) -> None:
    deployer = Deployer(own)
    name = deployer.deployed()
    sdk = own.sdk()
    session = sdk.sessions.create(name=name, user_id="maria", config={"session_state": {"a": 1}})
    scope = {"app_name": "acme", "user_id": "maria"}
    sdk.memory_banks.memories.create(name=name, fact="Prefers euros", scope=scope)
    agent = deployer.query(name, "surroundings").json()["output"]["pid"]
    own.stop(number)
    assert ends(agent)
    own.start()
    sdk = own.sdk()
    assert deployer.query(name, text="again").json()["output"]["text"] == "again"
    assert sdk.sessions.get(name=session.response.name).session_state == {"a": 1}
    facts = [memory.fact for memory in sdk.memory_banks.memories.list(name=name)]
    assert facts == ["Prefers euros"]


def test_a_deployment_that_the_platform_did_not_live_to_end(own: Local) -> None:
    deployer = Deployer(own)
    name = deployer.deployed()
    slow = deployer.spec(agent__py="import time\ntime.sleep(60)\n")
    path = f"v1beta1/{name}?updateMask=spec"
    operation = own.rest("PATCH", path, {"spec": slow}).json()
    assert not operation.get("done")
    own.restart(signal.SIGKILL)
    ended = own.rest("GET", f"v1beta1/{operation['name']}").json()
    assert (ended["done"], ended["error"]["code"]) == (True, 10)
    assert deployer.query(name, text="old").json()["output"]["text"] == "old"


def test_changes_of_other_fields_during_a_deployment_are_kept(
    deployer: Deployer, local: Local
) -> None:
    name = deployer.engine()
    spec = {"spec": deployer.spec()}
    operation = local.rest("PATCH", f"v1/{name}?updateMask=spec", spec).json()
    local.rest("PATCH", f"v1/{name}?updateMask=labels", {"labels": {"during": "it"}})
    assert "error" not in local.rest("GET", f"v1/{operation['name']}").json()
    body = local.rest("GET", f"v1/{name}").json()
    assert (body["labels"], "spec" in body) == ({"during": "it"}, True)
