"""BigQuery, read with the agent's own service account."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from agents.shared.settings import required
from agents.shared.warehouse.dialects import translated
from agents.shared.warehouse.engine import (
    MAX_ROWS,
    SECONDS,
    Result,
    Tables,
    Value,
    WarehouseError,
    bounded,
)

MAX_BILLED_BYTES = 10_000_000_000
"""A query that would scan more is refused by BigQuery before it costs anything."""
_TYPES = {str: "STRING", int: "INT64", float: "FLOAT64"}


class BigQuery:
    """The tables of one dataset."""

    dialect = "bigquery"

    def __init__(self, dataset: str, tables: Tables, endpoint: str | None = None) -> None:
        """Args: dataset: `PROJECT.DATASET`. endpoint: base URL; None: Google's own."""
        self.tables = tables
        self._dataset, self._endpoint = dataset, endpoint

    async def run(self, sql: str, parameters: Sequence[Value] = (), *, token: str = "") -> Result:
        """See Engine; nobody's token is needed."""
        del token
        return await asyncio.to_thread(self._run, translated(sql, self.dialect), parameters)

    @cached_property
    def _client(self) -> Any:
        from google.cloud import bigquery

        options = {"api_endpoint": self._endpoint} if self._endpoint else None
        return bigquery.Client(project=required("GOOGLE_CLOUD_PROJECT"), client_options=options)

    def _run(self, sql: str, parameters: Sequence[Value]) -> Result:
        from google.api_core.exceptions import GoogleAPIError
        from google.auth.exceptions import GoogleAuthError
        from google.cloud import bigquery

        config = bigquery.QueryJobConfig(
            default_dataset=self._dataset,
            maximum_bytes_billed=MAX_BILLED_BYTES,
            query_parameters=[
                bigquery.ScalarQueryParameter(None, _TYPES[type(value)], value)
                for value in parameters
            ],
        )
        try:
            found = self._client.query_and_wait(
                sql, job_config=config, wait_timeout=SECONDS, max_results=MAX_ROWS + 1, retry=None
            )
            columns = [field.name for field in found.schema]
            return bounded(columns, [row.values() for row in found])
        except TimeoutError:
            raise WarehouseError("the query took too long") from None
        except (GoogleAPIError, GoogleAuthError) as error:
            raise WarehouseError(f"BigQuery refused the query: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
