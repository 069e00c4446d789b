"""What goes into a bundle, what never does, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import manifest
from infra.errors import PackageError
from services.release import sources


def paths(root: Path, agent: str) -> list[str]:
    return [file.path for file in sources.collect(root, manifest.load(root, agent))]


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def refused(root: Path, agent: str = "router") -> PackageError:
    with pytest.raises(PackageError) as caught:
        paths(root, agent)
    assert caught.value.where
    assert caught.value.fix
    return caught.value


def test_own_code_included_data_followed_code_and_the_lock_go_in_and_nothing_else(
    checkout: Path,
) -> None:
    # Not in: .env, tests, evals, caches, agent.toml, b.txt (not included), unused.py (not
    # imported), other.json (no module names it).
    assert paths(checkout, "router") == [
        "agents/__init__.py",
        "agents/router/__init__.py",
        "agents/router/agent.py",
        "agents/router/data/a.csv",
        "agents/shared/__init__.py",
        "agents/shared/inner/__init__.py",
        "agents/shared/inner/deep.py",
        "agents/shared/words.json",
        "agents/shared/words.py",
        "requirements.txt",
    ]


def test_an_agent_takes_only_the_shared_code_that_it_imports(checkout: Path) -> None:
    assert "agents/shared/words.py" not in paths(checkout, "supply")
    assert "agents/shared/inner/deep.py" in paths(checkout, "supply")


@pytest.mark.parametrize(
    "statement",
    [
        "import agents.shared.unused",
        "import agents.shared.unused as other",
        "from agents.shared import unused",
        "from agents.shared.unused import anything",
        "from ..shared import unused",
        "from ..shared.unused import anything",
        "def late():\n    from agents.shared import unused",
        "try:\n    import agents.shared.unused\nexcept ImportError:\n    pass",
    ],
)
def test_every_form_of_import_is_followed(checkout: Path, statement: str) -> None:
    write(checkout, "agents/supply/more.py", statement + "\n")
    assert "agents/shared/unused.py" in paths(checkout, "supply")


def test_imports_that_go_round_in_a_circle_end(checkout: Path) -> None:
    write(checkout, "agents/shared/inner/deep.py", "from agents.shared import words\nGREETING=''\n")
    assert "agents/shared/words.json" in paths(checkout, "supply")


def test_include_takes_folders_below(checkout: Path) -> None:
    write(checkout, "agents/router/data/more/c.csv", "1")
    edit(checkout, "agents/router/agent.toml", "data/*.csv", "data/**/*.csv")
    found = paths(checkout, "router")
    assert "agents/router/data/more/c.csv" in found
    assert "agents/router/data/a.csv" in found


@pytest.mark.parametrize("pattern", ["*", "**/*"])
def test_a_wide_include_cannot_bring_in_what_never_goes_in(checkout: Path, pattern: str) -> None:
    edit(checkout, "agents/router/agent.toml", "data/*.csv", pattern)
    forbidden = (".env", "tests/", "evals/", "__pycache__", "agent.toml", "test_more.py")
    found = paths(checkout, "router")
    assert not [path for path in found if any(part in path for part in forbidden)]


@pytest.mark.parametrize("pattern", ["data/*.parquet", ".env", "tests/*.py", "evals/*.json"])
def test_include_that_matches_nothing_that_may_go_in_is_refused(
    checkout: Path, pattern: str
) -> None:
    edit(checkout, "agents/router/agent.toml", "data/*.csv", pattern)
    assert "matches no file" in refused(checkout).what


@pytest.mark.parametrize("pattern", ["../supply/*.py", "/etc/passwd", ""])
def test_include_that_leads_out_of_the_folder_is_refused(checkout: Path, pattern: str) -> None:
    edit(checkout, "agents/router/agent.toml", "data/*.csv", pattern)
    error = refused(checkout)
    assert error.where == "agents/router/agent.toml"
    assert "leads out" in error.what


def test_a_missing_entry_point_names_the_file_to_write(checkout: Path) -> None:
    edit(checkout, "agents/router/agent.toml", "agents.router.agent:app", "agents.router.main:app")
    error = refused(checkout)
    assert error.where == "agents/router/agent.toml"
    assert "agents/router/main.py" in error.what


def test_an_entry_point_outside_agents_is_refused(checkout: Path) -> None:
    edit(checkout, "agents/router/agent.toml", "agents.router.agent:app", "json:dumps")
    assert "has no source file json.py" in refused(checkout).what


def test_missing_requirements_are_refused(checkout: Path) -> None:
    (checkout / "agents/requirements.lock").unlink()
    assert "requirements.lock" in refused(checkout).what


def test_a_syntax_error_has_its_line(checkout: Path) -> None:
    write(checkout, "agents/shared/words.py", "x = 1\ny = (\n")
    assert refused(checkout).where == "agents/shared/words.py:2"


def test_a_link_that_leads_out_is_refused(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.csv").write_text("secret")
    (checkout / "agents/router/data/z.csv").symlink_to(tmp_path / "outside.csv")
    error = refused(checkout)
    assert error.where == "agents/router/data/z.csv"
    assert "leads out" in error.what


def test_a_link_inside_is_taken_as_the_file(checkout: Path) -> None:
    (checkout / "agents/router/data/z.csv").symlink_to(checkout / "agents/shared/words.json")
    assert "agents/router/data/z.csv" in paths(checkout, "router")


def test_a_linked_folder_is_refused(checkout: Path, tmp_path: Path) -> None:
    (checkout / "agents/router/more").symlink_to(tmp_path)
    assert "symbolic link to a folder" in refused(checkout).what


@pytest.mark.parametrize("name", ["private.key", "store.p12", "cert.pem"])
def test_key_files_are_refused(checkout: Path, name: str) -> None:
    write(checkout, f"agents/router/data/{name}", "x")
    edit(checkout, "agents/router/agent.toml", "data/*.csv", "data/*")
    error = refused(checkout)
    assert error.where == f"agents/router/data/{name}"
    assert "key" in error.what
