"""Environment files over each other: `extends`, variables of CI, `--platform`, and provenance."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import new_environment, settings
from infra.errors import InputError

SHARED = 'region = "europe-west1"\nendpoint = "google"\nprovider = "google"\n'
SHARED += 'credentials = "application-default"\n[owner]\nteam = "data"\n'
OWN = 'extends = "shared/cloud.toml"\nname = "qa"\nproject = "acme-qa"\n[owner]\n'
OWN += 'cost_centre = "cc1"\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / settings.FOLDER
    (folder / "shared").mkdir(parents=True)
    (folder / "shared" / "cloud.toml").write_text(SHARED)
    (folder / "qa.toml").write_text(OWN)
    return tmp_path


def source(root: Path, key: str, platform: settings.Platform | None = None) -> tuple[object, str]:
    found = settings.resolved(settings.load(root, "qa", platform))
    [one] = [item for item in found if item.key == key]
    return one.value, one.source


def test_tables_are_laid_over_each_other_key_by_key(root: Path) -> None:
    assert source(root, "region") == ("europe-west1", "infra/environments/shared/cloud.toml:1")
    assert source(root, "project") == ("acme-qa", "infra/environments/qa.toml:3")
    assert source(root, "owner.team") == ("data", "infra/environments/shared/cloud.toml:6")
    assert source(root, "owner.cost_centre") == ("cc1", "infra/environments/qa.toml:5")
    assert source(root, "model") == ("offline", "default")


def test_a_variable_of_ci_wins_over_the_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_ENV__QA__OWNER__TEAM", "ci")
    monkeypatch.setenv("SLIPWAY_ENV__QA__BANK__REVISION_DAYS", "30")
    monkeypatch.setenv("SLIPWAY_ENV__OTHER__REGION", "nowhere")
    assert source(root, "owner.team") == ("ci", "SLIPWAY_ENV__QA__OWNER__TEAM")
    assert source(root, "bank.revision_days") == (30, "SLIPWAY_ENV__QA__BANK__REVISION_DAYS")


@pytest.mark.parametrize(
    ("variable", "value", "what"),
    [
        ("SLIPWAY_ENV__QA__REGOIN", "x", "unknown key 'regoin'"),
        ("SLIPWAY_ENV__QA__REGION__X", "x", "'region' is no table"),
        ("SLIPWAY_ENV__QA__BANK__REVISION_DAYS", "0", "bank.revision_days = 0"),
    ],
)
def test_a_wrong_variable_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, what: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InputError) as caught:
        settings.load(root, "qa")
    assert caught.value.where == variable
    assert what in caught.value.what


def test_the_platform_is_laid_over_all_of_it(root: Path) -> None:
    assert source(root, "endpoint", "local") == ("local", "--platform local")
    assert source(root, "project", "local")[0] == "acme-qa"


@pytest.mark.parametrize(
    ("extends", "what"),
    [
        ('"none.toml"', "no such file"),
        ("1", "no such file"),
        ('"qa.toml"', "extend each other"),
    ],
)
def test_extends_that_leads_nowhere(root: Path, extends: str, what: str) -> None:
    (root / settings.FOLDER / "qa.toml").write_text(OWN.replace('"shared/cloud.toml"', extends))
    with pytest.raises(InputError, match=what) as caught:
        settings.load(root, "qa")
    assert caught.value.where == "infra/environments/qa.toml:1"


def test_a_file_that_extends_itself_through_another(root: Path) -> None:
    (root / settings.FOLDER / "shared" / "cloud.toml").write_text('extends = "qa.toml"\n')
    with pytest.raises(InputError, match="extend each other"):
        settings.load(root, "qa")


def second(root: Path, **over: str) -> None:
    text = OWN.replace('name = "qa"', 'name = "two"')
    for key, value in over.items():
        text = f'{key} = "{value}"\n' + "\n".join(
            line for line in text.splitlines() if not line.startswith(f"{key} =")
        )
    (root / settings.FOLDER / "two.toml").write_text(text)


def test_two_environments_cannot_share_a_project(root: Path) -> None:
    second(root)
    with pytest.raises(InputError) as caught:
        settings.load_all(root, ["qa"])
    assert "shares the project 'acme-qa' with infra/environments/qa.toml:3" in str(caught.value)
    assert caught.value.where == "infra/environments/two.toml:3"


def test_with_a_prefix_they_can(root: Path) -> None:
    second(root, name_prefix="b")
    assert [env.scope for env in settings.load_all(root, ["qa", "two"])] == ["qa", "b-two"]


def new(root: Path, name: str, project: str = "acme-new", **over: object) -> Path:
    options: dict[str, object] = {
        "region": None, "extends": "shared/cloud.toml", "name_prefix": "", "ttl_hours": None, **over
    }  # fmt: skip
    return new_environment.write(root, name, project=project, **options)  # type: ignore[arg-type]


def test_a_new_environment_is_valid_and_can_be_ephemeral(root: Path) -> None:
    assert new(root, "try", ttl_hours=8) == settings.FOLDER / "try.toml"
    made = settings.load(root, "try")
    assert (made.ephemeral, made.ttl_hours, made.bank.deletion_policy) == (True, 8, "FORCE")


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("qa", {}),
        ("Not-A-Name", {}),
        ("x" * 21, {}),
        ("fresh", {"project": "acme-qa"}),
        ("fresh", {"extends": "nothing.toml"}),
        ("fresh", {"region": "moon"}),
    ],
)
def test_a_new_environment_that_cannot_be_leaves_nothing(
    root: Path, name: str, over: dict[str, str]
) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.toml")}
    with pytest.raises(InputError):
        new(root, name, **over)
    assert {path: path.read_bytes() for path in root.rglob("*.toml")} == before
