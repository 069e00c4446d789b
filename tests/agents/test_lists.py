"""Lists, own queries and definitions: what is shown is what the files hold."""

from __future__ import annotations

import csv

import pytest

from agents.shared.semantic import ROOT, catalog
from agents.shared.skills import reference, skill
from tests.agents.conftest import Platform, Router, router
from tests.agents.test_measures import AGENTS

SQL = "SELECT brand, sum(spend_eur) AS spend FROM spend WHERE region = 'Nordics' GROUP BY brand"


def stockouts() -> list[tuple[int, str, str, str]]:
    """By brand, region and week, the worst first."""
    with (AGENTS / "supply/data/stock.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    found = [(-int(r["stockouts"]), r["brand"], r["region"], r["week"]) for r in rows]
    return sorted(row for row in found if row[0])


async def test_a_list_shows_the_worst_first(platform: Platform) -> None:
    answer = await router().ask("Where did we run out of stock?")
    lines = [line for line in answer.text.splitlines() if line.startswith("- ")]
    assert lines == [
        f"- {brand}, {region}, {week}: {-count} stock-outs"
        for count, brand, region, week in stockouts()[:10]
    ]


async def test_a_list_takes_the_remembered_region(maria: Router) -> None:
    answer = await maria.ask("Worst stock-outs of Acme Bold in the last 2 weeks?")
    assert "Western Europe because you usually ask for it" in answer.text
    assert "Nordics" not in answer.text


async def test_a_measure_and_a_list_of_two_agents(platform: Platform) -> None:
    answer = await router().ask("Acme Pure spend and worst stock-outs in the Nordics")
    assert "€147,220" in answer.text
    assert "Acme Pure worst stock-outs in the Nordics:" in answer.text


async def test_ones_own_query_runs(platform: Platform) -> None:
    answer = await router("Works on Western Europe").ask(SQL)
    assert "- Acme Pure: spend 147,220" in answer.text
    assert "you usually ask" not in answer.text


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT * FROM spend; DROP TABLE spend", "not run: one statement"),
        ("select * from read_csv('/etc/passwd'), spend", "not run: READCSV is not allowed"),
        ("select * from stock, spend", "the tables of one agent"),
        ("select nothing from spend", "not run: the query failed: Binder Error"),
    ],
)
async def test_a_query_that_may_not_run_says_why(platform: Platform, sql: str, words: str) -> None:
    assert words in (await router().ask(sql)).text


async def test_what_a_number_means_is_read_from_a_skill(platform: Platform) -> None:
    answer = await router("Works on the Nordics").ask("What does service level mean?")
    file = ROOT / "agents/supply/skills/supply-definitions/references/service_level.md"
    assert answer.text == file.read_text().strip()
    assert answer.findings == []


@pytest.mark.parametrize("agent", catalog().agents)
def test_everything_that_is_owned_has_a_definition(agent: str) -> None:
    folder = ROOT / "agents" / agent / "skills" / skill(agent)
    named = {file.relative_to(folder).as_posix() for file in folder.glob("references/*.md")}
    assert named == {reference(key) for key in catalog().all_of(agent)}
