"""Where a specialist's tables are: the sample files it carries, BigQuery, or Databricks SQL.

The environment's file names one for each agent ([data]); nothing is detected.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agents.shared.settings import chosen, required
from agents.shared.warehouse.engine import Engine

KINDS = ("sample", "bigquery", "databricks")


def open_warehouse(folder: Path, tables: Mapping[str, Mapping[str, str]]) -> Engine:
    """The warehouse that this process is told to read.

    Args:
        folder: the agent's own CSV files, for `sample`.
        tables: type by column, by table: all that may be read.

    Raises:
        SetupError: the environment is not complete.
    """
    kind = chosen("SLIPWAY_DATA", KINDS)
    if kind == "bigquery":
        from agents.shared.warehouse.bigquery import BigQuery

        return BigQuery(required("BIGQUERY_DATASET"), tables)
    if kind == "databricks":
        from agents.shared.warehouse.databricks import Databricks

        return Databricks(
            required("DATABRICKS_HOST"),
            required("DATABRICKS_WAREHOUSE"),
            required("DATABRICKS_SCHEMA"),
            tables,
        )
    from agents.shared.warehouse.duck import DuckDb

    return DuckDb(folder, tables)
