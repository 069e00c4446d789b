"""What is asked of a specialist, and what a model read in a message before that is settled."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agents.shared.semantic import catalog

MAX_TEXT = 5_000
"""Characters of a message that is read at all."""
Dimension = Literal["brand", "region", "week"]
SQL_LIST = "query_sql"
"""The name of what somebody's own SELECT gives."""

REPLAN = "replan"
"""The name of the one action, in approvals."""


class Query(BaseModel):
    """One complete request: an empty filter means no filter. Names are the catalog's proper names.

    `weeks` are ISO weeks (`2026-W36`); `last_weeks` asks for the newest so many weeks of the data.
    `sql` is one SELECT, which the filters do not touch. `explain`: not the numbers are wanted, but
    how the measures are defined. `csv`: as a file. `replan`: supply is to be planned anew for the
    regions and brands, as the person approved in `invocation`. `run_id`: how such a run goes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    measures: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    sql: str = ""
    explain: bool = False
    csv: bool = False
    replan: bool = False
    run_id: int = 0
    invocation: str = ""
    brands: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    weeks: tuple[str, ...] = ()
    last_weeks: int = 0
    group_by: tuple[Dimension, ...] = ()
    currency: str = "EUR"


class Reading(BaseModel):
    """How a model understands a message. Nothing here is trusted before router/rules.py settles it.

    `intent`: `answer` (numbers are wanted), `explain` (what a measure means), `replan` (supply is
    to be planned anew), `status` (how the last replan goes), `note` (a preference), `other`.
    `unknown`: names and words that were not understood and would change the numbers.
    `note`: the stated preference, addressed to the user.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    intent: Literal["answer", "explain", "replan", "status", "note", "other"] = "other"
    measures: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    sql: str = ""
    brands: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    weeks: tuple[str, ...] = ()
    last_weeks: int = Field(default=0, ge=0)
    group_by: tuple[Dimension, ...] = ()
    unknown: tuple[str, ...] = ()
    note: str = ""


def phrase(query: Query) -> str:
    """The query as a phrase, such as `Acme Pure media spend in Western Europe by week`."""
    if query.sql or query.replan or query.run_id:
        return "Your query" if query.sql else "The planning of supply"
    names = catalog()
    labels = [names.measures[key].label for key in query.measures]
    labels += [names.lists[key].label for key in query.lists]
    subject = listed([label[0].lower() + label[1:] for label in labels])
    if query.brands:
        subject = f"{listed(query.brands)} {subject}"
    where = f" in {_place(query.regions)}" if query.regions else ""
    by = f" by {listed(query.group_by)}" if query.group_by else ""
    when = f" in the last {query.last_weeks} weeks" if query.last_weeks > 1 else ""
    when = " in the newest week" if query.last_weeks == 1 else when
    when = f" in {listed(query.weeks)}" if query.weeks else when
    return f"{subject[0].upper()}{subject[1:]}{where}{when}{by}"


def _place(regions: tuple[str, ...]) -> str:
    return listed([f"the {name}" if name.endswith("s") else name for name in regions])


def listed(items: tuple[str, ...] | list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
