"""What every warehouse can do: one query with positional parameters, within limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

MAX_ROWS = 1_000
MAX_BYTES = 1_000_000
"""Of one result, as text; a specialist's whole answer has the same limit (services.A2A_BYTES)."""
SECONDS = 20.0
"""How long a query may take: less than the router waits for a specialist."""

Value = str | int | float
Tables = Mapping[str, Mapping[str, str]]


class WarehouseError(RuntimeError):
    """A query that could not be answered; the message is for the person who asked."""


@dataclass(frozen=True)
class Result:
    """Rows as JSON has them. `more`: there were more than MAX_ROWS or MAX_BYTES."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


class Engine(Protocol):
    """A warehouse with the agent's tables and no others."""

    @property
    def dialect(self) -> str:
        """sqlglot's name of its SQL."""

    @property
    def tables(self) -> Tables:
        """Type by column, by table."""

    async def run(self, sql: str, parameters: Sequence[Value] = (), *, token: str = "") -> Result:
        """Runs one SELECT, written as DuckDB has it, with `?` for each parameter.

        Args:
            token: the person's own, for a warehouse that is read as the person who asks.

        Raises:
            WarehouseError: it failed, took longer than SECONDS, or the token is missing.
        """


def bounded(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Result:
    """The result with no more than MAX_ROWS rows and MAX_BYTES bytes."""
    kept: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        size += sum(len(str(value)) + 4 for value in row)
        if len(kept) == MAX_ROWS or size > MAX_BYTES:
            return Result(tuple(columns), tuple(kept), more=True)
        kept.append(tuple(row))
    return Result(tuple(columns), tuple(kept))
