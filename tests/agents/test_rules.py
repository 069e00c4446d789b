"""Memory fills gaps and never overrules, whatever the model has made of the message."""

from __future__ import annotations

import pytest

from agents.router.rules import Settled, settle
from agents.shared.offline.reading import read
from agents.shared.query import Query, Reading
from agents.shared.semantic import catalog

MARIA = "Works on Western Europe\nPrefers euros"


def settled(text: str, remembered: str = MARIA, reading: Reading | None = None) -> Settled:
    reading = reading or read(text)
    return settle(reading, text, remembered, catalog(), has_memory=True)


def query(text: str, remembered: str = MARIA, reading: Reading | None = None) -> Query:
    found = settled(text, remembered, reading).query
    assert found is not None
    return found


def test_a_no_region_named_takes_the_remembered_one() -> None:
    found = settled("What did we spend on Acme Pure?")
    assert found.query is not None
    assert found.query.regions == ("Western Europe",)
    assert found.query.currency == "EUR"
    assert found.from_memory == ("regions", "currency")


def test_b_a_region_named_is_the_region() -> None:
    found = settled("Acme Pure spend in Southern Europe?")
    assert found.query is not None
    assert found.query.regions == ("Southern Europe",)
    assert "regions" not in found.from_memory


def test_c_by_region_has_no_region() -> None:
    found = query("Acme Pure spend by region")
    assert (found.regions, found.group_by) == ((), ("region",))


def test_everywhere_has_no_region() -> None:
    assert query("Acme Pure spend in all regions").regions == ()


# What a model might wrongly make of it: the three rules hold all the same.
STUBBORN = Reading(intent="answer", measures=("media_spend_eur",), regions=("Western Europe",))


@pytest.mark.parametrize(
    ("text", "regions"),
    [
        ("What did we spend on Acme Pure?", ("Western Europe",)),
        ("Acme Pure spend in Southern Europe?", ("Southern Europe",)),
        ("Acme Pure spend by region", ()),
        ("Acme Pure spend worldwide", ()),
    ],
)
def test_a_model_that_always_fills_the_region_in(text: str, regions: tuple[str, ...]) -> None:
    assert query(text, MARIA, STUBBORN).regions == regions


def test_a_model_that_forgets_memory() -> None:
    reading = Reading(intent="answer", measures=("media_spend_eur",))
    assert query("What did we spend?", MARIA, reading).regions == ("Western Europe",)


def test_a_region_that_only_the_model_understands_is_no_gap() -> None:
    reading = Reading(intent="answer", measures=("media_spend_eur",), regions=("Southern Europe",))
    found = settled("What did we spend around the Mediterranean?", MARIA, reading)
    assert found.query is not None
    assert found.query.regions == ("Southern Europe",)
    assert "regions" not in found.from_memory


def test_names_that_a_model_invents_are_not_asked_for() -> None:
    reading = Reading(
        intent="answer", measures=("media_spend_eur", "profit"), brands=("Acme Gold",)
    )
    found = query("What did we spend?", "", reading)
    assert (found.measures, found.brands) == (("media_spend_eur",), ())


def test_what_memory_names_to_leave_out_fills_nothing() -> None:
    assert query("What did we spend?", "Leaves out the Nordics").regions == ()


@pytest.mark.parametrize(
    ("text", "remembered", "currency", "filled"),
    [
        ("spend?", "Prefers pounds", "GBP", True),
        ("spend in dollars?", "Prefers pounds", "USD", False),
        ("spend?", "", "EUR", False),
        ("spend?", "Never wants pounds\nPrefers dollars", "USD", True),
    ],
)
def test_the_currency_by_the_same_rules(
    text: str, remembered: str, currency: str, filled: bool
) -> None:
    found = settled(text, remembered)
    assert found.query is not None
    assert found.query.currency == currency
    assert ("currency" in found.from_memory) is filled


def test_a_currency_that_is_not_wanted_is_not_taken() -> None:
    assert query("Spend in dollars, not pounds", MARIA, STUBBORN).currency == "USD"


def test_the_users_weeks_win() -> None:
    reading = Reading(intent="answer", measures=("clicks",), weeks=("2026-W01",), last_weeks=9)
    assert query("clicks in week 36", "", reading).weeks == ("2026-W36",)
    assert query("clicks in week 36", "", reading).last_weeks == 0
    assert query("clicks last 4 weeks", "", reading).weeks == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What did we spend on Acme Ultra?", ["“Acme Ultra”", "Acme Pure", "Nordics"]),
        ("What about Acme Pure?", ["media spend", "service level"]),
        ("Spend except in the Nordics?", ["Nordics", "by region"]),
        ("hello", ["media spend"]),
    ],
)
def test_what_cannot_be_answered_is_said_with_what_can(text: str, words: list[str]) -> None:
    found = settled(text)
    assert found.query is None
    assert all(word in found.say for word in words)
    assert not any(
        letter.isdigit() for letter in found.say.replace("2026-W36", "").replace("4", "")
    )


def test_a_statement_is_noted() -> None:
    assert settled("Always show me pounds.").say == "Noted: amounts in pounds."


def test_without_memory_nothing_is_promised() -> None:
    text = "Always show me pounds."
    found = settle(read(text), text, "", catalog(), has_memory=False)
    assert "no memory" in found.say
