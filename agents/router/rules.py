"""Settles what is asked: the user's own words first, then the model's reading, then memory.

    a region is named             memory is ignored for it
    numbers by region are wanted  no region is filled in
    no region is named            the remembered one is filled in
    the same for the currency; without either it is the reporting currency

These hold whatever model has read the message, because code compares with the words themselves.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agents.shared.query import MAX_TEXT, Query, Reading, listed
from agents.shared.semantic import Catalog
from agents.shared.wording import Mentions, mentions

MAX_UNKNOWN = 5
_GOES_ON = re.compile(r"\s*(?:and|now|what about|how about|the same|same|und|et)\b", re.I)
"""How a message begins that goes on with the last question."""
Filled = Literal["regions", "currency"]


class Settled(BaseModel):
    """One of: a query; the `status` of the last replan; or what to `say` because there is neither.

    `from_memory` names the fields of the query that the user did not say this time.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Query | None = None
    status: bool = False
    home_team: str = ""
    from_memory: tuple[Filled, ...] = ()
    say: str = ""


def settle(
    reading: Reading,
    text: str,
    remembered: str,
    names: Catalog,
    *,
    has_memory: bool,
    may_keep: bool = True,
    last: Query | None = None,
    home_team: str = "",
) -> Settled:
    """Settles one message.

    Args:
        reading: what a model made of it.
        text: the user's words.
        remembered: the facts that memory holds of the user, one a line.
        has_memory: whether there is a memory for what the user states.
        may_keep: whether the guard lets any of it through.
        last: what was answered last in this conversation.
        home_team: whose measures are meant when none is named.
    """
    if len(text) > MAX_TEXT:
        return Settled(say=f"Your message has {len(text):,} characters; I read up to {MAX_TEXT:,}.")
    said = mentions(text, names)
    named = bool(said.measures or said.lists)
    if last is not None and _GOES_ON.match(text):
        reading = reading.model_copy(update={"intent": "answer"})
    if reading.intent == "note" and not ("?" in text and named):
        team = _stated_team(text, names)
        note = reading.note or (f"you work in {team}" if team else "")
        told = _noted(note, has_memory=has_memory or bool(team), may_keep=may_keep)
        return Settled(say=told, home_team=team)
    if reading.intent == "replan":
        return _replan(said, names)
    if reading.intent == "status":
        return Settled(status=True)
    if reading.sql:
        return _own_sql(reading.sql, names)
    reading = _completed(reading, said, names, last, home_team)
    if refusal := _refusal(reading, said, names):
        return Settled(say=refusal)
    measures = _known(reading.measures, tuple(names.measures)) or said.measures
    lists = _known(reading.lists, tuple(names.lists)) or said.lists
    if reading.intent == "explain":
        return Settled(query=Query(measures=measures, lists=lists, explain=True))
    regions, remembered_region = _regions(reading, said, remembered, names)
    currency, remembered_currency = _currency(said, remembered, names)
    query = Query(
        measures=measures,
        lists=lists,
        brands=said.brands or _known(reading.brands, names.brands),
        regions=regions,
        weeks=said.weeks or (() if said.last_weeks else reading.weeks),
        last_weeks=said.last_weeks or (0 if said.weeks else reading.last_weeks),
        group_by=said.group_by or reading.group_by,
        currency=currency,
        csv=said.csv,
    )
    filled: list[Filled] = ["regions"] if remembered_region else []
    filled += ["currency"] if remembered_currency else []
    return Settled(query=query, from_memory=tuple(filled))


def _completed(
    reading: Reading, said: Mentions, names: Catalog, last: Query | None, home_team: str
) -> Reading:
    """The reading of a message that names no measure: an overview, or a question that goes on."""
    if said.measures or said.lists or _known(reading.measures, tuple(names.measures)):
        return reading
    if said.overview:
        owners = [home_team] if home_team in names.agents else names.agents
        return reading.model_copy(update={"measures": names.headlines(owners)})
    goes_on = said.csv or said.brands or said.regions or said.weeks or said.last_weeks
    if last is None or not (goes_on or said.group_by or said.everywhere or said.currencies):
        return reading
    period = said.weeks or said.last_weeks
    return reading.model_copy(
        update={
            "measures": last.measures,
            "lists": last.lists,
            "brands": reading.brands or last.brands,
            "regions": reading.regions or last.regions,
            "weeks": reading.weeks or (() if period else last.weeks),
            "last_weeks": reading.last_weeks or (0 if period else last.last_weeks),
            "group_by": reading.group_by or last.group_by,
        }
    )


def _stated_team(text: str, names: Catalog) -> str:
    """The team that the user says to work in; only a name of an agent that owns data."""
    team = "|".join(map(re.escape, names.agents))
    hit = re.search(rf"\bI(?:'m| am| work)? (?:in|for|with)(?: the)? ({team})\b", text, re.I)
    return hit[1].lower() if hit else ""


def _replan(said: Mentions, names: Catalog) -> Settled:
    """What is to be done is what the user names; neither memory nor a model fills anything."""
    if said.negated:
        return Settled(say=f"Name what to plan anew; I cannot leave {listed(said.negated)} out.")
    regions = names.regions if said.everywhere else said.regions
    if not regions:
        known = listed(list(names.regions))
        return Settled(
            say=f"For which region shall supply be planned anew? Name it ({known}), or say “all "
            "regions”. I take none from what I remember, since this changes something."
        )
    return Settled(query=Query(replan=True, regions=regions, brands=said.brands))


def _own_sql(sql: str, names: Catalog) -> Settled:
    """Somebody's own SELECT, for the one agent that has its tables; memory fills nothing in it."""
    owners = names.owners_of_sql(sql)
    if len(owners) == 1:
        return Settled(query=Query(sql=sql))
    tables = "; ".join(f"{agent} has {', '.join(names.tables[agent])}" for agent in names.tables)
    return Settled(say=f"A query can read the tables of one agent: {tables}.")


def _regions(
    reading: Reading, said: Mentions, remembered: str, names: Catalog
) -> tuple[tuple[str, ...], bool]:
    """The regions to filter by, and whether they come from memory."""
    if said.regions:
        return said.regions, False
    if said.everywhere or "region" in (*said.group_by, *reading.group_by):
        return (), False
    facts = _facts(remembered, names)
    kept = tuple(dict.fromkeys(region for fact in facts for region in fact.regions))
    understood = _known(reading.regions, names.regions)
    if understood and not set(understood) <= set(kept):
        # In words that code does not know; what memory says is no gap then.
        return understood, False
    return kept, bool(kept)


def _currency(said: Mentions, remembered: str, names: Catalog) -> tuple[str, bool]:
    """The currency of amounts, and whether it comes from memory."""
    if said.currencies:
        return said.currencies[-1], False
    for fact in _facts(remembered, names):
        if fact.currencies:
            return fact.currencies[0], True
    return names.currency.reporting, False


def _facts(remembered: str, names: Catalog) -> list[Mentions]:
    """What each remembered fact names; what it names to leave out is not among it."""
    return [mentions(line, names) for line in remembered.splitlines() if line.strip()]


def _known(wanted: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in wanted if name in known))


def _refusal(reading: Reading, said: Mentions, names: Catalog) -> str:
    """Why there is no answer, and what can be asked instead; "" when there can be one."""
    if said.negated:
        return (
            f"I cannot leave {listed(said.negated)} out. Name what you want to see, or ask for the "
            f"numbers by region or by brand."
        )
    if reading.unknown:
        quoted = [f"“{_plain(name)}”" for name in reading.unknown[:MAX_UNKNOWN]]
        return f"I do not know {listed(quoted)}, so I give no number. {offer(names)}"
    if not (reading.measures or reading.lists or said.measures or said.lists):
        return f"I can answer questions about numbers. {offer(names)}"
    known = {*names.measures, *names.lists}
    if not (said.measures or said.lists or known & {*reading.measures, *reading.lists}):
        wanted = listed([f"“{_plain(name)}”" for name in reading.measures[:MAX_UNKNOWN]])
        return f"There is no measure {wanted}. {offer(names)}"
    return ""


def offer(names: Catalog) -> str:
    """What can be asked, in three sentences."""
    items = [*names.measures.values(), *names.lists.values()]
    labels = [
        item.label if item.label.isupper() else item.label[0].lower() + item.label[1:]
        for item in items
    ]
    return (
        f"You can ask for {listed(labels)}. Brands: {', '.join(names.brands)}. "
        f"Regions: {', '.join(names.regions)}. Also by week, as in 2026-W36 or “the last 4 weeks”."
    )


def _noted(note: str, *, has_memory: bool, may_keep: bool) -> str:
    if not may_keep:
        return (
            "I do not keep that. I remember how you work and how you want answers to look, but no "
            "figures, no credentials, and not what a word is to mean."
        )
    if not has_memory:
        return "Understood, but I have no memory here: please say it again with your question."
    note = note.strip().rstrip(".")
    return f"Noted: {note}." if note else "Noted."


def _plain(name: str) -> str:
    """A word of a model's, without anything that could pass for markup."""
    return re.sub(r"[^\w\s&'.%/-]", "", name)[:40]
