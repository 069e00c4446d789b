"""One letter wrong, and no more."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.shared.semantic import catalog
from agents.shared.spelling import fold, one_apart

LETTERS = st.text("abcdefghij", min_size=1, max_size=9)


@given(LETTERS, st.data())
def test_every_single_slip_is_one_apart_both_ways(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 1))
    slips = [
        word[:at] + "z" + word[at:],
        word[:at] + "z" + word[at + 1 :],
        word[:at] + word[at + 1 :],
    ]
    if at + 1 < len(word) and word[at] != word[at + 1]:
        slips.append(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
    for slip in slips:
        assert one_apart(word, slip)
        assert one_apart(slip, word)


@pytest.mark.parametrize(
    ("a", "b"), [("europe", "europe"), ("abcd", "badc"), ("abc", "abcxx"), ("western", "eastern")]
)
def test_what_is_not(a: str, b: str) -> None:
    assert not one_apart(a, b)


@given(st.text())
def test_folding_keeps_places(text: str) -> None:
    assert len(fold(text)) == len(text)


def test_folding_takes_accents_and_case_away() -> None:
    assert fold("Südeuropa MÉRIDIONALE") == "sudeuropa meridionale"
    assert unicodedata.is_normalized("NFC", fold("é"))


def test_no_name_is_a_misspelling_of_another() -> None:
    names = catalog()
    for word, (kind, name) in names._names.items():
        found = names.matches(word)
        assert (kind, name) in {(match.kind, match.name) for match in found}, word
