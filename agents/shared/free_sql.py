"""The tool for what measures and lists cannot say: one SELECT, guarded (warehouse/sql_guard.py)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from google.adk.tools.tool_context import ToolContext

from agents.shared import signed_in
from agents.shared.findings import LISTED_ROWS, Listing, Number, Reply
from agents.shared.query import SQL_LIST
from agents.shared.warehouse.engine import Engine, WarehouseError
from agents.shared.warehouse.sql_guard import SqlRefused, guarded

_CELL = 200
"""Characters of a text that is shown."""


class FreeSql:
    """Guarded SQL over one agent's tables."""

    def __init__(self, agent: str, engine: Engine) -> None:
        self._agent, self._engine = agent, engine

    async def query_sql(self, sql: str, tool_context: ToolContext) -> dict[str, Any]:
        """Reads by one SELECT, only when neither measures nor a list answers the request.

        Args:
            sql: one SELECT over the tables that you know, without comments.

        Returns:
            {"listings": [...]} or {"problem": "why not"}.
        """
        try:
            found = await self.listing(sql, signed_in.token(tool_context.state))
        except SqlRefused as error:
            return Reply(problem=str(error)).model_dump(mode="json")
        except WarehouseError as error:
            return Reply(failure=str(error)).model_dump(mode="json")
        return Reply(listings=(found,)).model_dump(mode="json")

    async def listing(self, sql: str, token: str = "") -> Listing:
        """The rows.

        Raises:
            SqlRefused: it may not run.
            WarehouseError: see Engine.run.
        """
        allowed = guarded(sql, self._engine.tables, self._engine.dialect)
        found = await self._engine.run(allowed, token=token)
        rows = tuple(tuple(_cell(value) for value in row) for row in found.rows[:LISTED_ROWS])
        numeric = [
            any(isinstance(row[i], int | float) for row in rows) for i in range(len(found.columns))
        ]
        return Listing(
            agent=self._agent,
            name=SQL_LIST,
            label="Your query",
            columns=found.columns,
            units=tuple("" if number else "text" for number in numeric),
            rows=rows,
            more=found.more or len(found.rows) > LISTED_ROWS,
            filters={},
            sql=sql,
        )


def _cell(value: Any) -> Number | str | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)[:_CELL]
