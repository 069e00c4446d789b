"""Databricks SQL, read as the person who asks, by the Statement Execution API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx

from agents.shared.warehouse.dialects import translated
from agents.shared.warehouse.engine import (
    MAX_BYTES,
    MAX_ROWS,
    SECONDS,
    Result,
    Tables,
    Value,
    WarehouseError,
    bounded,
)

PATH = "/api/2.0/sql/statements"
_TYPES = {str: "STRING", int: "BIGINT", float: "DOUBLE"}
_WHOLE = frozenset({"BYTE", "SHORT", "INT", "LONG"})
_BROKEN = frozenset({"FLOAT", "DOUBLE", "DECIMAL"})
NOT_SIGNED_IN = "this needs your own Databricks sign-in, and the request carries none"


class Databricks:
    """The tables of one schema, through one SQL warehouse."""

    dialect = "databricks"

    def __init__(self, host: str, warehouse: str, schema: str, tables: Tables) -> None:
        """Args: host: base URL. warehouse: its ID. schema: `CATALOG.SCHEMA`."""
        self.tables = tables
        self._warehouse = warehouse
        self._catalog, _, self._schema = schema.rpartition(".")
        self._url = f"{host.rstrip('/')}{PATH}"

    async def run(self, sql: str, parameters: Sequence[Value] = (), *, token: str = "") -> Result:
        """See Engine."""
        if not token:
            raise WarehouseError(NOT_SIGNED_IN)
        body = {
            "warehouse_id": self._warehouse,
            "catalog": self._catalog,
            "schema": self._schema,
            "statement": translated(sql, self.dialect, "p"),
            "parameters": [
                {"name": f"p{index}", "value": str(value), "type": _TYPES[type(value)]}
                for index, value in enumerate(parameters)
            ],
            "format": "JSON_ARRAY",
            "disposition": "INLINE",
            "row_limit": MAX_ROWS + 1,
            "byte_limit": MAX_BYTES,
            # Whatever is not ready by then is cancelled there as well.
            "wait_timeout": f"{SECONDS:.0f}s",
            "on_wait_timeout": "CANCEL",
        }
        try:
            async with httpx.AsyncClient(timeout=SECONDS + 3) as client:
                answer = await client.post(
                    self._url, json=body, headers={"Authorization": f"Bearer {token}"}
                )
        except httpx.HTTPError as error:
            raise WarehouseError(f"Databricks could not be asked: {type(error).__name__}") from None
        if answer.status_code in (401, 403):
            raise WarehouseError("Databricks does not let you read this")
        if answer.status_code != 200:
            raise WarehouseError(f"Databricks refused the query: HTTP {answer.status_code}")
        return _result(answer.json())


def _result(body: dict[str, Any]) -> Result:
    state = body.get("status", {}).get("state")
    if state != "SUCCEEDED":
        message = str(body.get("status", {}).get("error", {}).get("message", ""))[:300]
        raise WarehouseError(f"the query did not succeed in Databricks ({state}) {message}".strip())
    manifest = body["manifest"]
    columns = manifest["schema"]["columns"]
    read = [_reader(str(column["type_name"])) for column in columns]
    rows = [
        tuple(None if text is None else one(text) for one, text in zip(read, row, strict=True))
        for row in body.get("result", {}).get("data_array") or []
    ]
    result = bounded([column["name"] for column in columns], rows)
    more = result.more or bool(manifest.get("truncated"))
    return Result(result.columns, result.rows, more)


def _reader(type_name: str) -> type[int] | type[float] | type[str]:
    """JSON_ARRAY gives every value as text."""
    if type_name in _WHOLE:
        return int
    return float if type_name in _BROKEN else str
