"""The sample data: CSV files in a DuckDB in memory, which afterwards can reach nothing else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import duckdb

from agents.shared.warehouse.engine import (
    MAX_ROWS,
    SECONDS,
    Result,
    Tables,
    Value,
    WarehouseError,
    bounded,
)

MEMORY = "512MB"


class DuckDb:
    """Every `folder/*.csv` as a table that is named as its file."""

    dialect = "duckdb"

    def __init__(self, folder: Path, tables: Tables, seconds: float = SECONDS) -> None:
        self.tables = tables
        self._seconds = seconds
        self._db = duckdb.connect(config={"threads": 1, "memory_limit": MEMORY})
        for file in sorted(folder.glob("*.csv")):
            self._db.execute(f'CREATE TABLE "{file.stem}" AS FROM read_csv(?)', [str(file)])
        self._db.execute("SET enable_external_access = false")
        self._db.execute("SET lock_configuration = true")

    async def run(self, sql: str, parameters: Sequence[Value] = (), *, token: str = "") -> Result:
        """See Engine; nobody's token is needed."""
        del token
        return await asyncio.to_thread(self._run, sql, parameters)

    def _run(self, sql: str, parameters: Sequence[Value]) -> Result:
        cursor = self._db.cursor()
        late = threading.Timer(self._seconds, cursor.interrupt)
        late.daemon = True
        late.start()
        try:
            cursor.execute(sql, list(parameters))
            columns = [column[0] for column in cursor.description or ()]
            return bounded(columns, cursor.fetchmany(MAX_ROWS + 1))
        except duckdb.InterruptException:
            raise WarehouseError("the query took too long") from None
        except duckdb.Error as error:
            raise WarehouseError(f"the query failed: {str(error).splitlines()[0]}") from None
        finally:
            late.cancel()
            cursor.close()
