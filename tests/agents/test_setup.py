"""Importing needs nothing; starting needs a complete environment and says what is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.shared import services
from agents.shared.settings import SetupError
from tests.agents.conftest import environment, served

ROOT = Path(__file__).parents[2]
IMPORT = """
import json, socket, sys
def refuse(*_, **__): raise OSError("an import opened a connection")
socket.socket.connect = refuse
from services.sdk import import_guarded
import_guarded()
for module in [module for module in sys.modules if module.startswith("services")]:
    del sys.modules[module]
from agents.{name}.agent import app
foreign = [m for m in sys.modules if m.partition(".")[0] in ("infra", "services", "scripts")]
print(json.dumps([app.register_operations(), foreign, "google.cloud.aiplatform" in sys.modules]))
"""


def router() -> Any:
    from agents.router.agent import app

    return app.clone()


@pytest.mark.parametrize("name", ["router", "marketing", "supply"])
def test_an_import_needs_no_environment_and_no_network(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", IMPORT.format(name=name)],
        cwd=ROOT, env={"PATH": "/usr/bin"}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    operations, foreign, heavy = json.loads(done.stdout)
    methods = {method for names in operations.values() for method in names}
    assert ("async_stream_query" if name == "router" else "on_message_send") in methods
    assert foreign == []
    assert not heavy


def test_a_complete_environment_is_enough(env: pytest.MonkeyPatch) -> None:
    router().set_up()
    served("marketing")
    served("supply")


@pytest.mark.parametrize("missing", sorted(set(environment()) - {"SLIPWAY_DATA", "SLIPWAY_MEMORY"}))
def test_the_router_says_what_is_missing(env: pytest.MonkeyPatch, missing: str) -> None:
    env.delenv(missing)
    with pytest.raises(SetupError, match=rf"{missing} is not set\n  fix: "):
        router().set_up()


@pytest.mark.parametrize("missing", ["SLIPWAY_MODEL", "CALLER_SIGNING_KEY"])
def test_a_specialist_says_what_is_missing(env: pytest.MonkeyPatch, missing: str) -> None:
    env.setenv(missing, "")
    with pytest.raises(SetupError, match=rf"{missing} is not set\n  fix: "):
        served("supply")


def test_a_missing_memory_bank_names_the_way_out(env: pytest.MonkeyPatch) -> None:
    env.delenv("MEMORY_BANK_ID")
    env.delenv("SLIPWAY_MEMORY")
    with pytest.raises(SetupError, match='memory = "none"'):
        router().set_up()


def test_without_memory_no_bank_is_needed(env: pytest.MonkeyPatch) -> None:
    env.delenv("MEMORY_BANK_ID")
    env.delenv("MEMORY_BANK_LOCATION")
    env.setenv("SLIPWAY_MEMORY", "none")
    router().set_up()


@pytest.mark.parametrize(
    ("name", "value"),
    [("SLIPWAY_MODEL", "gpt"), ("SLIPWAY_MEMORY", "maybe")],
)
def test_an_unknown_value_is_no_default(env: pytest.MonkeyPatch, name: str, value: str) -> None:
    env.setenv(name, value)
    with pytest.raises(SetupError, match=value):
        router().set_up()


def test_unknown_data_is_no_default(env: pytest.MonkeyPatch) -> None:
    env.setenv("SLIPWAY_DATA", "warehouse")
    with pytest.raises(SetupError, match="warehouse"):
        served("marketing")


def test_the_app_has_the_same_name_on_every_engine(env: pytest.MonkeyPatch) -> None:
    app = router()
    app.set_up()
    assert app._tmpl_attrs["runner"].app_name == "acme"
    assert app._tmpl_attrs["memory_service"]._agent_engine_id == "2009"
    assert app._tmpl_attrs["session_service"]._agent_engine_id == "2000"


def test_addresses_are_the_environments(env: pytest.MonkeyPatch) -> None:
    env.setenv("AGENT_PLATFORM_ENDPOINT", "https://us-central1-aiplatform.googleapis.com/")
    assert services.a2a_url("77") == (
        "https://us-central1-aiplatform.googleapis.com/v1beta1/projects/acme-test/"
        "locations/us-central1/reasoningEngines/77/a2a"
    )
