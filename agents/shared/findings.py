"""What a specialist answers: numbers with their origin, and how they are written."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.shared.query import SQL_LIST, Query
from agents.shared.rounding import AS_IT_IS, Rounding
from agents.shared.semantic import MONEY, catalog

Number = int | float
_SYMBOLS = {"EUR": "€", "GBP": "£", "USD": "$"}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Group(_Model):
    """One line of a grouped finding: `keys` by dimension, the value, the rows it is from."""

    keys: dict[str, str]
    value: Number | None
    rows: int


class Finding(_Model):
    """One measure, read by code from the data.

    `value` is over all groups, None when there are no rows. `filters` by dimension; empty: none.
    `weeks` are the first and last week that the rows are of, or that the data has when there are
    no rows. `more`: there are more groups than were read. `rate` is what one unit of the data's
    currency was counted as, for money.
    """

    agent: str
    measure: str
    label: str
    value: Number | None
    unit: str
    filters: dict[str, tuple[str, ...]]
    weeks: tuple[str, str] | None
    rows: int
    group_by: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    more: bool = False
    rate: float | None = None
    sql: str
    parameters: tuple[str | float, ...] = ()

    def answers(self, query: Query) -> bool:
        """Whether it is what the query asks for: a model chose the tool's arguments in between."""
        newest = query.last_weeks and len(self.filters["week"]) <= query.last_weeks
        money = catalog().measures[self.measure].unit == MONEY
        return (
            self.measure in query.measures
            and set(self.filters["brand"]) == set(query.brands)
            and set(self.filters["region"]) == set(query.regions)
            and (set(self.filters["week"]) == set(query.weeks) or bool(newest))
            and set(self.group_by) == set(query.group_by)
            and (self.unit == query.currency or not money)
        )


LISTED_ROWS = 200
"""Rows of a list that are answered: they are stored with the conversation."""


class Listing(_Model):
    """Rows of a list of semantic.yaml, or of somebody's own SELECT (`name` is SQL_LIST then).

    `units` by column: "text" for what is no number. `more`: there are more rows than these.
    """

    agent: str
    name: str
    label: str
    columns: tuple[str, ...]
    units: tuple[str, ...]
    rows: tuple[tuple[Number | str | None, ...], ...]
    more: bool = False
    filters: dict[str, tuple[str, ...]]
    rate: float | None = None
    sql: str
    parameters: tuple[str | float, ...] = ()

    def answers(self, query: Query) -> bool:
        """Whether it is what the query asks for."""
        if self.name == SQL_LIST:
            return bool(query.sql) and self.sql == query.sql
        newest = query.last_weeks and len(self.filters["week"]) <= query.last_weeks
        money = set(self.units) & set(catalog().currency.rates)
        return (
            self.name in query.lists
            and set(self.filters["brand"]) == set(query.brands)
            and set(self.filters["region"]) == set(query.regions)
            and (set(self.filters["week"]) == set(query.weeks) or bool(newest))
            and money <= {query.currency}
        )


class Run(_Model):
    """A run of the job that plans supply anew. `state` as Databricks names it, in small letters."""

    run_id: int
    state: str
    done: bool = False
    regions: tuple[str, ...] = ()
    brands: tuple[str, ...] = ()


class Reply(_Model):
    """A specialist's whole answer: JSON text over A2A.

    `notes` are texts of its skills. `failure` is why the data could not be read, in the words of
    code; `problem`, perhaps in a model's, why there is nothing.
    """

    findings: tuple[Finding, ...] = ()
    listings: tuple[Listing, ...] = ()
    notes: tuple[str, ...] = ()
    run: Run | None = None
    failure: str = ""
    problem: str = ""

    @property
    def final(self) -> bool:
        """Whether there is anything, or certainly nothing."""
        return bool(self.findings or self.listings or self.notes or self.run or self.failure)

    @classmethod
    def parse(cls, text: object) -> Reply | None:
        """The reply in a specialist's text; None when it is something else."""
        if not isinstance(text, str):
            return None
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            return None


def written(value: Number | None, unit: str, rounding: Rounding = AS_IT_IS) -> str:
    """A value as people read it: `€436,449`, `€436 thousand`, `2.13 %`, `1,200 units`."""
    if value is None:
        return "no data"
    if unit == "%":
        places = 2 if rounding.decimals is None else rounding.decimals
        return f"{value:,.{places}f} %"
    # What would become nothing at all is better left as it is.
    scaled = rounding if abs(value) >= rounding.unit else AS_IT_IS
    number = f"{value / scaled.unit:,.{scaled.decimals or 0}f}{scaled.word}"
    return f"{_SYMBOLS[unit]}{number}" if unit in _SYMBOLS else f"{number} {unit}"
