"""Reads a message as a model would: is something asked, which names it has, what is not understood.

Strict on purpose: a word that is neither a name nor an ordinary one might narrow what is asked
("in Germany", "in 2024", "except promotions"), and a number for another question is worse than
none.
"""

from __future__ import annotations

import re

from agents.shared import guard
from agents.shared.query import MAX_TEXT, Reading, listed
from agents.shared.semantic import Catalog, catalog
from agents.shared.wording import Mentions, mentions, without

_STANDING = re.compile(
    r"\b(?:always|never|from now on|going forward|by default|as a rule|usually|normally|remember|"
    r"(?:i|we)(?:'d| would)? (?:always |usually )?(?:prefer|like|want|work|cover|manage|focus|"
    r"look (?:after|at)|handle|own|care|am |'m )|i'm|i am|we're|my (?:region|market|brand|team|"
    r"preference|currency)s?)\b",
    re.I,
)
_EXPLAIN = re.compile(
    r"\b(?:what (?:do(?:es)?|is meant by|exactly (?:is|are))|meaning of|defin(?:e|ition)|explain|"
    r"how (?:is|are|do (?:we|you)) .{1,60}?(?:comput|calculat|measur|defin|count)\w*)\b",
    re.I,
)
_REPLAN = re.compile(
    r"\bre-?plan(?!ned)\b|\bplan (?:the )?(?:supply|stock|deliveries)\b.*\b(?:again|anew)\b|"
    r"\bneu planen\b|\bplane\b.*\bneu\b|\breplanifi\w+",
    re.I,
)
_STATUS = re.compile(
    r"\b(?:is|was) (?:it|that|the (?:re-?plan|job|run)) (?:done|finished|ready|over|through)\b|"
    r"\b(?:status|state) of (?:the |my )?(?:last )?(?:re-?plan|run|job)\b|\bre-?plan status\b|"
    r"\bhow is (?:the |my )?re-?plan(?:ning)?\b|\bfertig\b.*\?|\best-ce (?:fini|prêt)",
    re.I,
)
_MEANS = re.compile(r"\b(?:mean|means|stand for|stands for)\b", re.I)
_SQL = re.compile(r"\s*(?:select|with)\b.*\bfrom\b", re.I | re.S)
_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+")
_ORDINARY_WORDS = """\
a about actually after again all also altogether am amount an and any are as ask at be been best
brand brands bring brought but buy by calculate campaign campaigns can check come compute could
currency current currently data day decimal decimals did do does each every figure figures for
from get give go got had hand has have having hello help hey hi highest how i i'd i'll i'm if in
into is it it's its just kindly know later least let let's level like list look looking lowest
many market markets me million millions money most much my nearest need now number numbers of on
one or our out over paid pay please product products put quick quickly region regions report
right round rounded s see show some still sum tell than thank thanks that that's the their them
then there these they this those thousand thousands to today total totals turn under up us use
value values was way we we'd we've week weeks well went were what what's when where which while
who will with within work worst would you your often how
als am an auf bei bitte das dem den der des die dies diese ein eine es für gab gib haben hat hatten
ich im in ist mir mit nach pro sind uns und unser unsere unserer viel viele vom von war waren was
welche welcher wie wir wo wurde wurden zeig zeige zu zum zur
à au aux avec avons ce combien dans de des du en est et il la le les montre nous on par pour quel
quelle quelles quels sont sur un une était
"""
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:['&.-][^\W_]+)*|[%#]", re.U)


def read(text: str, names: Catalog | None = None) -> Reading:
    """Reads one message."""
    if len(text) > MAX_TEXT:
        return Reading(intent="other")
    names = names or catalog()
    if _SQL.match(text) and names.owners_of_sql(text):
        return Reading(intent="answer", sql=text.strip().rstrip(";"))
    text = guard.unsteered(text.replace("’", "'"))
    if _STATUS.search(text):
        return Reading(intent="status")
    if _REPLAN.search(text):
        found = mentions(text, names)
        return Reading(intent="replan", regions=found.regions, brands=found.brands)
    sentences = [part for part in _SENTENCES.split(text) if part.strip()]
    stated = [part for part in sentences if _STANDING.search(part) and "?" not in part]
    asked = " ".join(part for part in sentences if part not in stated)
    question, every = mentions(asked, names), mentions(text, names)
    named = question.measures or question.lists
    if named and _explains(asked):
        return Reading(intent="explain", measures=question.measures, lists=question.lists)
    if named or (asked and "?" in asked):
        return _question(asked, question, every)
    if stated or every.currencies:
        return Reading(intent="note", note=_note(every))
    return _question(asked, question, every)


def _explains(text: str) -> bool:
    hit = _EXPLAIN.search(text)
    return hit is not None and (
        not hit[0].lower().startswith("what do") or bool(_MEANS.search(text))
    )


def _question(asked: str, question: Mentions, every: Mentions) -> Reading:
    unknown = _left_over(asked, question)
    return Reading(
        intent="answer" if question.measures or question.lists else "other",
        measures=question.measures,
        lists=question.lists,
        brands=question.brands or every.brands,
        regions=question.regions or every.regions,
        weeks=question.weeks or every.weeks,
        last_weeks=question.last_weeks or every.last_weeks,
        group_by=question.group_by,
        unknown=unknown,
    )


def _left_over(text: str, found: Mentions) -> tuple[str, ...]:
    """Words that no rule consumed and that are not ordinary; neighbours are one name."""
    rest = without(text, found.spans)
    names: list[str] = []
    end = -2
    for word in _WORD.finditer(rest):
        if word[0].lower().removesuffix("'s") in _ORDINARY:
            continue
        joined = names and rest[end : word.start()].isspace() and "\n" not in rest
        # A blanked-out name is white space too, so neighbours stand one space apart.
        if joined and word.start() - end == 1:
            names[-1] += f" {word[0]}"
        else:
            names.append(word[0])
        end = word.end()
    return tuple(dict.fromkeys(names))


def _note(found: Mentions) -> str:
    parts = []
    scope = [*found.brands, *(f"the {r}" if r.endswith("s") else r for r in found.regions)]
    if scope:
        parts.append(f"you work on {listed(scope)}")
    if found.currencies:
        parts.append(f"amounts in {listed([plural(code) for code in found.currencies])}")
    if found.last_weeks:
        parts.append(f"the last {found.last_weeks} weeks")
    if found.group_by:
        parts.append(f"numbers by {listed(found.group_by)}")
    return listed(parts)


def plural(code: str) -> str:
    """A currency as people call it: `euros`."""
    return {"EUR": "euros", "GBP": "pounds", "USD": "dollars"}.get(code, code)
