"""Entry points are described by the SDK's own generator, in a process with the bundle alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infra import manifest
from infra.errors import PackageError
from services.release import bundle, sources
from services.release.describe import Description, describe
from services.release.packaging import package_all

ADK_APP = """
from agentplatform.frameworks import AdkApp
from google.adk.agents import LlmAgent
from google.adk.apps import App

app = AdkApp(app=App(name="acme", root_agent=LlmAgent(name="writer", model="none")))
"""
A2A_APP = """
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from agentplatform.frameworks import A2aAgent

card = AgentCard(
    name="supply",
    version="1",
    capabilities=AgentCapabilities(),
    supported_interfaces=[
        AgentInterface(url="http://x", protocol_binding="HTTP+JSON", protocol_version="1.0")
    ],
)
app = A2aAgent(agent_card=card, agent_executor_builder=object)
"""


def found(root: Path, cache: Path, agent: str = "router") -> Description:
    declared = manifest.load(root, agent)
    tar = bundle.canonical_tar(sources.collect(root, declared))
    return describe(tar, bundle.digest(tar), declared, cache)


def refused(root: Path, cache: Path) -> PackageError:
    with pytest.raises(PackageError) as caught:
        found(root, cache, "supply")
    return caught.value


def test_methods_carry_mode_and_schema(checkout: Path, cache: Path) -> None:
    described = found(checkout, cache)
    assert described.framework == "custom"
    modes = {method["name"]: method["api_mode"] for method in described.class_methods}
    assert modes == {
        "query": "",
        "async_create_session": "async",
        "async_stream_query": "async_stream",
    }
    stream = next(m for m in described.class_methods if m["name"] == "async_stream_query")
    assert stream["parameters"]["required"] == ["message", "user_id"]
    assert stream["parameters"]["properties"]["session_id"] == {
        "anyOf": [{"type": "string"}, {"type": "null"}]
    }


def test_the_private_names_of_the_sdk_still_do_what_is_relied_on(
    checkout: Path, cache: Path
) -> None:
    """Pins google-cloud-aiplatform 2.7: an upgrade that changes a description must be seen."""
    (checkout / "agents/supply/agent.py").write_text(ADK_APP)
    adk = found(checkout, cache, "supply")
    assert adk.framework == "google-adk"
    assert len(adk.class_methods) == 20
    assert {"async_stream_query", "async_create_session", "get_session"} <= {
        method["name"] for method in adk.class_methods
    }
    (checkout / "agents/supply/agent.py").write_text(A2A_APP)
    a2a = found(checkout, cache, "supply")
    # Its own word, "a2a", is one that the API refuses.
    assert a2a.framework == "custom"
    assert {method["api_mode"] for method in a2a.class_methods} == {"a2a_extension"}
    assert json.loads(a2a.class_methods[0]["a2a_agent_card"])["name"] == "supply"


@pytest.mark.parametrize(
    ("code", "where", "what"),
    [
        ("x = 1\nimport no_such_package\n", "agents/supply/agent.py:2", "no_such_package"),
        ("from agents.shared import missing\n", "agents/supply/agent.py:1", "missing"),
        ("import infra.settings\n", "agents/supply/agent.py:1", "infra"),
        ("import services.release\n", "agents/supply/agent.py:1", "services"),
        ("other = 1\n", "agents/supply/agent.toml", "no attribute 'app'"),
        ("raise SystemExit('stop')\n", "agents/supply/agent.py:1", "SystemExit: stop"),
        ("import os\nos._exit(9)\n", "agents/supply/agent.toml", "exit code 9"),
        ("app = object()\n", "agents/supply/agent.toml", "wrap it in an AdkApp"),
        (
            "import urllib.request as r\n\nr.urlopen('http://127.0.0.1:1/')\n",
            "agents/supply/agent.py:3",
            "no network while packaging",
        ),
        ("import os\nos.environ['HOME_GROWN']\n", "agents/supply/agent.py:2", "HOME_GROWN"),
    ],
)
def test_what_cannot_be_imported_is_told_with_its_place(
    checkout: Path, cache: Path, code: str, where: str, what: str
) -> None:
    (checkout / "agents/supply/agent.py").write_text(code)
    error = refused(checkout, cache)
    assert error.where == where
    assert what in error.what
    assert error.fix


def test_neither_the_callers_environment_nor_a_real_value_reaches_the_import(
    checkout: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLERS_OWN", "1")
    text = (checkout / "agents/supply/agent.py").read_text()
    (checkout / "agents/supply/agent.py").write_text(
        "import os\nassert 'CALLERS_OWN' not in os.environ\n"
        "assert os.environ['CALLER_SIGNING_KEY'] == '0'\n"
        "print('printed while imported')\n" + text
    )
    assert found(checkout, cache, "supply").class_methods


def test_a_description_is_made_once_for_a_bundle_and_a_broken_entry_made_anew(
    checkout: Path, tmp_path: Path
) -> None:
    first = found(checkout, tmp_path, "supply")
    (entry,) = (tmp_path / "describe").iterdir()
    whole = entry.read_text()
    # A whole entry is believed: this one could not have been described again.
    assert found(checkout, tmp_path, "supply") == first
    for broken in (whole[:-20], whole.replace("limit", "limix")):
        entry.write_text(broken)
        assert found(checkout, tmp_path, "supply") == first
        assert entry.read_text() == whole
        assert list(entry.parent.iterdir()) == [entry]


def test_agents_are_packaged_side_by_side_and_one_fault_is_told(
    checkout: Path, cache: Path
) -> None:
    said: list[str] = []
    bundles = package_all(checkout, manifest.load_all(checkout), cache, said.append)
    assert sorted(bundles) == ["router", "supply"]
    assert bundles["router"].files == 10
    assert len(said) == 2
    (checkout / "agents/supply/agent.py").write_text("import no_such_package\n")
    with pytest.raises(PackageError, match="no_such_package"):
        package_all(checkout, manifest.load_all(checkout), cache, said.append)
