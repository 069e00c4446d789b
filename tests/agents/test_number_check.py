"""Figures of an answer against what was found; 436,449 is the spend of Acme Pure in the article."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.router.checked import LEFT_OUT
from agents.shared.brief import Brief
from agents.shared.findings import Finding, Group
from agents.shared.number_check import figures, foreign, without
from agents.shared.query import Query
from tests.agents.conftest import Platform, router
from tests.agents.test_gemini import GEMINI, Model, call, reading


def brief(question: str = "What did we spend on Acme Pure?", *, rate: float = 1.0) -> Brief:
    """Spend of 436,449 in two brands, and a click-through rate of 2.1347 %."""
    filters: dict[str, tuple[str, ...]] = {"brand": (), "region": (), "week": ()}
    common: dict[str, Any] = {"agent": "marketing", "filters": filters, "rows": 13, "sql": ""}
    groups = (
        Group(keys={"brand": "Acme Pure"}, value=300_000, rows=7),
        Group(keys={"brand": "Acme Bold"}, value=136_449, rows=6),
    )
    spend = Finding(
        measure="media_spend_eur", label="Media spend", value=436_449, unit="EUR",
        weeks=("2026-W27", "2026-W39"), group_by=("brand",), groups=groups, rate=rate, **common,
    )  # fmt: skip
    ctr = Finding(measure="ctr", label="CTR", value=2.1347, unit="%", weeks=None, **common)
    query = Query(measures=("media_spend_eur", "ctr"), last_weeks=4)
    return Brief(query=query, question=question, findings=(spend, ctr))


@pytest.mark.parametrize(
    "text",
    [
        "€436,449", "436.449 EUR", "436 449 €", "436'449", "436\u202f449", "436449", "436449.0",
        "４３６,４４９", "about 436,000", "roughly €440,000", "€0.44 million", "€436.4k",
        "436 Tsd. €",
        "0,436 Mio. €", "2.13 %", "2,1 %", "2.1347%", "2 %",
        "Acme Pure has 68.7 % of it",              # 300,000 of 436,449
        "Pure spent 120 % more than Bold",         # 300,000 against 136,449: 119.9 %
        "2 brands, 13 rows", "the last 4 weeks",
        "2026-W27 to 2026-W39", "W36", "week 36", "KW 36", "on 2026-09-28", "28.09.2026", "in 2026",
        "the 1st and the 22nd", "1. Acme Pure\n2. Acme Bold", "no figure at all",
    ],
)  # fmt: skip
def test_what_was_found_may_be_said(text: str) -> None:
    assert foreign(text, brief()) == []


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("€436,451", "436,451"),                  # two more than was found
        ("about 437,000", "437,000"),             # rounded to the wrong thousand
        ("roughly €400,000", "400,000"),          # one digit is no rounding of 436,449
        ("€450,000", "450,000"),
        ("€43,644.9", "43,644.9"),                # a slip of the decimal point
        ("€4.4 million", "4.4 million"),
        ("€436 million", "436 million"),
        ("4 3 6 4 5 0", "3 5"),                   # digit by digit (13 rows, 7 and 6 of them)
        ("2.2 %", "2.2 %"),
        ("70 % of it", "70 %"),
        ("163,551 more", "163,551"),              # a difference is computed, not found
        ("５００,０００", "500,000"),
        ("1\u200b23,456", "123,456"),             # a character that nobody sees
        ("€999 in week 36", "999"),
        ("since 2026 it was 777", "777"),
        ("2026.5", "2026.5"),
    ],
)  # fmt: skip
def test_every_other_figure_is_refused(text: str, refused: str) -> None:
    found = [figure.text for figure in foreign(text, brief())]
    assert found in ([refused], refused.split())


def test_numbers_of_the_question_may_be_said_again() -> None:
    assert foreign("over your budget of 500,000", brief("Is it over 500,000 or 0.5 million?")) == []
    assert foreign("over your budget of 600,000", brief("Is it over 500,000?"))


def test_a_rate_and_the_one_that_it_is_for() -> None:
    assert foreign("at 0.86 GBP for €1", brief(rate=0.86)) == []


def test_what_is_refused_goes_with_its_sentence() -> None:
    text = "Spend was €436,449. Next year it will be €999,999.\nPure: €300,000"
    kept = without(text, foreign(text, brief()))
    assert kept == "Spend was €436,449.\nPure: €300,000"


SEPARATORS = st.sampled_from([",", ".", " ", "'", "\u00a0", ""])


@given(st.integers(0, 10**9), SEPARATORS)
def test_a_number_is_read_back_from_every_way_of_grouping_it(value: int, separator: str) -> None:
    text = f"{value:,}".replace(",", separator)
    [figure] = figures(f"It was {text} then")
    assert float(value) in [stated for stated, _ in figure.meanings]


@given(st.floats(0.01, 10**7), st.integers(0, 4))
def test_a_value_may_be_rounded_to_any_of_its_places(value: float, places: int) -> None:
    finding = brief().findings[1].model_copy(update={"value": value})
    only = brief().model_copy(update={"findings": (finding,)})
    assert foreign(f"{value:.{places}f} %", only) == []


class Stubborn(Model):
    """A writer that says a figure of its own, and how often it is told so."""

    def __init__(self, *answers: str) -> None:
        super().__init__(
            reading(brands=["Acme Pure"]),
            call(measures=["media_spend_eur"], brands=["Acme Pure"], regions=["Western Europe"]),
            "",
        )
        self.answers = list(answers)

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = super().__call__(body)
        if answer != {"parts": [{"text": ""}]}:
            return answer
        return {"parts": [{"text": self.answers.pop(0)}]}


QUESTION = "What did we spend on Acme Pure?"


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_a_writer_that_invents_is_asked_again(platform: Platform) -> None:
    model = Stubborn("It is €500,000.", "It is €436,449.")
    platform.gemini = model
    answer = await router("Works on Western Europe").ask(QUESTION)
    assert answer.text == "It is €436,449."
    told = json.dumps(model.asked[-1]["contents"])
    assert "neither the findings nor the question: 500,000" in told
    assert "500,000" not in json.dumps([e for e in answer.events if e["author"] == "writer"])


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_one_that_insists_answers_without_it_and_that_is_said(platform: Platform) -> None:
    platform.gemini = Stubborn("It is €500,000.", "It is €436,449. Last year: €500,001.")
    answer = await router("Works on Western Europe").ask(QUESTION)
    assert answer.text == f"It is €436,449.\n{LEFT_OUT}"


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_where_nothing_is_left_the_rules_write(platform: Platform) -> None:
    platform.gemini = Stubborn("It is €500,000.", "It is €500,001.")
    answer = await router("Works on Western Europe").ask(QUESTION)
    assert "€436,449" in answer.text
    assert answer.text.endswith(LEFT_OUT)
    assert "500,00" not in answer.text
