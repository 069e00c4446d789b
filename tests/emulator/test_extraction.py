"""The rules that stand in for Memory Bank's models."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.emulator.extraction import facts, slot


def said(text: str) -> list[str]:
    """The facts of one message."""
    return [fact.text for fact in facts([text])]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I work on Western Europe. Always show me euros.",
         ["Works on Western Europe", "Prefers euros"]),
        ("I work on Western Europe and always want euros",
         ["Works on Western Europe", "Prefers euros"]),
        ("i'm responsible for the Nordics, please use pounds from now on",
         ["Works on Nordics", "Prefers pounds"]),
        ("My brands are Acme Pure and Acme Bold", ["Works on Acme Pure and Acme Bold"]),
        ("I'm in the media team.", ["Is in the media team"]),
        ("Always leave out Acme Zero.", ["Leaves out Acme Zero"]),
        ("I prefer tables, rounded to thousands.",
         ["Prefers tables", "Prefers numbers in thousands"]),
        ("Never show me charts.", ["Avoids charts"]),
        ("I usually look at the last four weeks.", ["Usually looks at the last four weeks"]),
        ("Always compare with last year.", ["Compares with last year"]),
        ("In pounds, please.", ["Prefers pounds"]),
        ("Actually, show me pounds.", ["Prefers pounds"]),
        ("Show me euros", ["Prefers euros"]),
        ("I always want no decimals", ["Prefers whole numbers"]),
        ("I prefer my own names for measures", ["Prefers their own names for measures"]),
        ("I’d prefer short answers by default", ["Prefers short answers"]),
        ("I work on the Nordics, what did we spend?", ["Works on Nordics"]),
    ],
)  # fmt: skip
def test_statements_are_kept(text: str, kept: list[str]) -> None:
    assert said(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "What did we spend on Acme Pure?",
        "How much stock of Acme Bold is there in Western Europe",
        "Show me spend on Acme Pure in pounds.",
        "Can you always show euros?",
        "The spend was 436,449 euros.",
        "Always remember that we spent €436,449.",
        "From now on the target is 12% in euros.",
        "My password is tiger and I always use euros.",
        "I'm working on a report.",
        "Thank you!",
        "",
    ],
)
def test_questions_figures_credentials_and_the_rest_are_not(text: str) -> None:
    assert said(text) == []


def test_the_last_word_counts() -> None:
    assert said("Always show me euros. No, I prefer pounds.") == ["Prefers pounds"]
    moved = facts(["I work on Western Europe.", "I cover Acme Pure.", "I now work on the Nordics."])
    assert [fact.text for fact in moved] == ["Works on Nordics", "Works on Acme Pure"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Prefers euros", "Prefers pounds"),
        ("User prefers dollars", "Prefers euros"),
        ("Works on Western Europe", "Works on Nordics"),
        ("Prefers tables", "Prefers charts"),
        ("Usually looks at the last week", "Usually looks at the year to date"),
        ("Compares with last year", "Compares with the budget"),
        ("Is in the media team", "Is in the supply team"),
    ],
)
def test_facts_about_one_thing_share_a_slot(old: str, new: str) -> None:
    assert slot(old) == slot(new)


def test_facts_about_different_things_do_not() -> None:
    every = ["Prefers euros", "Prefers tables", "Works on Nordics", "Works on Acme Pure",
             "Prefers tea", "likes oolong", "Avoids charts", "Leaves out Acme Zero"]  # fmt: skip
    assert len({slot(fact) for fact in every}) == len(every)


STUFF = (
    "I work on always show me in euros pounds never prefer tables the Nordics and , . ? what spend "
    "last four weeks 436,449 € compare with year my team is round to thousands"
)
WORDS = st.sampled_from(STUFF.split())


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_whatever_is_said_facts_are_short_have_no_figure_and_find_their_slot_again(
    text: str,
) -> None:
    for fact in facts([text]):
        assert slot(fact.text) == fact.slot
        assert not re.search(r"\d{3}|[€?]", fact.text)
        assert len(fact.text.split()) <= 14
