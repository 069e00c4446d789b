"""From nothing to an answer, on real parts: Terraform core, Google's SDK, ADK, processes, HTTP.

The tests run in the order they stand in, over one platform.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.command import ROOT, Slipway

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("e2e")]

SPEND = ROOT / "agents" / "marketing" / "data" / "spend.csv"


@pytest.fixture(scope="module")
def up(slipway: Slipway) -> Any:
    """What the first `slipway up` of an empty folder answered."""
    return slipway.json("up")


def spend(**where: str) -> int:
    """The sample data's spend in whole euros, added up here and not by the agents."""
    with SPEND.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row[k] == v for k, v in where.items())]
    assert rows, where
    return round(sum(float(row["spend_eur"]) for row in rows))


def test_first_up_answers_in_the_remembered_region_and_currency(up: Any) -> None:
    first, second = up["answers"]
    assert first["question"] == "I work on Western Europe. Always show me euros."
    assert second["question"] == "What did we spend on Acme Pure?"
    assert first["session"] != second["session"]
    assert "Western Europe" in second["answer"]
    assert "€436,449" in second["answer"]
    assert spend(brand="Acme Pure", region="Western Europe") == 436_449
    assert second["findings"][0]["agent"] == "marketing"
    assert up["changed"] is True
    assert sorted(up["deployed"]) == ["marketing", "router", "supply"]


def test_status_names_everything_by_its_full_name(up: Any, slipway: Slipway) -> None:
    status = slipway.json("status", "local")
    assert status["endpoint"] == up["endpoint"]
    assert status["app_name"] == "acme"
    assert status["release"] == up["release"]
    name = re.compile(r"projects/acme-local/locations/us-central1/reasoningEngines/[^/]+")
    assert name.fullmatch(status["memory_bank"])
    assert set(status["engines"]) == {"router", "marketing", "supply"}
    assert all(name.fullmatch(engine) for engine in status["engines"].values())


@pytest.mark.parametrize(
    ("question", "where"),
    [
        (
            "What did we spend on Acme Bold in the Nordics?",
            {"brand": "Acme Bold", "region": "Nordics"},
        ),
        (
            "Acme Pure spend in Southern Europe?",
            {"brand": "Acme Pure", "region": "Southern Europe"},
        ),
    ],
)
def test_other_questions_are_answered_from_the_data(
    up: Any, slipway: Slipway, question: str, where: dict[str, str]
) -> None:
    answer = slipway.json("ask", "local", question, "--user", "maria")
    assert f"€{spend(**where):,}" in answer["answer"]
    assert where["region"] in answer["answer"]


def test_memories_belong_to_one_person(up: Any, slipway: Slipway) -> None:
    answer = slipway.json("ask", "local", "What did we spend on Acme Pure?", "--user", "sam")
    assert f"{spend(brand='Acme Pure'):,}" in answer["answer"]
    assert "436,449" not in answer["answer"]


def test_a_conversation_goes_on(up: Any, slipway: Slipway) -> None:
    session = up["answers"][1]["session"]
    question = "Acme Bold spend in the Nordics"
    answer = slipway.json("ask", "local", question, "--user", "maria", "--session", session)
    assert answer["session"] == session


def test_second_up_changes_nothing_and_says_so(up: Any, slipway: Slipway) -> None:
    before = writes(slipway.home)
    again = slipway.json("up")
    assert again["changed"] is False
    assert (again["resources"], again["deployed"], again["answers"]) == (0, [], [])
    assert again["release"] == up["release"]
    assert writes(slipway.home) == before
    assert "nothing was changed" in slipway.run("up").stdout


def test_terraform_plans_nothing_after_the_deployment(up: Any, slipway: Slipway) -> None:
    plan = slipway.json("infra", "plan", "local")
    assert all(not addresses for addresses in plan.values()), plan


def test_the_secret_is_nowhere_but_in_secret_manager(up: Any, slipway: Slipway) -> None:
    secret = signing_key(slipway, up["endpoint"])
    found = [path for path in files(slipway.home) if secret in path.read_bytes()]
    # Found where it belongs, or the search would prove nothing.
    assert [path.relative_to(slipway.home).parts[:3] for path in found] == [
        ("platform", "files", "secrets")
    ]
    assert secret.decode() not in json.dumps(slipway.json("status"))


def test_an_agent_is_switched_off_without_a_deployment(up: Any, slipway: Slipway) -> None:
    question = ("ask", "local", "Acme Pure spend", "--user", "lee")
    try:
        assert slipway.run("switch", "local", "--off", "router", "--say", "Closed.").returncode == 0
        # A running instance looks every 15 seconds.
        assert wait_until(lambda: slipway.json(*question)["answer"] == "Closed.", 20)
    finally:
        assert slipway.run("switch", "local", "--on", "router").returncode == 0
    assert wait_until(lambda: slipway.json(*question)["answer"] != "Closed.", 20)


def test_an_answer_is_saved_as_a_file(up: Any, slipway: Slipway) -> None:
    question = "Acme Pure spend by region as a CSV"
    answer = slipway.json("ask", "local", question, "--user", "lee")
    name = "media_spend_eur_by_region.csv"
    assert f"Saved as {name}, version 1." in answer["answer"]
    where = ("--user", "lee", "--session", answer["session"])
    printed = slipway.run("file", "local", name, *where)
    rows = list(csv.reader(printed.stdout.splitlines()))
    assert rows[0] == ["region", "media_spend_eur (EUR)"]
    assert ["Western Europe", "436449"] in rows
    assert slipway.run("file", "local", "other.csv", *where).returncode == 1


CANARY = "local-user-canary-6d1f"


def test_a_persons_token_is_kept_nowhere(up: Any, slipway: Slipway) -> None:
    """Through a question, an approval and what comes after it, in every file of the platform's."""
    who = {"DATABRICKS_TOKEN": CANARY}
    asked = slipway.json("ask", "local", "Replan the Nordics", "--user", "sam", env=who)
    assert "Approve?" in asked["answer"]
    go_on = ["--user", "sam", "--session", asked["session"]]
    turn = asked["approval"]["turn"]
    started = slipway.json("ask", "local", *go_on, "--approve", turn, env=who)
    assert started["answer"].startswith("Started the planning of supply in the Nordics")
    twice = slipway.json("ask", "local", *go_on, "--approve", turn, env=who)
    assert "nothing to decide" in twice["answer"]
    status = slipway.json("ask", "local", "Is it done?", "--user", "sam", env=who)
    assert re.search(
        r"\(run \d+\) (is not done; its state is running|ended with)", status["answer"]
    )
    # The workspace knows who it was, so what it keeps was searched.
    kept = [path for path in files(slipway.home) if b"canary-6d1f" in path.read_bytes()]
    assert [path.name for path in kept if CANARY.encode() in path.read_bytes()] == []
    assert kept


def test_sessions_and_memories_survive_a_restart_but_agents_do_not(
    up: Any, slipway: Slipway
) -> None:
    agents = processes(slipway.home)
    assert len(agents) >= 4
    assert slipway.run("down").returncode == 0
    assert wait_until(lambda: not processes(slipway.home), 10)
    again = slipway.json("up")
    assert (again["resources"], again["deployed"]) == (0, [])
    assert again["endpoint"] == up["endpoint"]
    answer = slipway.json("ask", "local", "What did we spend on Acme Pure?", "--user", "maria")
    assert "€436,449" in answer["answer"]


def test_a_killed_platform_is_noticed_and_its_agents_end(up: Any, slipway: Slipway) -> None:
    pid = json.loads((slipway.home / "platform" / "platform.json").read_text())["pid"]
    os.kill(pid, 9)
    assert wait_until(lambda: not processes(slipway.home), 10)
    status = slipway.run("status")
    assert (status.returncode, "slipway up" in status.stderr) == (1, True)
    done = slipway.run("up")
    assert done.returncode == 0, done.stderr
    assert "had died" in done.stderr


def test_down_leaves_nothing_running(up: Any, slipway: Slipway) -> None:
    assert slipway.run("down").returncode == 0
    assert wait_until(lambda: not processes(slipway.home), 10)


def writes(home: Path) -> list[tuple[Any, ...]]:
    """What a second run must not touch: every resource, but for operations and the state's lock.

    A plan takes Terraform's lock and gives it back, here as in the cloud.
    """
    with sqlite3.connect(f"file:{home}/platform/state.db?mode=ro", uri=True) as db:
        return db.execute(
            "SELECT kind, name, body FROM resources WHERE kind != 'operation' "
            "AND name NOT LIKE '%.tflock%' ORDER BY kind, name"
        ).fetchall()


def files(home: Path) -> Iterator[Path]:
    return (path for path in home.rglob("*") if path.is_file() and not path.is_symlink())


def processes(home: Path) -> list[int]:
    """Processes with a command line or working folder in `home`: the platform, its engines."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            where = (entry / "cmdline").read_bytes().decode(errors="replace")
            where += str((entry / "cwd").readlink())
        except OSError:
            continue
        if str(home) in where and int(entry.name) != os.getpid():
            found.append(int(entry.name))
    return found


def signing_key(slipway: Slipway, endpoint: str) -> bytes:
    """The value of the secret that the agents share, as Secret Manager gives it."""
    from google.auth.credentials import AnonymousCredentials
    from google.cloud import secretmanager_v1

    client = secretmanager_v1.SecretManagerServiceClient(
        transport="rest",
        credentials=AnonymousCredentials(),
        client_options={"api_endpoint": endpoint},
    )
    name = "projects/acme-local/secrets/caller-signing-key/versions/latest"
    value: bytes = client.access_secret_version(name=name).payload.data
    return value


def wait_until(condition: Any, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
