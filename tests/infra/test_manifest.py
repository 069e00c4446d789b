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
    ('name = "scout"', "name = 7", 1, "name"),
    ('name = "scout"', 'name = "Scout"', 1, "name"),
    ('name = "scout"', 'name = "scout"\nname = "scout"', None, "not valid TOML"),
    ('description = "Looks ahead."', 'description = ""', 2, "description"),
    ('description = "Looks ahead."', "description = ['a']", 2, "description"),
    ("agents.scout.agent:app", "agents/scout/agent.py", 3, "entrypoint"),
    ("agents.scout.agent:app", "agents.scout.agent:app()", 3, "entrypoint"),
    ("[env]", 'python = "3.9"\n[env]', None, "python"),
    ("[env]", "python = 3.11\n[env]", None, "python"),
    ("[env]", 'include = "data/*.csv"\n[env]', None, "include"),
    ("[env]", 'smoke = ""\n[env]', None, "smoke"),
    ("[env]", "requirements = 1\n[env]", None, "requirements"),
    ("[env]", 'renamed_from = "The Scout"\n[env]', None, "renamed_from"),
    ('app_name = "acme"', 'app_name = "Acme Inc"', None, "app_name"),
    ("[env]", 'uses_memory = "yes please"\n[env]', None, "uses_memory"),
    ("[env]", 'owner = "team"\n[env]', None, "owner"),
    ("MODE =", "GOOGLE_CLOUD_PROJECT =", None, "is set by Agent Runtime"),
    ("MODE =", "K_REVISION =", None, "is set by Agent Runtime"),
    ("MODE =", "SLIPWAY_BUNDLE =", None, "is set by slipway"),
    ("API_KEY =", "SLIPWAY_RELEASE =", None, "is set by slipway"),
    ('MODE = "fast"', "MODE = 1", None, "a text, { engine"),
    ('MODE = "fast"', 'MODE = { secret = "x" }', None, "a text, { engine"),
    ('"api-key"', "true", None, "API_KEY"),
    ('"api-key"', '"projects/p/secrets/api-key"', None, "API_KEY"),
    ('cpu = "4"', "cpu = 4", 13, "scaling.cpu"),
    ('cpu = "4"', 'memory = "64Gi"', 13, "scaling.memory"),
    ('cpu = "4"', 'memory = "4096Mi"', 13, "scaling.memory"),
    ('cpu = "4"', "min_instances = -1", 13, "scaling.min_instances"),
    ('cpu = "4"', "max_instances = 0", 13, "scaling.max_instances"),
    ('cpu = "4"', "container_concurrency = 0", 13, "scaling.container_concurrency"),
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
