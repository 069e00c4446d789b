"""Figures that are results: right when they were queried, wrong from the next late invoice on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.shared.guard.found import Found

_MONEY = r"(?:€|\$|£|¥|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|francs?)\b)"
# Bounded, so that a text of digits alone is read in time that grows with its length.
_NUMBER = r"\d[\d.,'’ ]{0,24}\d|\d"
_SCALE = r"(?:\s?(?:k|m|mn|bn|mio|mrd|tsd|thousand|million(?:en|s)?|billion|milliarden?)\b\.?)?"
_UNITS = (
    r"units?|pieces?|clicks?|impressions?|orders?|stock-?outs?|rows?|shops?|stores?|customers?|"
    r"stück|einheiten|klicks|bestellungen|unités|commandes"
)
_RULES = {
    "money": re.compile(
        rf"{_MONEY}\s?(?:{_NUMBER}){_SCALE}|(?:{_NUMBER}){_SCALE}\s?{_MONEY}", re.I
    ),
    "percentage": re.compile(
        rf"(?:{_NUMBER})\s?(?:%|\b(?:percent|per cent|prozent|pour ?cent)\b)", re.I
    ),
    "count": re.compile(rf"(?:{_NUMBER}){_SCALE}\s(?:{_UNITS})\b", re.I),
    "grouped": re.compile(r"(?<![\w.,-])\d{1,3}(?:[.,'’ ]\d{3})+(?![\w-])"),
    "scaled": re.compile(
        r"(?<![\w.,])\d+(?:[.,]\d+)?\s?(?:mn|bn|mio|mrd|million(?:en|s)?|billion|thousand)\b", re.I
    ),
    "stated": re.compile(
        r"\b(?:was|is|were|are|reached|totall?ed|amounted to|betrug|beträgt|était|est de)\s+"
        r"(?:about |roughly |around |etwa |environ )?\d{3,}\b(?!-W)",
        re.I,
    ),
}
# "Round to 2 %" or "show at most 10 rows" is how somebody works, and says nothing of the data.
_PREFERENCE = re.compile(
    r"\b(?:round\w*|decimal\w*|digits?|nearest|top|first|last|past|at most|at least|up to|no more "
    r"than|runde\w*|nachkommastellen?|letzten?|höchstens|arrondi\w*|décimales?|dernières?)"
    r"(?:\W+[^\W\d]+)?\W*$",
    re.I,
)


def find(text: str) -> Iterator[Found]:
    """Every result in a text; of hits at one place the first rule's."""
    taken: list[range] = []
    for rule, pattern in _RULES.items():
        for hit in pattern.finditer(text):
            if any(hit.start() in known or known.start in range(*hit.span()) for known in taken):
                continue
            if rule != "money" and _PREFERENCE.search(text[max(0, hit.start() - 40) : hit.start()]):
                continue
            taken.append(range(*hit.span()))
            yield Found("figure", rule, hit.start(), hit.end())
