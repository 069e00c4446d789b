"""Bad input ends with one error that says where, what and the fix, before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scripts.conftest import Run

LOCAL = Path("infra/environments/local.toml")
ROUTER = Path("agents/router/agent.toml")


def edit(checkout: Path, file: Path, old: str, new: str) -> None:
    text = (checkout / file).read_text()
    assert old in text
    (checkout / file).write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("args", "what", "fix"),
    [
        (("status", "prd"), "there is no environment 'prd'", "known: "),
        (
            ("ask", "loacl", "x", "--user", "maria"),
            "no environment 'loacl'",
            "did you mean 'local'",
        ),
        (("statsu",), "No such command 'statsu'", "Did you mean 'status'"),
        (("ask", "local", "x"), "Missing option '--user'", "--help"),
        (("up", "--port", "0"), "0 is not in the range", "--help"),
        (("ask", "local", "x", "--user", " "), "--user: ", "--user NAME"),
        (("infra", "destroy", "local"), "needs a confirmation", "add --yes"),
        (("package", "rooter"), "there is no agent 'rooter'", "known: "),
    ],
)
def test_arguments(run: Run, checkout: Path, args: tuple[str, ...], what: str, fix: str) -> None:
    done = run(*args, cwd=checkout)
    assert done.returncode == 2
    assert what in done.stderr
    assert fix in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("file", "old", "new", "where", "what"),
    [
        (LOCAL, 'name = "local"', 'name = "local', "local.toml", "not valid TOML"),
        (LOCAL, 'project = "acme-local"\n', "", "local.toml", "'project' is missing"),
        (LOCAL, 'model = "offline"', 'modle = "offline"', "local.toml:", "did you mean 'model'"),
        (LOCAL, 'memory = "bank"', 'memory = "some"', "local.toml:", "'some'"),
        (LOCAL, 'name = "local"', 'name = "lokal"', "local.toml:", "the file is called local.toml"),
        (LOCAL, 'provider = "local"', 'provider = "google"', "local.toml", "the same platform"),
        (
            ROUTER,
            'name = "router"',
            'name = "rooter"',
            str(ROUTER),
            "the folder is called 'router'",
        ),
        (ROUTER, "uses_memory", "use_memory", str(ROUTER), "did you mean 'uses_memory'"),
        (ROUTER, '{ memory_bank = "id" }', '{ engine = "suply" }', str(ROUTER), "no such agent"),
        (ROUTER, "MEMORY_BANK_ID", "GOOGLE_CLOUD_PROJECT", str(ROUTER), "set by Agent Runtime"),
    ],
)
def test_files(
    run: Run, checkout: Path, file: Path, old: str, new: str, where: str, what: str
) -> None:
    edit(checkout, file, old, new)
    done = run("up", cwd=checkout)
    assert done.returncode == 2
    assert where in done.stderr
    assert what in done.stderr
    assert "fix: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(checkout.rglob("platform.json"))


def test_an_agent_without_its_manifest(run: Run, checkout: Path) -> None:
    (checkout / "agents" / "legal").mkdir()
    done = run("up", cwd=checkout)
    assert done.returncode == 2
    assert "agents/legal has no agent.toml" in done.stderr


def test_no_agent_at_all(run: Run, checkout: Path) -> None:
    for name in ("router", "marketing", "supply"):
        (checkout / ROUTER.with_name("agent.toml").parent.parent / name / "agent.toml").unlink()
        (checkout / "agents" / name).rename(checkout / f"gone-{name}")
    done = run("up", cwd=checkout)
    assert (done.returncode, "there is no agent" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [("status",), ("ask", "local", "x", "--user", "maria")])
def test_what_needs_the_platform_says_how_to_start_it(
    run: Run, checkout: Path, command: tuple[str, ...]
) -> None:
    done = run(*command, cwd=checkout)
    assert done.returncode == 1
    assert "the local platform does not run" in done.stderr
    assert "fix: slipway up" in done.stderr


def test_a_folder_that_cannot_be_written(run: Run, checkout: Path, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    done = run("up", cwd=checkout, SLIPWAY_HOME=str(in_the_way / "home"))
    assert done.returncode == 1
    assert str(in_the_way) in done.stderr
    assert "fix: " in done.stderr


def test_no_checkout(run: Run, tmp_path: Path) -> None:
    done = run("-C", str(tmp_path), "status", cwd=tmp_path)
    assert done.returncode == 1
    assert "there is no slipway checkout here" in done.stderr


def test_the_traceback_comes_with_debug_alone(run: Run, checkout: Path) -> None:
    assert "Traceback" in run("--debug", "status", cwd=checkout).stderr
    assert "Traceback" not in run("status", cwd=checkout).stderr


def test_no_colour_where_nobody_looks(run: Run, checkout: Path) -> None:
    assert "\x1b" not in run("status", cwd=checkout).stderr
