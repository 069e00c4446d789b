"""What a text says in words that code can be sure of: names, groupings, weeks, negations.

Used by the offline model to read a question, and by the router to hold any model to the user's own
words. Each hit keeps its place in the text, so that what is left over is known as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from agents.shared.query import Dimension
from agents.shared.semantic import Catalog, Kind

Span = tuple[int, int]

_NOT = r"not|no|never|n't|except|but|without|exclud\w*|outside|other than|ignor\w*|skip|apart from"
# "leave(s) out the Nordics": what follows is named in order not to be meant.
_NEGATED = re.compile(rf"(?:\b(?:{_NOT}|(?:leav\w*|left) out)|n't)\W+(?:\w+\W+){{0,3}}$", re.I)
_BEFORE = 80
"""How far before a name a negation may stand, in characters."""
_UNIT = r"(brand|region|week|market)"
_GROUPED = re.compile(
    rf"\b(?:by|per|for each|for every|for all|each|every|across(?: all)?|between|which|what)"
    rf"(?: the)? {_UNIT}s?\b(?:(?:,| and| by|, and) {_UNIT}s?\b)?"
    rf"|\b{_UNIT} by {_UNIT}\b|\b{_UNIT}(?:al|ly|wise)? (?:breakdown|split)\b|\b(weekly)\b",
    re.I,
)
_EVERYWHERE = re.compile(
    r"\b(?:in |across |over |for )?(?:all (?:the )?(?:regions|markets)(?: together)?|everywhere|"
    r"worldwide|globally|the (?:whole )?world)\b",
    re.I,
)
_OVERVIEW = re.compile(
    r"\bhow (?:is|are|was|were)\b(?=.{0,60}\b(?:doing|going|performing)\b)|"
    r"\b(?:doing|going|performing)\b|\boverview\b|\bhow do we stand\b|\bkey figures\b|"
    r"\bwie l(?:ä|ae)uft(?: es)?\b|\bvue d'ensemble\b",
    re.I,
)
_CSV = re.compile(
    r"\b(?:(?:as|in|into|to|als|im|en|au format) (?:a |an |ein(?:e)? |un )?)?"
    r"(?:csv|spreadsheet|excel)\b(?:[- ](?:file|format|datei))?",
    re.I,
)
_COUNTED = "one two three four five six seven eight nine ten eleven twelve thirteen"
_NUMBERS = {word: number for number, word in enumerate(_COUNTED.split(), 1)}
_LAST = re.compile(
    rf"\b(?:in |over |during |for |of )?(?:the )?(?:last|past|latest|newest|most recent|previous)"
    rf"(?: (\d{{1,2}}|{'|'.join(_NUMBERS)}))? weeks?\b",
    re.I,
)
_WEEK = r"(?:(?:20\d\d[- ]?)?(?:cw|kw|w|weeks?) ?\d{1,2}(?!\d)(?: (?:of |in )?20\d\d)?)"
_TO = r"-|–|to|until|till|through"
_WEEKS = re.compile(
    rf"\b(?:(between) (?:the )?)?{_WEEK}"
    rf"(?:\s*(?:,? and|,|{_TO})\s*(?:{_WEEK}|\d{{1,2}}(?!\w|[.,]\d)))*",
    re.I,
)
_YEAR = re.compile(r"(20\d\d)[- ]?")
_STEPS = re.compile(rf"(\d{{1,2}})|({_TO})", re.I)
_ALL_TIME = re.compile(
    r"\b(?:so far|to date|in total|overall|altogether|all together|all time|in all weeks|"
    r"over all weeks|for all weeks|ever)\b",
    re.I,
)


@dataclass(frozen=True)
class Mentions:
    """What a text names. `negated` holds brands and regions that it names to leave them out."""

    measures: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    currencies: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()
    group_by: tuple[Dimension, ...] = ()
    weeks: tuple[str, ...] = ()
    last_weeks: int = 0
    everywhere: bool = False
    overview: bool = False
    csv: bool = False
    spans: tuple[Span, ...] = field(default=(), repr=False)


def mentions(text: str, catalog: Catalog) -> Mentions:
    """Finds all that in `text`."""
    names: dict[Kind, list[str]] = {
        "measure": [],
        "list": [],
        "brand": [],
        "region": [],
        "currency": [],
    }
    negated: list[str] = []
    spans: list[Span] = []
    for match in catalog.matches(text):
        spans.append((match.start, match.end))
        left_out = match.kind not in ("measure", "list") and _NEGATED.search(
            text[max(0, match.start - _BEFORE) : match.start]
        )
        if left_out:
            negated += [match.name] if match.kind in ("brand", "region") else []
        elif match.name not in names[match.kind]:
            names[match.kind].append(match.name)
    grouped = list(_GROUPED.finditer(text))
    everywhere = list(_EVERYWHERE.finditer(text))
    weeks, last_weeks, periods = _period(text, catalog.year)
    overview = list(_OVERVIEW.finditer(text))
    files = list(_CSV.finditer(text))
    spans += [hit.span() for hit in (*grouped, *everywhere, *overview, *files)] + periods
    return Mentions(
        measures=tuple(names["measure"]),
        lists=tuple(names["list"]),
        brands=tuple(names["brand"]),
        regions=tuple(names["region"]),
        currencies=tuple(names["currency"]),
        negated=tuple(negated),
        group_by=tuple(dict.fromkeys(unit for hit in grouped for unit in _units(hit))),
        weeks=weeks,
        last_weeks=last_weeks,
        everywhere=bool(everywhere),
        overview=bool(overview),
        csv=bool(files),
        spans=tuple(spans),
    )


def without(text: str, spans: tuple[Span, ...]) -> str:
    """The text with the spans blanked out."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = " " * (end - start)
    return "".join(letters)


def _units(hit: re.Match[str]) -> Iterator[Dimension]:
    for word in filter(None, hit.groups()):
        unit = word.lower()
        if unit in ("week", "weekly"):
            yield "week"
        elif unit == "brand":
            yield "brand"
        else:
            yield "region"


def _period(text: str, year: int) -> tuple[tuple[str, ...], int, list[Span]]:
    """Named weeks, or the number of newest ones, and where that stands."""
    spans = [hit.span() for hit in _ALL_TIME.finditer(text)]
    last = _LAST.search(text)
    if last is not None:
        spans.append(last.span())
        word = (last[1] or "one").lower()
        return (), int(word) if word.isdigit() else _NUMBERS[word], spans
    weeks: list[str] = []
    for hit in _WEEKS.finditer(text):
        if named := _weeks(hit, year):
            spans.append(hit.span())
            weeks += named
    return tuple(dict.fromkeys(weeks)), 0, spans


def _weeks(hit: re.Match[str], year: int) -> list[str]:
    """The weeks of `weeks 36 to 38`, `W36, W37 and W39`; none when it goes over a year's end."""
    years = set(_YEAR.findall(hit[0]))
    if len(years) > 1:
        return []
    own = years.pop() if years else year
    numbers: list[int] = []
    ranging = False
    for number, to in _STEPS.findall(_YEAR.sub(" ", hit[0])):
        if to:
            ranging = True
            continue
        end = int(number)
        numbers += range(numbers[-1] + 1, end + 1) if ranging and numbers else [end]
        ranging = bool(hit[1])
    return [f"{own}-W{number:02d}" for number in numbers]
