"""A manifest that is wrong is refused with its line and the edit that fixes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import manifest
from infra.errors import InputError

GOOD = """\
name = "scout"
description = "Looks ahead."
entrypoint = "agents.scout.agent:app"
app_name = "acme"

[env]
MODE = "fast"

[secrets]
API_KEY = "api-key"

[scaling]
cpu = "4"
"""

# (what is changed, what it becomes, the line, what the error says)
WRONG = [
    ('name = "scout"', 'name = "other"', None, "the folder is called 'scout'"),
    ('description = "Looks ahead."\n', "", None, "the key 'description' is missing"),
    ("agents.scout.agent:app", "agents.scout.agent", 3, "entrypoint ="),
    ("description =", "descripton =", 2, "unknown key 'descripton'"),
    ("cpu =", "cpus =", 13, "did you mean 'cpu'?"),
    ("MODE =", "PORT =", None, "is set by Agent Runtime"),
    ("MODE =", "SLIPWAY_MODEL =", None, "is set by slipway"),
    ("MODE =", "API_KEY =", None, "declared both in [env] and in [secrets]"),
    ("MODE =", "mode =", None, "mode"),
    ('MODE = "fast"', 'MODE = { engine = "nobody" }', None, "no such agent"),
    ('MODE = "fast"', 'MODE = { memory_bank = "key" }', None, "memory_bank"),
    ('"api-key"', '"Api Key"', None, "API_KEY"),
    ('cpu = "4"', 'cpu = "3"', 13, "scaling.cpu"),
    ('cpu = "4"', 'cpu = "1"\nmemory = "8Gi"', None, "needs cpu = 2"),
    ('cpu = "4"', "min_instances = 5", None, "must not be greater than max_instances"),
    ('name = "scout"', 'name = "deployer"', None, "a name of slipway's own"),
]


def agent(root: Path, text: str, name: str = "scout") -> None:
    folder = root / manifest.FOLDER / name
    folder.mkdir(parents=True)
    (folder / manifest.FILE).write_text(text)


def test_a_good_one(tmp_path: Path) -> None:
    agent(tmp_path, GOOD)
    found = manifest.load_all(tmp_path)["scout"]
    assert (found.env, found.secrets, found.scaling.cpu) == (
        {"MODE": "fast"},
        {"API_KEY": "api-key"},
        "4",
    )


@pytest.mark.parametrize(("old", "new", "line", "what"), WRONG)
def test_wrong(tmp_path: Path, old: str, new: str, line: int | None, what: str) -> None:
    assert old in GOOD
    agent(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        manifest.load_all(tmp_path)
    where = caught.value.where or ""
    assert where.startswith("agents/scout/agent.toml")
    assert line is None or where.endswith(f":{line}")
    assert what in str(caught.value)
    assert caught.value.fix


def test_a_folder_without_a_manifest(tmp_path: Path) -> None:
    agent(tmp_path, GOOD)
    (tmp_path / "agents/empty").mkdir()
    with pytest.raises(InputError) as caught:
        manifest.load_all(tmp_path)
    assert (caught.value.where, caught.value.fix) == (
        "agents/empty",
        "write agents/empty/agent.toml, or remove the folder",
    )


def test_shared_code_is_no_agent(tmp_path: Path) -> None:
    agent(tmp_path, GOOD)
    for name in ("shared", "__pycache__", ".cache"):
        (tmp_path / "agents" / name).mkdir()
    assert list(manifest.load_all(tmp_path)) == ["scout"]


def test_no_agents_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no agent"):
        manifest.load_all(tmp_path)
