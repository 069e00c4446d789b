"""Rounding as people ask for it."""

from __future__ import annotations

import pytest

from agents.shared.findings import written
from agents.shared.rounding import Rounding, rounding
from tests.agents.conftest import Platform, router


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Prefers euros", Rounding()),
        ("Prefers numbers in thousands", Rounding(unit=1_000)),
        ("Round to the nearest million", Rounding(unit=1_000_000)),
        ("Round to two decimals", Rounding(decimals=2)),
        ("in millions with 1 decimal", Rounding(unit=1_000_000, decimals=1)),
        ("without decimals", Rounding(decimals=0)),
        ("in thousands. No, in millions", Rounding(unit=1_000_000)),
    ],
)
def test_in_words(text: str, wanted: Rounding) -> None:
    assert rounding(text) == wanted


@pytest.mark.parametrize(
    ("value", "unit", "how", "text"),
    [
        (436_449, "EUR", Rounding(unit=1_000), "€436 thousand"),
        (436_449, "EUR", Rounding(unit=1_000_000, decimals=1), "€436,449"),
        (2_436_449, "EUR", Rounding(unit=1_000_000, decimals=1), "€2.4 million"),
        (2.1347, "%", Rounding(unit=1_000, decimals=1), "2.1 %"),
        (1_200, "units", Rounding(), "1,200 units"),
    ],
)
def test_written(value: float, unit: str, how: Rounding, text: str) -> None:
    assert written(value, unit, how) == text


async def test_a_remembered_wish_is_honoured_and_passes_the_number_check(
    platform: Platform,
) -> None:
    asked = router("Works on Western Europe", "Prefers numbers in thousands")
    answer = await asked.ask("What did we spend on Acme Pure?")
    assert "€436 thousand" in answer.text
    assert answer.findings[0]["value"] == 436449
    now = await router("Works on Western Europe").ask("Acme Pure spend, rounded to thousands")
    assert "€436 thousand" in now.text
