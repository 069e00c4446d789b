"""BigQuery and Databricks SQL as HTTP servers, which run what they are asked.

What they are sent is kept; the SQL is translated back and runs over the sample data.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

DATA = Path(__file__).parents[3] / "agents/marketing/data"


class Warehouse:
    """What both have in common: the data, what was sent, and an answer that the test orders."""

    def __init__(self) -> None:
        self.url = ""
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.instead: JSONResponse | None = None

    async def heard(self, request: Request) -> dict[str, Any]:
        """Keeps a request."""
        body: dict[str, Any] = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        return body


def run(sql: str, dialect: str, parameters: list[Any]) -> tuple[list[tuple[str, str]], list[Any]]:
    """Columns (name, DuckDB's type) and rows of a query in another dialect."""
    db = duckdb.connect()
    for file in DATA.glob("*.csv"):
        db.execute(f'CREATE TABLE "{file.stem}" AS FROM read_csv(?)', [str(file)])
    [statement] = sqlglot.transpile(sql, read=dialect, write="duckdb")
    done = db.execute(re.sub(r"[:$]p\d+|:\w+", "?", statement), parameters)
    columns = [(str(name), str(kind)) for name, kind, *_ in done.description or []]
    return columns, done.fetchall()


BIGQUERY = {"BIGINT": "INTEGER", "HUGEINT": "INTEGER", "DOUBLE": "FLOAT"}
DATABRICKS = {"BIGINT": "LONG", "HUGEINT": "DECIMAL", "DOUBLE": "DOUBLE"}
"""Their types by DuckDB's; others are texts."""


class BigQueryStandIn(Warehouse):
    """`jobs.query` (https://cloud.google.com/bigquery/docs/reference/rest/v2/jobs/query)."""

    path = "/bigquery/v2/projects/{project}/queries"

    async def __call__(self, request: Request) -> Response:
        body = await self.heard(request)
        if self.instead is not None:
            return self.instead
        read = {"STRING": str, "INT64": int, "FLOAT64": float}
        given = [
            read[p["parameterType"]["type"]](p["parameterValue"]["value"])
            for p in body.get("queryParameters", [])
        ]
        columns, rows = run(body["query"], "bigquery", given)
        fields = [{"name": n, "type": BIGQUERY.get(k, "STRING")} for n, k in columns]
        cells = [{"f": [{"v": None if v is None else str(v)} for v in row]} for row in rows]
        return JSONResponse(
            {
                "kind": "bigquery#queryResponse",
                "jobComplete": True,
                "queryId": "q1",
                "schema": {"fields": fields},
                "totalRows": str(len(rows)),
                "rows": cells,
            }
        )


class DatabricksStandIn(Warehouse):
    """`POST /api/2.0/sql/statements`: a statement whose result comes with the answer."""

    path = "/api/2.0/sql/statements"

    async def __call__(self, request: Request) -> Response:
        body = await self.heard(request)
        if self.instead is not None:
            return self.instead
        read = {"STRING": str, "BIGINT": int, "DOUBLE": float}
        given = {p["name"]: read[p["type"]](p["value"]) for p in body["parameters"]}
        order = re.findall(r":(p\d+)", body["statement"])
        columns, rows = run(body["statement"], "databricks", [given[name] for name in order])
        kinds = [{"name": n, "type_name": DATABRICKS.get(k, "STRING")} for n, k in columns]
        return JSONResponse(
            {
                "statement_id": "01",
                "status": {"state": "SUCCEEDED"},
                "manifest": {"schema": {"columns": kinds}, "truncated": False},
                "result": {
                    "data_array": [[None if v is None else str(v) for v in r] for r in rows]
                },
            }
        )


@contextmanager
def served(standin: Any) -> Iterator[None]:
    """The stand-in, its `url` set."""
    app = Starlette(routes=[Route(standin.path, standin.__call__, methods=["POST"])])
    with on_a_port(app) as standin.url:
        yield


@contextmanager
def on_a_port(app: Starlette) -> Iterator[str]:
    """Serves an application on a free port of this machine; its base URL."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    end = time.monotonic() + 10
    while not server.started and time.monotonic() < end:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
