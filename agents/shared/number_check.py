"""The number check: a figure that is in neither the findings nor the question is refused.

A figure passes when it is a value that was shown, rounded as people round (to its own last digit,
but to no fewer than two significant ones), scaled ("436 k", "€0.44 million"), or the percentage
that one shown value is of another, or has changed from it. Weeks, dates, years beside them, list
markers and ordinals are no figures. Thousands separators and decimal marks are read in every way
that they can be meant: "1.234" is 1234 in one country and 1.234 in another.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from agents.shared.brief import Brief

_SCALES = {
    "k": 1e3, "thousand": 1e3, "tsd": 1e3, "tausend": 1e3, "mille": 1e3,
    "m": 1e6, "mn": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6,
    "bn": 1e9, "billion": 1e9, "mrd": 1e9, "milliarde": 1e9, "milliarden": 1e9, "milliards": 1e9,
}  # fmt: skip
# Grouped by threes with a space, a point, a comma or an apostrophe; then a decimal part.
_DIGITS = r"\d{1,3}(?:[ .,'’]\d{3})+(?:[.,]\d+)?(?!\d)|\d+(?:[.,]\d+)?"
_FIGURE = re.compile(
    rf"(?<![\w.,])(?P<sign>[-−])?(?P<digits>{_DIGITS})"
    rf"(?:\s?(?P<scale>{'|'.join(sorted(_SCALES, key=len, reverse=True))})\b\.?)?\s?(?P<per>%)?",
    re.I,
)
_NO_FIGURES = re.compile(
    r"""
      \b20\d\d-W\d\d\b | \b(?:weeks?|w|cw|kw)\s?\d{1,2}\b(?!\s*%)          # ISO weeks
    | \b20\d\d-\d\d-\d\d\b | \b\d{1,2}[./]\d{1,2}[./]20\d\d\b               # dates
    | \b(?:in|of|since|until|till|for|year)\s+20\d\d\b(?![.,]\d)            # years
    | \b\d{1,4}(?:st|nd|rd|th)\b                                             # ordinals
    | ^\s*\d{1,2}[.)]\s                                                      # list markers
    """,
    re.I | re.M | re.X,
)
_FEWEST_DIGITS = 2
_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2009"), " ")


@dataclass(frozen=True)
class Figure:
    """A number in a text: as it is written, what it may mean, and to what it is exact."""

    text: str
    meanings: tuple[tuple[float, float], ...]
    """Value, and half of the unit of its last digit."""
    percent: bool
    start: int
    end: int


def figures(text: str) -> list[Figure]:
    """Every figure in a text, in its order."""
    plain = _plain(text)
    masked = list(plain)
    for hit in _NO_FIGURES.finditer(plain):
        masked[hit.start() : hit.end()] = " " * (hit.end() - hit.start())
    found = []
    for hit in _FIGURE.finditer("".join(masked)):
        scale = _SCALES.get((hit["scale"] or "").lower(), 1.0)
        meanings = tuple((v * scale, half * scale) for v, half in _meanings(hit["digits"]))
        found.append(Figure(hit[0].strip(), meanings, bool(hit["per"]), hit.start(), hit.end()))
    return found


def foreign(text: str, brief: Brief) -> list[Figure]:
    """The figures of an answer that neither its findings nor the question hold."""
    shown = [abs(value) for value in _shown(brief)]
    shares = list(_percentages(brief))
    return [
        figure
        for figure in figures(text)
        if not _passes(figure, shown + shares if figure.percent else shown)
    ]


def without(text: str, refused: Iterable[Figure]) -> str:
    """The text without the lines and sentences that hold a refused figure."""
    words = {figure.text for figure in refused}
    kept = []
    for line in _plain(text).splitlines():
        sentences = re.split(r"(?<=[.!?])\s+", line)
        good = [s for s in sentences if not any(f.text in words for f in figures(s))]
        if good or not line:
            kept.append(" ".join(good))
    return "\n".join(kept).strip()


def _plain(text: str) -> str:
    """Full-width digits become plain, special spaces spaces, and what is not seen goes."""
    visible = "".join(c for c in text.translate(_SPACES) if unicodedata.category(c) != "Cf")
    return "".join(unicodedata.normalize("NFKC", c) if c.isdigit() else c for c in visible)


def _meanings(digits: str) -> Iterable[tuple[float, float]]:
    """What the digits may mean: with the last mark as decimal, and with all as separators."""
    marks = [c for c in digits if not c.isdigit()]
    bare = re.sub(r"\D", "", digits)
    if not marks:
        yield float(bare), _half(bare)
        return
    tail = digits.rpartition(marks[-1])[2]
    grouped = len(tail) == 3 and len(set(marks)) == 1
    if grouped:
        yield float(bare), _half(bare)
    if marks[-1] in ".," and (not grouped or len(marks) == 1):
        yield float(bare) / 10 ** len(tail), 0.5 / 10 ** len(tail)


def _half(digits: str) -> float:
    """Half of the unit of the last digit that counts: closing zeros may be rounding."""
    significant = max(len(digits.rstrip("0")), _FEWEST_DIGITS)
    return float(0.5 * 10 ** max(0, len(digits) - significant))


def _shown(brief: Brief) -> Iterable[float]:
    """All values of the findings, and the numbers of the question."""
    for finding in brief.findings:
        yield from (v for v in (finding.value, finding.rate, finding.rows) if v is not None)
        yield len(finding.groups)
        for group in finding.groups:
            yield from (v for v in (group.value, group.rows) if v is not None)
    for listing in brief.listings:
        yield len(listing.rows)
        cells = [cell for row in listing.rows for cell in row if cell is not None]
        yield from (float(cell) for cell in cells if not isinstance(cell, str))
        yield from _said([cell for cell in cells if isinstance(cell, str)])
    yield from _said([*brief.notes, brief.file])
    if brief.run is not None:
        yield float(brief.run.run_id)
    if any(finding.rate not in (None, 1) for finding in brief.findings):
        yield 1.0  # "0.86 GBP for €1"
    yield from _said([brief.question])
    yield float(brief.query.last_weeks)


def _said(texts: Iterable[str]) -> Iterable[float]:
    """The numbers in texts."""
    for text in texts:
        yield from (value for figure in figures(text) for value, _ in figure.meanings)


def _percentages(brief: Brief) -> Iterable[float]:
    """What one value of a finding is of another of the same finding, and by how much it differs."""
    for finding in brief.findings:
        values = [finding.value, *(group.value for group in finding.groups)]
        known = [value for value in values if value is not None]
        for a in known:
            for b in known:
                if b:
                    yield from (100 * abs(a / b), 100 * abs((a - b) / b))


def _passes(figure: Figure, shown: list[float]) -> bool:
    return any(_near(meaning, value) for meaning in figure.meanings for value in shown)


def _near(meaning: tuple[float, float], value: float) -> bool:
    stated, half = meaning
    return abs(stated - value) <= half + 1e-9 * max(1.0, abs(value))
