"""What a memory bank keeps of a conversation: rules here, models in the cloud.

Agent Platform has a model extract facts and another consolidate them. Offline there is none, so
these rules keep only what users state about how they work, as short facts in the third person:

    I work on Western Europe.               Works on Western Europe      scope
    I'm in the media team.                  Is in the media team         scope
    Always leave out Acme Zero.             Leaves out Acme Zero         scope
    Always show me euros.                   Prefers euros                preference
    I usually look at the last four weeks.  Usually looks at the last four weeks

A preference is a standing wish ("always", "from now on", "I prefer"), or the whole sentence ("In
pounds, please."). A question is never kept, nor a sentence with a figure, nor what no rule knows. A
fact has a *slot*, found in its own words: a new fact replaces the one in its slot, as consolidation
does in the cloud. The rules read English; they stand in for the models and do not measure them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

Sort = Literal["scope", "preference"]


@dataclass(frozen=True)
class Fact:
    """One thing to keep. `slot` says what it is about: of each slot one fact is kept."""

    text: str
    slot: str
    sort: Sort


@dataclass(frozen=True)
class _Choice:
    """One thing that a person can wish one way or another: the wordings of each value."""

    slot: str
    values: dict[str, re.Pattern[str]]


def _words(regex: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{regex})(?!\w)", re.I)


def _choice(slot: str, **values: str) -> _Choice:
    return _Choice(slot, {name.replace("_", " "): _words(rx) for name, rx in values.items()})


_CHOICES = (
    _choice(
        "currency",
        euros=r"euros?|eur|€",
        pounds=r"pounds?(?: sterling)?|sterling|gbp|£",
        dollars=r"(?:us )?dollars?|usd|\$",
        yen=r"yen|jpy|¥",
        Swiss_francs=r"(?:swiss )?francs?|chf",
        kronor=r"kronor|krona|kroner|sek|nok|dkk",
        zloty=r"zloty|pln",
        local_currency=r"local currenc(?:y|ies)",
    ),
    _choice(
        "format",
        tables=r"tables?|tabular(?: form)?",
        charts=r"charts?|graphs?|plots?",
        bullet_points=r"bullet(?:ed)? (?:points?|lists?)|bullets",
        sentences=r"(?:full )?sentences?|prose|plain text",
    ),
    _choice(
        "rounding",
        numbers_in_thousands=r"thousands?",
        numbers_in_millions=r"millions?",
        whole_numbers=r"(?:whole|round) (?:numbers?|euros|pounds|dollars)|(?:no|without|zero) "
        r"decimals?(?: places?)?|nearest (?:euro|pound|dollar)",
        one_decimal=r"(?:one|a single) decimal(?: place)?",
        two_decimals=r"two decimals?(?: places?)?",
        exact_numbers=r"exact(?: (?:numbers?|values?|amounts?))?|unrounded(?: numbers?)?",
    ),
    _choice(
        "detail",
        short_answers=r"(?:short|brief|concise)(?: (?:answers?|summar(?:y|ies)))?|summar(?:y|ies)",
        detailed_answers=r"(?:long|detailed|thorough) answers?|details?|detailed|in depth",
    ),
    _choice(
        "grain",
        weekly_numbers=r"weekly(?: numbers)?|(?:by|per|each|every) week|week by week",
        monthly_numbers=r"monthly(?: numbers)?|(?:by|per|each|every) month|month by month",
        quarterly_numbers=r"quarterly(?: numbers)?|(?:by|per|each|every) quarter",
    ),
)
_AGAINST = re.compile(
    r"\b(?:compar(?:e|es|ed|ison)|versus|vs\.?|against|relative)\W*(?:\w+ )?(?:to |with )?(?:the )?"
    r"((?:last|previous|prior) (?:year|quarter|month|week|period)|budget|plan|target|forecast)\b"
    r"|\b(year[- ]o(?:n|ver)[- ]year)\b",
    re.I,
)
_COUNT = r"(?:\d\d?|two|three|four|five|six|eight|ten|twelve|thirteen|twenty-six|fifty-two)"
_WINDOW = re.compile(
    rf"\b((?:last|past|previous|latest|current|this) (?:{_COUNT} )?"
    r"(?:days?|weeks?|months?|quarters?|years?)|(?:year|quarter|month) to date|ytd|qtd|mtd)\b",
    re.I,
)
_TO_DATE = {"ytd": "year to date", "qtd": "quarter to date", "mtd": "month to date"}
_PREFER = re.compile(
    r"\bi(?:'d| would)? (?:always |really |usually )?prefer (?:to (?:see|have|get) )?(.+)$", re.I
)

_SENTENCES = re.compile(r"(?<=[.!?;])\s+|\n+|\s[-–—]\s|,\s+(?=(?:and )?(?:what|how|which)\b)", re.I)
_QUESTION = re.compile(
    r"^(?:(?:and|so|but|then|now),? )?(?:(?:what|which|who|whose|why|how)\b|(?:when|where|is|are|"
    r"was|were|do|does|did|can|could|would|will|should|has|have) "
    r"(?:i|you|we|they|it|he|she|there|the|this|that|any|is|are|do|does|did)\b)",
    re.I,
)
_FIGURE = re.compile(
    r"\d{3}|\d[.,]\d|\d\s*%|[€$£¥]\s*\d|\d\s*(?:k|m|bn|million|euros?|pounds?|dollars?)\b", re.I
)
_CREDENTIAL = re.compile(
    r"\b(?:passwords?|passphrase|tokens?|secrets?|(?:api )?keys?|credentials?)\b", re.I
)
_STANDING = re.compile(
    r"\b(?:always|never|from now on|going forward|in (?:the )?future|by default|as a rule|usually|"
    r"normally|every time|i(?:'d| would)? (?:\w+ )?(?:prefer|rather)|i (?:like|don't like)|"
    r"my preference)\b",
    re.I,
)
_FILLER = re.compile(
    r"(?:\b(?:please|just|only|use|show|give|me|us|it|them|everything|numbers?|results?|answers?|"
    r"amounts?|spend|values|in|as|with|the|a|an|to|and|report|display|put|thanks|remember|i|i'd|like|"
    r"want|need|rounded?|keep|make|be|would|actually|instead|rather|now|no|okay|ok|well)\b|[\s,.;:!'])*",
    re.I,
)
_NOT = re.compile(
    r"\b(?:never|no|not|don't|without|instead of|rather than|over)\s+(?:\w+\s+){0,2}$", re.I
)
_ME = (
    r"\b(?:i|we)(?:'m|'re| am| are)?(?: (?:now|only|mainly|mostly|usually|also|currently|always))*"
)
_SCOPE = re.compile(
    rf"{_ME} (?:work (?:on|in|across)|responsible for|in charge of|look after|cover|manage|handle|"
    r"focus on|own)\s+(.+)$|\bmy (?:regions?|markets?|brands?|channels?|area|scope|countr(?:y|ies)|"
    r"categor(?:y|ies)) (?:is|are)\s+(.+)$",
    re.I,
)
_TEAM = re.compile(
    rf"(?:{_ME} (?:in|on|part of|work (?:in|for|on))|\bmy team is) (?:the )?"
    r"((?:[\w&'-]+ ){1,4}?(?:team|department|desk|unit))\b",
    re.I,
)
_OUT = re.compile(
    r"\b(?:leave out|exclude|ignore|skip|without|(?:never|don't) include)\s+(.+)$", re.I
)
_END = re.compile(
    r"\s*(?:[,.;:!?(].*|\b(?:and|but|so|because|since|when|if|as)\b\s+(?:i|i'm|i'd|you|we|it|always|"
    r"please|show|want|never|prefer|use|my|usually|normally|give)\b.*|\b(?:from now on|by default|"
    r"please|now|going forward|in future)\b.*)$",
    re.I,
)
_REGION = re.compile(
    r"\b(?:europe|nordics?|americas?|asia|africa|emea|apac|latam|dach|benelux|iberia|baltics?|pacific|"
    r"oceania|east|north|south|west|northern|southern|eastern|western|central|regions?|markets?|"
    r"countr(?:y|ies)|uk|usa|united \w+)\b",
    re.I,
)


def facts(texts: Iterable[str]) -> list[Fact]:
    """What the user's messages state: the last word on each slot, in the order of first mention."""
    found: dict[str, Fact] = {}
    for text in texts:
        for sentence in _SENTENCES.split(text.replace("’", "'")):
            for fact in _of_sentence(sentence.strip()):
                found[fact.slot] = fact
    return list(found.values())


def slot(text: str) -> str:
    """The slot of a fact by its words; a fact that no rule would make is a slot of its own."""
    plain = text.strip().rstrip(".")
    if match := re.match(r"(?:user )?works (?:on|in) (.+)", plain, re.I):
        return _scope_slot(match[1])
    if re.match(r"(?:user )?is in the .* (?:team|department|desk|unit)$", plain, re.I):
        return "team"
    if re.match(r"(?:user )?(?:prefers|compares|usually|always|wants)\b", plain, re.I):
        for fact in _wishes(plain):
            return fact.slot
    return "fact:" + " ".join(re.findall(r"\w+", plain.lower()))


def _of_sentence(sentence: str) -> Iterator[Fact]:
    asked = sentence.endswith("?") or _QUESTION.match(sentence)
    if not sentence or asked or _FIGURE.search(sentence) or _CREDENTIAL.search(sentence):
        return
    yield from _scopes(sentence)
    wishes = list(_wishes(sentence))
    if _STANDING.search(sentence):
        yield from wishes
        known = bool(wishes) or _OUT.search(sentence)
        if not known and (match := _PREFER.search(sentence)) and (what := _thing(match[1])):
            text = f"Prefers {_third_person(what)}"
            yield Fact(text, slot(text), "preference")
    elif wishes and _FILLER.fullmatch(_without_values(sentence)):
        yield from wishes


def _scopes(sentence: str) -> Iterator[Fact]:
    if match := _TEAM.search(sentence):
        yield Fact(f"Is in the {match[1]}", "team", "scope")
    elif (match := _SCOPE.search(sentence)) and (what := _thing(match[1] or match[2])):
        yield Fact(f"Works on {what}", _scope_slot(what), "scope")
    if _STANDING.search(sentence) and (match := _OUT.search(sentence)):
        values = any(rx.search(match[1]) for choice in _CHOICES for rx in choice.values.values())
        if not values and (what := _thing(match[1])):
            yield Fact(f"Leaves out {what}", slot(f"Leaves out {what}"), "scope")


def _scope_slot(what: str) -> str:
    """A region and a brand are two things; a new region replaces the region."""
    return "works on: region" if _REGION.search(what) else "works on: other"


def _wishes(sentence: str) -> Iterator[Fact]:
    """Facts for the values that the sentence names."""
    for choice in _CHOICES:
        for value, pattern in choice.values.items():
            match = pattern.search(sentence)
            if match is None:
                continue
            if not _NOT.search(sentence[: match.start()]):
                yield Fact(f"Prefers {value}", choice.slot, "preference")
                break
            if choice.slot == "format":
                yield Fact(f"Avoids {value}", slot(f"Avoids {value}"), "preference")
    against = _AGAINST.search(sentence)
    if against:
        what = (against[1] or "last year").lower()
        article = "the " if " " not in what else ""
        yield Fact(f"Compares with {article}{what}", "comparison", "preference")
    if window := _WINDOW.search(_AGAINST.sub(" ", sentence)):
        what = window[1].lower()
        text = f"Usually looks at the {_TO_DATE.get(what, what)}"
        yield Fact(text, "window", "preference")


def _without_values(sentence: str) -> str:
    for choice in _CHOICES:
        for pattern in choice.values.values():
            sentence = pattern.sub(" ", sentence)
    return _WINDOW.sub(" ", _AGAINST.sub(" ", sentence))


def _thing(text: str) -> str | None:
    """The name at the start of `text`; None for what is no name, such as `a report`."""
    name = re.sub(r"^(?:the|all of|only) ", "", _END.sub("", text.strip()), flags=re.I).strip()
    if not name or len(name.split()) > 10 or re.match(r"(?:an?|this|that|it|these|those)\b", name):
        return None
    return name


def _third_person(text: str) -> str:
    swaps = {"my": "their", "me": "them", "i": "they", "our": "their"}
    return re.sub(r"\b(?:my|me|i|our)\b", lambda m: swaps[m[0].lower()], text, flags=re.I)
