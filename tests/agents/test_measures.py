"""Numbers are right: each is compared with a sum made here from the files, without SQL."""

from __future__ import annotations

import asyncio
import csv
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agents.shared.findings import Finding, Reply, written
from agents.shared.measures import Measures
from agents.shared.query import Query
from agents.shared.semantic import catalog
from agents.shared.warehouse.duck import DuckDb

AGENTS = Path(__file__).parents[2] / "agents"
FILES = {"spend": "marketing", "campaigns": "marketing", "stock": "supply", "deliveries": "supply"}


NO_TOKEN: Any = SimpleNamespace(state={})


def warehouse(agent: str) -> DuckDb:
    """The agent's sample data."""
    return DuckDb(AGENTS / agent / "data", catalog().tables[agent])


@pytest.fixture(scope="module")
def specialists() -> dict[str, Measures]:
    return {name: Measures(name, warehouse(name), catalog()) for name in ("marketing", "supply")}


def total(table: str, column: str, **where: Any) -> int:
    """The column's sum over the rows whose values are in `where`."""
    path = AGENTS / FILES[table] / "data" / f"{table}.csv"
    with path.open(newline="") as file:
        rows = [r for r in csv.DictReader(file) if all(r[k] in v for k, v in where.items())]
    assert rows
    return sum(int(row[column]) for row in rows)


def find(specialists: dict[str, Measures], measure: str, **fields: Any) -> Finding:
    owner = catalog().measures[measure].agent
    (finding,) = asyncio.run(specialists[owner].findings(Query(measures=(measure,), **fields)))
    return finding


SLICES: list[dict[str, Any]] = [
    {"brands": ("Acme Pure",), "regions": ("Western Europe",)},
    {"brands": ("Acme Bold", "Acme Zero"), "regions": ("Nordics", "North America")},
    {"weeks": ("2026-W36", "2026-W38")},
    {"brands": ("Acme Verde",), "regions": ("Southern Europe",), "weeks": ("2026-W30",)},
    {},
]


def where(fields: dict[str, Any]) -> dict[str, Any]:
    columns = {"brands": "brand", "regions": "region", "weeks": "week"}
    return {columns[name]: values for name, values in fields.items()}


@pytest.mark.parametrize("fields", SLICES)
@pytest.mark.parametrize(
    ("measure", "table", "column"),
    [
        ("media_spend_eur", "spend", "spend_eur"),
        ("impressions", "campaigns", "impressions"),
        ("clicks", "campaigns", "clicks"),
        ("stockouts", "stock", "stockouts"),
        ("ordered_units", "deliveries", "ordered_units"),
        ("delivered_units", "deliveries", "delivered_units"),
    ],
)
def test_sums(
    specialists: dict[str, Measures], measure: str, table: str, column: str, fields: dict[str, Any]
) -> None:
    assert find(specialists, measure, **fields).value == total(table, column, **where(fields))


@pytest.mark.parametrize("fields", SLICES)
@pytest.mark.parametrize(
    ("measure", "table", "part", "whole"),
    [
        ("ctr", "campaigns", "clicks", "impressions"),
        ("service_level", "deliveries", "delivered_units", "ordered_units"),
    ],
)
def test_percentages_are_of_the_sums(
    specialists: dict[str, Measures],
    measure: str,
    table: str,
    part: str,
    whole: str,
    fields: dict[str, Any],
) -> None:
    rows = where(fields)
    share = Fraction(100 * total(table, part, **rows), total(table, whole, **rows))
    assert find(specialists, measure, **fields).value == round(float(share), 2)


def test_the_quoted_total(specialists: dict[str, Measures]) -> None:
    finding = find(
        specialists, "media_spend_eur", brands=("Acme Pure",), regions=("Western Europe",)
    )
    assert (finding.value, finding.rows, finding.unit) == (436_449, 13, "EUR")
    assert finding.weeks == ("2026-W27", "2026-W39")


def test_stock_is_a_level_of_the_last_week(specialists: dict[str, Measures]) -> None:
    fields = {"brands": ("Acme Pure",), "weeks": ("2026-W30", "2026-W31")}
    expected = total("stock", "stock_units", brand=["Acme Pure"], week=["2026-W31"])
    assert find(specialists, "stock_units", **fields).value == expected
    newest = total("stock", "stock_units", brand=["Acme Pure"], week=["2026-W39"])
    assert find(specialists, "stock_units", brands=("Acme Pure",)).value == newest


def test_the_newest_weeks_are_the_datas(specialists: dict[str, Measures]) -> None:
    weeks = ("2026-W36", "2026-W37", "2026-W38", "2026-W39")
    finding = find(specialists, "media_spend_eur", last_weeks=4)
    assert finding.filters["week"] == weeks
    assert finding.value == total("spend", "spend_eur", week=weeks)


def test_groups_are_the_parts_of_the_value(specialists: dict[str, Measures]) -> None:
    finding = find(
        specialists, "media_spend_eur", group_by=("region", "week"), brands=("Acme Pure",)
    )
    assert len(finding.groups) == 4 * 13
    assert sum(group.value or 0 for group in finding.groups) == finding.value
    for group in finding.groups[:5]:
        keys = {name: [value] for name, value in group.keys.items()}
        assert group.value == total("spend", "spend_eur", brand=["Acme Pure"], **keys)


def test_stock_by_week_is_each_weeks_level(specialists: dict[str, Measures]) -> None:
    finding = find(specialists, "stock_units", group_by=("week",), brands=("Acme Zero",))
    for group in finding.groups:
        week = [group.keys["week"]]
        assert group.value == total("stock", "stock_units", brand=["Acme Zero"], week=week)


def test_another_currency_says_its_rate(specialists: dict[str, Measures]) -> None:
    finding = find(specialists, "media_spend_eur", currency="GBP")
    assert finding.value == round(total("spend", "spend_eur") * 0.86)
    assert (finding.unit, finding.rate) == ("GBP", 0.86)
    assert find(specialists, "clicks", currency="GBP").rate is None


def test_no_rows_is_no_number(specialists: dict[str, Measures]) -> None:
    finding = find(specialists, "media_spend_eur", weeks=("2026-W50",))
    assert (finding.value, finding.rows) == (None, 0)
    assert finding.weeks == ("2026-W27", "2026-W39")


def test_the_sql_runs_and_gives_the_value(specialists: dict[str, Measures]) -> None:
    finding = find(specialists, "stock_units", brands=("Acme Pure",), weeks=("2026-W30",))
    found = asyncio.run(warehouse("supply").run(finding.sql, finding.parameters))
    assert found.rows[0][0] == finding.value


def test_values_never_become_sql(specialists: dict[str, Measures]) -> None:
    week = "2026-W36') OR 1=1 --"
    finding = find(specialists, "media_spend_eur", weeks=(week,))
    assert (finding.rows, week in finding.sql, week in finding.parameters) == (0, False, True)


async def test_the_tool_refuses_what_is_not_there(specialists: dict[str, Measures]) -> None:
    marketing = specialists["marketing"]
    asked: list[tuple[dict[str, Any], str]] = [
        ({"measures": ["media_spend_eur"], "brands": ["Acme Ultra"]}, "Acme Pure"),
        ({"measures": ["profit"]}, "media_spend_eur"),
        ({"measures": ["stock_units"]}, "marketing has no measure"),
        ({"measures": ["clicks"], "group_by": ["campaign"]}, "brand, region, week"),
        ({"measures": ["clicks"], "currency": "JPY"}, "EUR, GBP, USD"),
        ({"measures": []}, "media_spend_eur"),
    ]
    for arguments, words in asked:
        reply = Reply.model_validate(
            await marketing.query_measures(**arguments, tool_context=NO_TOKEN)
        )
        assert reply.findings == ()
        assert words in reply.problem


async def test_the_tool_takes_synonyms(specialists: dict[str, Measures]) -> None:
    raw = await specialists["marketing"].query_measures(
        ["Media Spend"], NO_TOKEN, brands=["pure"], regions=["west europe"], currency="eur"
    )
    assert Reply.model_validate(raw).findings[0].value == 436_449


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(436449, "EUR", "€436,449"), (375346.0, "GBP", "£375,346"), (2.1, "%", "2.10 %"),
     (1200, "units", "1,200 units"), (None, "EUR", "no data"), (0, "EUR", "€0")],
)  # fmt: skip
def test_how_numbers_are_written(value: Any, unit: str, text: str) -> None:
    assert written(value, unit) == text


def test_a_finding_for_another_question_is_noticed(specialists: dict[str, Measures]) -> None:
    asked = Query(measures=("media_spend_eur",), brands=("Acme Pure",), last_weeks=4)
    (right,) = asyncio.run(specialists["marketing"].findings(asked))
    assert right.answers(asked)
    for change in (
        {"regions": ("Nordics",)}, {"brands": ()}, {"last_weeks": 3}, {"group_by": ("week",)},
        {"currency": "USD"}, {"measures": ("clicks",)}, {"last_weeks": 0},
    ):  # fmt: skip
        assert not right.answers(asked.model_copy(update=change)), change
