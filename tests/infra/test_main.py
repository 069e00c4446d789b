"""`python -m infra.main`: the same bytes wherever it runs, and one line for what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.infra.conftest import Rewrite
from tests.infra.synth import ROOT, run_main, stack_path

LOCAL = "infra/environments/local.toml"


def test_bytes_do_not_depend_on_where_or_how(tmp_path: Path, checkout: Path) -> None:
    here = run_main("local", out=tmp_path / "one", PYTHONHASHSEED="1")
    there = run_main(
        "dev", "local", root=checkout, out=tmp_path / "two", PYTHONHASHSEED="2",
        HOME=str(tmp_path), TZ="Asia/Tokyo", LANG="C", SLIPWAY_HOME=str(tmp_path / "home"),
    )  # fmt: skip
    assert (here.returncode, there.returncode) == (0, 0)
    one, two = (stack_path(tmp_path / out, "local").read_bytes() for out in ("one", "two"))
    assert one == two
    assert b"127.0.0.1" not in one
    assert str(ROOT).encode() not in one


def test_the_default_is_every_environment(tmp_path: Path) -> None:
    done = run_main(out=tmp_path)
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == [
        "dev",
        "local",
        "prod",
        "staging",
    ]


@pytest.mark.parametrize(
    ("path", "old", "new", "says"),
    [
        (LOCAL, "region =", "regio =", "local.toml:4: unknown key 'regio'"),
        (LOCAL, 'name = "local"', "name = ", "local.toml: not valid TOML"),
        ("agents/supply/agent.toml", 'name = "supply"', 'name = "x"', "the folder is called"),
        ("infra/memory_topics.toml", "managed =", "manged =", "unknown key 'topic.0.manged'"),
    ],
)
def test_bad_files(
    checkout: Path, tmp_path: Path, rewrite: Rewrite, path: str, old: str, new: str, says: str
) -> None:
    rewrite(path, old, new)
    done = run_main("local", root=checkout, out=tmp_path / "out")
    assert done.returncode == 2
    head, fix = done.stderr.splitlines()
    assert head.startswith("error: ")
    assert says in head
    assert fix.startswith("  fix: ")
    assert not (tmp_path / "out").exists()


def test_an_unknown_environment(tmp_path: Path) -> None:
    done = run_main("locl", out=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'local'?" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run_main("local", out=tmp_path / "file" / "out")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 2
    assert "set CDKTF_OUTDIR to another one" in done.stderr
