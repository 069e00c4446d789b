"""An environment file that is wrong is refused with its line and the edit that fixes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import settings
from infra.errors import InputError

GOOD = """\
name = "qa"
project = "acme-qa"
region = "europe-west1"
endpoint = "google"
credentials = "application-default"
provider = "google"
"""

# (what is changed, what it becomes, where the error is, what it says, what the fix names)
WRONG = [
    ('name = "qa"', 'name = "prod"', ":1", "but the file is called qa.toml", 'name = "qa"'),
    ('name = "qa"', "name = qa", "", "not valid TOML", "edit infra/environments/qa.toml"),
    ('name = "qa"', "", "", "the key 'name' is missing", "add name = …"),
    ('name = "qa"', 'name = "QA"', ":1", "name = 'QA'", "edit infra/environments/qa.toml"),
    ('"acme-qa"', '"qa"', ":2", "project = 'qa'", "edit"),
    ('"europe-west1"', '"europe"', ":3", "region = 'europe'", "edit"),
    ("region =", "regoin =", ":3", "unknown key 'regoin'", "did you mean 'region'?"),
    ('endpoint = "google"', 'endpoint = "azure"', ":4", "endpoint = 'azure'", "edit"),
    ('endpoint = "google"', 'endpoint = "local"', ":6", "must name the same platform", "edit"),
    ('"application-default"', '"local"', ":5", 'goes with endpoint = "local"', "edit"),
    ('provider = "google"', 'provider = "google"\nmodel = "gpt"', ":7", "model = 'gpt'", "edit"),
    ('provider = "google"', 'provider = "google"\nmemory = 1', ":7", "memory = 1", "edit"),
    (
        'provider = "google"',
        'provider = "google"\ndeletion_policy = "KEEP"',
        ":7",
        "deletion_policy = 'KEEP'",
        "edit",
    ),
    (
        'provider = "google"',
        'provider = "google"\n[build]\nrepository = "agents"',
        ":8",
        "build.repository = 'agents'",
        "edit",
    ),
    (
        'provider = "google"',
        'provider = "google"\nzzz = 1',
        ":7",
        "unknown key 'zzz'",
        "known keys: name, project",
    ),
]


def environment(root: Path, text: str) -> None:
    folder = root / settings.FOLDER
    folder.mkdir(parents=True)
    (folder / "qa.toml").write_text(text)


def test_the_defaults(tmp_path: Path) -> None:
    environment(tmp_path, GOOD)
    env = settings.load(tmp_path, "qa")
    assert (env.model, env.memory, env.deletion_policy) == ("offline", "bank", "PREVENT")


@pytest.mark.parametrize(("old", "new", "line", "what", "fix"), WRONG)
def test_wrong(tmp_path: Path, old: str, new: str, line: str, what: str, fix: str) -> None:
    assert old in GOOD
    environment(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        settings.load(tmp_path, "qa")
    assert caught.value.exit_code == 2
    assert caught.value.where == f"infra/environments/qa.toml{line}"
    assert what in caught.value.what
    assert fix in (caught.value.fix or "")


def test_unknown_environment_names_the_nearest(tmp_path: Path) -> None:
    environment(tmp_path, GOOD)
    with pytest.raises(InputError) as caught:
        settings.load(tmp_path, "qaa")
    assert "did you mean 'qa'?" in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / settings.FOLDER / "qa.toml").mkdir(parents=True)
    with pytest.raises(InputError, match=r"qa\.toml: cannot be read"):
        settings.load(tmp_path, "qa")


def test_every_committed_environment_is_valid() -> None:
    root = Path(__file__).parents[2]
    assert [settings.load(root, name).name for name in settings.names(root)] == [
        "dev",
        "local",
        "prod",
        "staging",
    ]
