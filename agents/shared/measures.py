"""Measures read from CSV files by SQL: where every number of a finding comes from.

Values that are asked for are parameters, never part of the SQL text; expressions and tables come
from the semantic layer. DuckDB is in memory and, once the files are read, has no access to others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import duckdb

from agents.shared.findings import Finding, Group, Number, Reply
from agents.shared.query import Dimension, Query
from agents.shared.semantic import MONEY, Catalog, Kind, Measure

DIMENSIONS = get_args(Dimension)


class NotAsked(ValueError):
    """A request that names something that is not there; the message says what is."""


@dataclass(frozen=True)
class _Filter:
    """A WHERE clause and its parameters, by dimension."""

    values: dict[str, tuple[str, ...]]

    @property
    def sql(self) -> str:
        parts = [
            f"{name} IN ({', '.join('?' * len(values))})" for name, values in self.values.items()
            if values
        ]  # fmt: skip
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    @property
    def parameters(self) -> list[str]:
        return [value for values in self.values.values() for value in values]


class Measures:
    """One agent's measures over the CSV files of its data folder; a table is named as its file."""

    def __init__(self, agent: str, folder: Path, catalog: Catalog) -> None:
        """Reads every `folder/*.csv`: columns `brand`, `region`, `week` and numbers."""
        self._agent, self._catalog = agent, catalog
        self._own = catalog.owned(agent)
        self._db = duckdb.connect(config={"threads": 1})
        for file in sorted(folder.glob("*.csv")):
            self._db.execute(f'CREATE TABLE "{file.stem}" AS FROM read_csv(?)', [str(file)])
        self._db.execute("SET enable_external_access = false")
        self._db.execute("SET lock_configuration = true")
        self._weeks: dict[str, tuple[str, ...]] = {
            table: tuple(
                str(row[0])
                for row in self._db.execute(
                    f'SELECT DISTINCT week FROM "{table}" ORDER BY week'
                ).fetchall()
            )
            for table in {measure.table for measure in self._own.values()}
        }

    async def query_measures(
        self,
        measures: list[str],
        brands: list[str] | None = None,
        regions: list[str] | None = None,
        weeks: list[str] | None = None,
        last_weeks: int = 0,
        group_by: list[str] | None = None,
        currency: str = "EUR",
    ) -> dict[str, Any]:
        """Reads measures from the data. An empty list means: no filter.

        Args:
            measures: keys of measures, such as "media_spend_eur".
            brands: brand names.
            regions: region names.
            weeks: ISO weeks, such as "2026-W36".
            last_weeks: instead of weeks: the newest so many weeks of the data.
            group_by: any of "brand", "region", "week".
            currency: the currency of money: "EUR", "GBP" or "USD".

        Returns:
            {"findings": [...]} or {"problem": "what is not there"}.
        """
        try:
            query = self._checked(
                measures, brands, regions, weeks, last_weeks, group_by, currency.upper()
            )
        except ValueError as error:
            return Reply(problem=str(error)).model_dump(mode="json")
        findings = await asyncio.to_thread(self.findings, query)
        return Reply(findings=tuple(findings)).model_dump(mode="json")

    def findings(self, query: Query) -> list[Finding]:
        """One finding a measure. Safe on any thread."""
        cursor = self._db.cursor()
        try:
            return [self._finding(cursor, key, query) for key in query.measures]
        finally:
            cursor.close()

    def _checked(
        self,
        measures: Sequence[str],
        brands: Sequence[str] | None,
        regions: Sequence[str] | None,
        weeks: Sequence[str] | None,
        last_weeks: int,
        group_by: Sequence[str] | None,
        currency: str,
    ) -> Query:
        if currency not in self._catalog.currency.rates:
            raise NotAsked(
                f"no rate for {currency}; known: {', '.join(self._catalog.currency.rates)}"
            )
        if unknown := [name for name in group_by or () if name not in DIMENSIONS]:
            raise NotAsked(f"cannot group by {unknown[0]}; known: {', '.join(DIMENSIONS)}")
        if not measures:
            raise NotAsked(f"no measure is named; {self._agent} has {', '.join(self._own)}")
        keys = self._resolved("measure", measures, tuple(self._own))
        if foreign := [key for key in keys if key not in self._own]:
            raise NotAsked(
                f"{self._agent} has no measure {foreign[0]}; it has {', '.join(self._own)}"
            )
        return Query.model_validate(
            {
                "measures": keys,
                "brands": self._resolved("brand", brands or (), self._catalog.brands),
                "regions": self._resolved("region", regions or (), self._catalog.regions),
                "weeks": tuple(weeks or ()),
                "last_weeks": max(0, last_weeks),
                "group_by": tuple(dict.fromkeys(group_by or ())),
                "currency": currency,
            }
        )

    def _resolved(
        self, kind: Kind, names: Sequence[str], known: tuple[str, ...]
    ) -> tuple[str, ...]:
        found = [(name, self._catalog.resolve(kind, name)) for name in names]
        if unknown := [name for name, proper in found if proper is None]:
            raise NotAsked(f"there is no {kind} {unknown[0]!r}; known: {', '.join(known)}")
        return tuple(dict.fromkeys(proper for _, proper in found if proper))

    def _finding(self, cursor: Any, key: str, query: Query) -> Finding:
        measure = self._own[key]
        weeks = query.weeks
        if query.last_weeks:
            weeks = self._weeks[measure.table][-query.last_weeks :]
        where = _Filter({"brand": query.brands, "region": query.regions, "week": weeks})
        money = measure.unit == MONEY
        rate = self._catalog.currency.rates[query.currency] if money else None
        sql, parameters = _statement(measure, where, (), rate)
        value, rows, first, last = cursor.execute(sql, parameters).fetchone()
        groups = self._groups(cursor, measure, where, query.group_by, rate) if rows else ()
        known = self._weeks[measure.table]
        span = (first, last) if rows else (known[0], known[-1]) if known else None
        return Finding(
            agent=self._agent,
            measure=key,
            label=measure.label,
            value=_number(value, measure),
            unit=query.currency if money else measure.unit,
            filters=where.values,
            weeks=span,
            rows=rows,
            group_by=query.group_by,
            groups=groups,
            rate=rate,
            sql=sql,
            parameters=tuple(parameters),
        )

    def _groups(
        self,
        cursor: Any,
        measure: Measure,
        where: _Filter,
        group_by: tuple[Dimension, ...],
        rate: float | None,
    ) -> tuple[Group, ...]:
        if not group_by:
            return ()
        rows = cursor.execute(*_statement(measure, where, group_by, rate)).fetchall()
        size = len(group_by)
        return tuple(
            Group(
                keys=dict(zip(group_by, row, strict=False)),
                value=_number(row[size], measure),
                rows=row[size + 1],
            )
            for row in rows
        )


def _statement(
    measure: Measure, where: _Filter, group_by: tuple[str, ...], rate: float | None
) -> tuple[str, list[str | float]]:
    """SQL and its parameters: the groups' columns, the value, its rows, its first and last week."""
    value, parameters = measure.sql, list[str | float]()
    if rate is not None and rate != 1:
        value, parameters = f"({value}) * ?", [rate]
    filters, condition = where.sql, list[str | float](where.parameters)
    if measure.over_weeks == "last" and "week" not in group_by:
        # A level: only the last week that the filter leaves counts.
        newest = f"week = (SELECT max(week) FROM {measure.table}{filters})"
        filters = f"{filters} AND {newest}" if filters else f" WHERE {newest}"
        condition = condition * 2
    columns = "".join(f"{name}, " for name in group_by)
    sql = f"SELECT {columns}{value}, count(*), min(week), max(week) FROM {measure.table}{filters}"
    if group_by:
        names = ", ".join(group_by)
        sql += f" GROUP BY {names} ORDER BY {names}"
    return sql, parameters + condition


def _number(value: Any, measure: Measure) -> Number | None:
    """Counts and money as whole numbers, percentages with two decimals."""
    if value is None:
        return None
    return round(float(value), 2) if measure.unit == "%" else round(value)
