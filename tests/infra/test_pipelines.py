"""The build files: what the trigger names is there, and it runs commands that exist."""

from __future__ import annotations

from typing import Any

import yaml

from infra.constructs.triggers import DEPLOY_PIPELINE
from scripts.main import COMMANDS
from tests.infra.synth import ROOT


def test_the_deploy_pipeline_runs_our_commands() -> None:
    build: dict[str, Any] = yaml.safe_load((ROOT / DEPLOY_PIPELINE).read_text())
    used = [step["args"] for step in build["steps"] if step["entrypoint"].endswith("/slipway")]
    assert used == [["package"], ["deploy", "$_ENV"]]
    assert {args[0] for args in used} <= set(COMMANDS)
    # A build that runs as an account of its own must say where its log goes.
    assert build["options"]["logging"] == "CLOUD_LOGGING_ONLY"
