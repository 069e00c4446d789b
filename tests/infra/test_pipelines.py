"""The pipelines: what each runs, and that a trigger holds its steps as they stand in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import pipelines
from infra.errors import InputError
from scripts.main import COMMANDS
from tests.infra.synth import ROOT, Stack

# Commands that come with the release engine and the memory operations.
LATER = {"promote", "rollback", "memory"}
RUNS = {
    "deploy": [["package"], ["deploy", "$_ENV"]],
    "pull-request": [["package"], ["infra", "plan", "$_ENV"], ["deploy", "$_ENV", "--plan"]],
    "promote": [["promote", "$_ENV", "$_TO", "--yes"]],
    "rollback": [["rollback", "$_ENV", "--yes"]],
    "memory-audit": [["memory", "audit", "$_ENV"]],
}


def test_each_pipeline_runs_our_commands() -> None:
    found = pipelines.load_all(ROOT)
    runs = {
        name: [s["args"] for s in build["step"] if s["entrypoint"].endswith("/slipway")]
        for name, build in found.items()
    }
    assert runs == RUNS
    used = {args[0] for steps in runs.values() for args in steps}
    assert used <= set(COMMANDS) | LATER
    for build in found.values():
        # A build that runs as an account of its own must say where its log goes.
        assert build["options"]["logging"] == "CLOUD_LOGGING_ONLY"


def test_a_trigger_holds_the_steps_of_its_file(stacks: dict[str, Stack]) -> None:
    found = pipelines.load_all(ROOT)
    for stack in stacks.values():
        for name, trigger in stack["resource"]["google_cloudbuild_trigger"].items():
            assert trigger["build"]["step"] == found[name]["step"]
            assert "filename" not in trigger
    pool = stacks["prod"]["resource"]["google_cloudbuild_trigger"]["deploy"]["build"]["options"]
    assert pool["worker_pool"] == "${google_cloudbuild_worker_pool.workers.id}"


def pipeline(root: Path, text: str) -> None:
    (root / "pipelines").mkdir()
    (root / "pipelines" / "x.yaml").write_text(text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("steps: []", "there are no steps"),
        ("steps: [", "cannot be read"),
        ("- a", "a table is expected"),
        ("steps: [{name: a, secretEnv: [b]}]", "'secretEnv' is not passed on"),
        ("steps: [{name: a}]\nartifacts: {}", "'artifacts' is not passed on"),
    ],
)
def test_what_cannot_be_passed_on_is_refused(tmp_path: Path, text: str, what: str) -> None:
    pipeline(tmp_path, text)
    with pytest.raises(InputError, match=r"pipelines/x\.yaml") as caught:
        pipelines.load_all(tmp_path)
    assert what in str(caught.value)


def test_braces_are_the_shells(tmp_path: Path) -> None:
    pipeline(tmp_path, 'steps: [{name: a, args: ["${HOME} %{x}", 5]}]')
    [step] = pipelines.load_all(tmp_path)["x"]["step"]
    assert step["args"] == ["$${HOME} %%{x}", 5]
