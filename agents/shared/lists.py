"""The tools that show a list: one tool for each list of semantic.yaml, named as the list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from google.adk.tools.tool_context import ToolContext

from agents.shared import signed_in
from agents.shared.filters import NotAsked, checked, filter_of
from agents.shared.findings import LISTED_ROWS, Listing, Number, Reply
from agents.shared.query import Query
from agents.shared.semantic import MONEY, Catalog, Listed
from agents.shared.warehouse.engine import Engine, Value, WarehouseError

WHERE = "{where}"
Tool = Callable[..., Awaitable[dict[str, Any]]]


class Lists:
    """One agent's lists, over its warehouse."""

    def __init__(self, agent: str, engine: Engine, catalog: Catalog) -> None:
        self._agent, self._engine, self._catalog = agent, engine, catalog
        self._own = catalog.lists_of(agent)

    def tools(self) -> list[Tool]:
        """One for each list."""
        return [self._tool(name, item) for name, item in self._own.items()]

    async def listing(self, name: str, query: Query, token: str = "") -> Listing:
        """The list's rows.

        Args:
            query: which brands, regions and weeks, and the currency of money.
            token: see Engine.run.

        Raises:
            WarehouseError: see Engine.run.
        """
        item = self._own[name]
        where = await filter_of(query, item.table, self._engine, token)
        sql = item.sql.replace(WHERE, where.sql)
        parameters: list[Value] = [*where.parameters] * item.sql.count(WHERE)
        found = await self._engine.run(sql, parameters, token=token)
        rate = self._catalog.currency.rates[query.currency]
        units = tuple(item.columns.values())
        return Listing(
            agent=self._agent,
            name=name,
            label=item.label,
            columns=tuple(item.columns),
            units=tuple(query.currency if unit == MONEY else unit for unit in units),
            rows=tuple(
                tuple(_cell(v, unit, rate) for v, unit in zip(row, units, strict=True))
                for row in found.rows[:LISTED_ROWS]
            ),
            more=found.more or len(found.rows) > LISTED_ROWS,
            filters=where.values,
            rate=rate if MONEY in units else None,
            sql=sql,
            parameters=tuple(parameters),
        )

    def _tool(self, name: str, item: Listed) -> Tool:
        async def show(
            tool_context: ToolContext,
            brands: list[str] | None = None,
            regions: list[str] | None = None,
            weeks: list[str] | None = None,
            last_weeks: int = 0,
            currency: str = "EUR",
        ) -> dict[str, Any]:
            try:
                query = checked(
                    self._catalog,
                    lists=(name,),
                    brands=brands,
                    regions=regions,
                    weeks=weeks,
                    last_weeks=last_weeks,
                    currency=currency,
                )
                found = await self.listing(name, query, signed_in.token(tool_context.state))
            except NotAsked as error:
                return Reply(problem=str(error)).model_dump(mode="json")
            except WarehouseError as error:
                return Reply(failure=str(error)).model_dump(mode="json")
            return Reply(listings=(found,)).model_dump(mode="json")

        show.__name__ = name
        show.__doc__ = (
            f"Shows the list {item.label!r} ({', '.join(item.columns)}), by brands, regions, "
            "weeks or last_weeks; what is left out is no filter."
        )
        return show


def _cell(value: Any, unit: str, rate: float) -> Number | str | None:
    if value is None or unit == "text":
        return None if value is None else str(value)
    if unit == MONEY:
        return round(float(value) * rate)
    number = float(value)
    return round(number, 2) if unit == "%" else round(number)
