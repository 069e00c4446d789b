"""Names are found in any usual spelling, the longest first, and belong to one thing."""

from __future__ import annotations

import pytest

from agents.shared.semantic import Match, catalog


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("acme pure SPEND", ["Acme Pure", "media_spend_eur"]),
        ("stock of Pure", ["stock_units", "Acme Pure"]),
        ("out of stock in the nordic countries", ["stockouts", "Nordics"]),
        ("stock-outs and stockouts", ["stockouts", "stockouts"]),
        ("How many ad impressions?", ["impressions"]),
        ("click-through rate, not clicks", ["ctr", "clicks"]),
        ("in £", ["GBP"]),
        ("€5", []),
        ("spendthrift purely restocked", []),
        # one letter wrong, missing, too many, two swapped
        ("spemding in Wstern Europe", ["media_spend_eur", "Western Europe"]),
        ("advertissing in the Nordcis", ["media_spend_eur", "Nordics"]),
        ("imprssions and stockuots", ["impressions", "stockouts"]),
        ("Südeuropa, Sudeuropa, SUEDEUROPA", ["Southern Europe"] * 3),
        ("Amerique du Nord", ["North America"]),
        ("dépenses publicitaires", ["media_spend_eur"]),
        ("Wie viel haben wir ausgegeben?", ["media_spend_eur"]),
        ("Lagerbestand in Skandinavien", ["stock_units", "Nordics"]),
        # a short word, two letters wrong, another word, another place
        ("spned in Nrdisc", []),
        ("sending a collar", []),
        ("Eastern Europe, Northern Europe", []),
    ],
)
def test_names_in_a_text(text: str, names: list[str]) -> None:
    assert [match.name for match in catalog().matches(text)] == names


def test_a_match_says_where_it_stands() -> None:
    assert catalog().matches("our spend") == [Match("measure", "media_spend_eur", 4, 9)]


def test_every_measure_has_an_owner_and_one_meaning_for_each_word() -> None:
    words: dict[str, str] = {}
    for key, measure in catalog().measures.items():
        assert measure.agent in ("marketing", "supply")
        for word in (key, measure.label, *measure.synonyms):
            assert catalog().resolve("measure", word) == key, word
            assert words.setdefault(word.lower(), key) == key, word


def test_a_name_is_of_one_kind() -> None:
    assert catalog().resolve("brand", "nordics") is None
    assert catalog().resolve("region", " NORDICS ") == "Nordics"
