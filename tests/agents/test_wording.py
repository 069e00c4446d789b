"""What code is sure of in a text: weeks, groupings, negations."""

from __future__ import annotations

import pytest

from agents.shared.semantic import catalog
from agents.shared.wording import Mentions, mentions


def found(text: str) -> Mentions:
    return mentions(text, catalog())


@pytest.mark.parametrize(
    ("text", "weeks"),
    [
        ("in week 36", [36]),
        ("2026-W05", [5]),
        ("W36-W38", [36, 37, 38]),
        ("2026-W36 to 2026-W38", [36, 37, 38]),
        ("weeks 30 to 32 and 35", [30, 31, 32, 35]),
        ("between W36 and W38", [36, 37, 38]),
        ("weeks 36, 37 and 39", [36, 37, 39]),
        ("CW 36 of 2026", [36]),
    ],
)
def test_weeks(text: str, weeks: list[int]) -> None:
    assert found(text).weeks == tuple(f"2026-W{week:02d}" for week in weeks)


def test_a_week_of_another_year_keeps_its_year() -> None:
    assert found("2025-W50").weeks == ("2025-W50",)


def test_a_range_over_a_years_end_is_not_guessed() -> None:
    assert found("2025-W50 to 2026-W02").weeks == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [("last week", 1), ("over the last 4 weeks", 4), ("the most recent three weeks", 3),
     ("past twelve weeks", 12)],
)  # fmt: skip
def test_newest_weeks(text: str, number: int) -> None:
    assert found(text).last_weeks == number


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("spend by region", ("region",)),
        ("per brand and week", ("brand", "week")),
        ("which region spent most", ("region",)),
        ("a regional breakdown", ("region",)),
        ("weekly spend", ("week",)),
        ("for each of them", ()),
    ],
)
def test_groupings(text: str, units: tuple[str, ...]) -> None:
    assert found(text).group_by == units


@pytest.mark.parametrize(
    "text",
    ["not in the Nordics", "Leaves out the Nordics", "everything except Nordics",
     "I don't work on the Nordics", "I never look at the Nordics"],
)  # fmt: skip
def test_a_region_named_to_be_left_out_is_not_asked_for(text: str) -> None:
    assert (found(text).regions, found(text).negated) == ((), ("Nordics",))


def test_a_negation_further_off_does_not_count() -> None:
    assert found("I do not know what we spent on media in the Nordics").regions == ("Nordics",)
