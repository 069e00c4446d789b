"""The tool that reads measures: where every number of a finding comes from.

Expressions and tables come from the semantic layer, values are parameters (filters.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from google.adk.tools.tool_context import ToolContext

from agents.shared import signed_in
from agents.shared.filters import Filter, NotAsked, checked, filter_of, resolved
from agents.shared.findings import Finding, Group, Number, Reply
from agents.shared.query import Query
from agents.shared.semantic import MONEY, Catalog, Measure
from agents.shared.warehouse.engine import Engine, Result, Value, WarehouseError


class Measures:
    """One agent's measures, over its warehouse."""

    def __init__(self, agent: str, engine: Engine, catalog: Catalog) -> None:
        self._agent, self._engine, self._catalog = agent, engine, catalog
        self._own = catalog.owned(agent)

    async def query_measures(
        self,
        measures: list[str],
        tool_context: ToolContext,
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
            query = checked(
                self._catalog,
                measures=self._named(measures),
                brands=brands,
                regions=regions,
                weeks=weeks,
                last_weeks=last_weeks,
                group_by=group_by,
                currency=currency,
            )
            found = await self.findings(query, signed_in.token(tool_context.state))
        except NotAsked as error:
            return Reply(problem=str(error)).model_dump(mode="json")
        except WarehouseError as error:
            return Reply(failure=str(error)).model_dump(mode="json")
        return Reply(findings=tuple(found)).model_dump(mode="json")

    async def findings(self, query: Query, token: str = "") -> list[Finding]:
        """One finding a measure.

        Args:
            token: see Engine.run.

        Raises:
            WarehouseError: see Engine.run.
        """
        return list(await asyncio.gather(*(self._finding(k, query, token) for k in query.measures)))

    def _named(self, measures: Sequence[str]) -> tuple[str, ...]:
        has = ", ".join(self._own)
        if not measures:
            raise NotAsked(f"no measure is named; {self._agent} has {has}")
        keys = resolved(self._catalog, "measure", measures, tuple(self._own))
        if foreign := [key for key in keys if key not in self._own]:
            raise NotAsked(f"{self._agent} has no measure {foreign[0]}; it has {has}")
        return keys

    async def _finding(self, key: str, query: Query, token: str) -> Finding:
        measure = self._own[key]
        where = await filter_of(query, measure.table, self._engine, token)
        money = measure.unit == MONEY
        rate = self._catalog.currency.rates[query.currency] if money else None
        sql, parameters = _statement(measure, where, (), rate)
        whole, grouped = await asyncio.gather(
            self._engine.run(sql, parameters, token=token),
            self._grouped(measure, where, query, rate, token),
        )
        value, rows, first, last = whole.rows[0]
        span = (first, last) if rows else await self._span(measure.table, token)
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
            groups=_groups(grouped, query, measure) if rows else (),
            more=grouped.more,
            rate=rate,
            sql=sql,
            parameters=tuple(parameters),
        )

    async def _grouped(
        self, measure: Measure, where: Filter, query: Query, rate: float | None, token: str
    ) -> Result:
        if not query.group_by:
            return Result((), ())
        sql, parameters = _statement(measure, where, query.group_by, rate)
        return await self._engine.run(sql, parameters, token=token)

    async def _span(self, table: str, token: str) -> tuple[str, str] | None:
        """The first and last week of the data."""
        found = await self._engine.run(f'SELECT min(week), max(week) FROM "{table}"', token=token)
        first, last = found.rows[0]
        return (first, last) if first else None


def _groups(found: Result, query: Query, measure: Measure) -> tuple[Group, ...]:
    size = len(query.group_by)
    return tuple(
        Group(
            keys=dict(zip(query.group_by, row, strict=False)),
            value=_number(row[size], measure),
            rows=row[size + 1],
        )
        for row in found.rows
    )


def _statement(
    measure: Measure, where: Filter, group_by: tuple[str, ...], rate: float | None
) -> tuple[str, list[Value]]:
    """SQL and its parameters: the groups' columns, the value, its rows, its first and last week."""
    value, parameters = measure.sql, list[Value]()
    if rate is not None and rate != 1:
        value, parameters = f"({value}) * ?", [rate]
    filters, condition = where.sql, list[Value](where.parameters)
    if measure.over_weeks == "last" and "week" not in group_by:
        # A level: only the last week that the filter leaves counts.
        newest = f'week = (SELECT max(week) FROM "{measure.table}"{filters})'
        filters = f"{filters} AND {newest}" if filters else f" WHERE {newest}"
        condition = condition * 2
    columns = "".join(f"{name}, " for name in group_by)
    sql = f'SELECT {columns}{value}, count(*), min(week), max(week) FROM "{measure.table}"{filters}'
    if group_by:
        names = ", ".join(group_by)
        sql += f" GROUP BY {names} ORDER BY {names}"
    return sql, parameters + condition


def _number(value: Any, measure: Measure) -> Number | None:
    """Counts and money as whole numbers, percentages with two decimals."""
    if value is None:
        return None
    return round(float(value), 2) if measure.unit == "%" else round(value)
