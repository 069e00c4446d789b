"""Which rows are asked for: names checked against the catalog, then a WHERE clause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from agents.shared.query import Dimension, Query
from agents.shared.semantic import Catalog, Kind
from agents.shared.warehouse.engine import Engine

DIMENSIONS = get_args(Dimension)


class NotAsked(ValueError):
    """A request that names something that is not there; the message says what is."""


@dataclass(frozen=True)
class Filter:
    """A WHERE clause and its parameters, by dimension. Values are never part of the SQL text."""

    values: dict[str, tuple[str, ...]]

    @property
    def sql(self) -> str:
        """`` WHERE …``, or nothing."""
        parts = [
            f"{name} IN ({', '.join('?' * len(values))})" for name, values in self.values.items()
            if values
        ]  # fmt: skip
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    @property
    def parameters(self) -> list[str]:
        """One for each `?` of the clause."""
        return [value for values in self.values.values() for value in values]


async def filter_of(query: Query, table: str, engine: Engine, token: str) -> Filter:
    """The query's filter on a table of the catalog's, whose newest weeks are looked up.

    Raises:
        WarehouseError: see Engine.run.
    """
    weeks = query.weeks
    if query.last_weeks:
        sql = f'SELECT DISTINCT week FROM "{table}" ORDER BY week DESC LIMIT {query.last_weeks}'
        newest = await engine.run(sql, token=token)
        weeks = tuple(sorted(str(row[0]) for row in newest.rows))
    return Filter({"brand": query.brands, "region": query.regions, "week": weeks})


def checked(catalog: Catalog, **asked: Any) -> Query:
    """The query that a model asks for by a tool's arguments, with proper names.

    Args:
        asked: fields of Query; None or nothing is no filter.

    Raises:
        NotAsked: a name is not known.
    """
    currency = str(asked.get("currency") or catalog.currency.reporting).upper()
    if currency not in catalog.currency.rates:
        raise NotAsked(f"no rate for {currency}; known: {', '.join(catalog.currency.rates)}")
    groups = asked.get("group_by") or ()
    if unknown := [name for name in groups if name not in DIMENSIONS]:
        raise NotAsked(f"cannot group by {unknown[0]}; known: {', '.join(DIMENSIONS)}")
    return Query.model_validate(
        {
            "measures": tuple(asked.get("measures") or ()),
            "lists": tuple(asked.get("lists") or ()),
            "brands": resolved(catalog, "brand", asked.get("brands") or (), catalog.brands),
            "regions": resolved(catalog, "region", asked.get("regions") or (), catalog.regions),
            "weeks": tuple(asked.get("weeks") or ()),
            "last_weeks": max(0, asked.get("last_weeks") or 0),
            "group_by": tuple(dict.fromkeys(groups)),
            "currency": currency,
        }
    )


def resolved(
    catalog: Catalog, kind: Kind, names: Sequence[str], known: Sequence[str]
) -> tuple[str, ...]:
    """Proper names for names and synonyms.

    Raises:
        NotAsked: one is not known; the message lists `known`.
    """
    found = [(name, catalog.resolve(kind, name)) for name in names]
    if unknown := [name for name, proper in found if proper is None]:
        raise NotAsked(f"there is no {kind} {unknown[0]!r}; known: {', '.join(known)}")
    return tuple(dict.fromkeys(proper for _, proper in found if proper))
