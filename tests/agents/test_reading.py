"""The offline model reads what is asked, tells statements from questions, and what it lacks."""

from __future__ import annotations

import pytest

from agents.shared.offline.reading import read


def test_a_question_with_everything() -> None:
    reading = read("Please show me Acme Bold's and Pure clicks in the Nordics by week, W30 to W32")
    assert reading.intent == "answer"
    assert reading.measures == ("clicks",)
    assert reading.brands == ("Acme Bold", "Acme Pure")
    assert reading.regions == ("Nordics",)
    assert reading.group_by == ("week",)
    assert reading.weeks == ("2026-W30", "2026-W31", "2026-W32")
    assert reading.unknown == ()


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            "I work on Western Europe. Always show me euros.",
            "you work on Western Europe and amounts in euros",
        ),
        ("I'm responsible for the Nordics.", "you work on the Nordics"),
        ("From now on use pounds", "amounts in pounds"),
        ("In dollars, please.", "amounts in dollars"),
        ("I usually look at spend by week", "numbers by week"),
        ("I never look at the Nordics.", ""),
    ],
)
def test_statements(text: str, note: str) -> None:
    assert (read(text).intent, read(text).note) == ("note", note)


def test_a_statement_and_a_question_in_one_message() -> None:
    reading = read("I work on the Nordics. What did we spend on Acme Pure?")
    assert reading.intent == "answer"
    assert (reading.brands, reading.regions) == (("Acme Pure",), ("Nordics",))


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("What did we spend on Acme Ultra in Germany?", ("Acme Ultra", "Germany")),
        ("spend in March 2025", ("March 2025",)),
        ("spend in yen", ("yen",)),
        ("average spend of Acme Pure", ("average",)),
        ("spend of the Summer campaign", ("Summer",)),
        ("top 3 brands by spend", ("top 3",)),
        ("week 36 or 37 spend", ("37",)),
    ],
)
def test_what_would_change_the_numbers_is_not_passed_over(
    text: str, unknown: tuple[str, ...]
) -> None:
    assert read(text).unknown == unknown


@pytest.mark.parametrize("text", ["hello", "How is Acme Pure doing?", "", "…", "42"])
def test_what_asks_for_no_measure_is_neither(text: str) -> None:
    assert read(text).intent == "other"
