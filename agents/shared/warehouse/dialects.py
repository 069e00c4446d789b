"""The kit's own queries are written once, in DuckDB's SQL; here they become another warehouse's."""

from __future__ import annotations

from functools import lru_cache

import sqlglot
from sqlglot import exp


@lru_cache(maxsize=512)
def translated(sql: str, dialect: str, names: str = "") -> str:
    """The query in `dialect`.

    Args:
        names: what parameters are called: `:NAMES0`, `:NAMES1` …; "" leaves each `?`.
    """
    tree = sqlglot.parse_one(sql, dialect="duckdb")
    if names:
        for index, place in enumerate(tree.find_all(exp.Placeholder, bfs=False)):
            place.set("this", f"{names}{index}")
    return tree.sql(dialect=dialect, comments=False)
