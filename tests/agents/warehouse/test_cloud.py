"""BigQuery and Databricks SQL: what is sent, and the same numbers as the sample data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.auth.credentials import AnonymousCredentials
from starlette.responses import JSONResponse

from agents.shared.lists import Lists
from agents.shared.measures import Measures
from agents.shared.query import Query
from agents.shared.semantic import catalog
from agents.shared.settings import SetupError
from agents.shared.warehouse import open_warehouse
from agents.shared.warehouse.bigquery import MAX_BILLED_BYTES, BigQuery
from agents.shared.warehouse.databricks import NOT_SIGNED_IN, Databricks
from agents.shared.warehouse.duck import DuckDb
from agents.shared.warehouse.engine import MAX_ROWS, Engine, WarehouseError
from tests.agents.warehouse.standins import DATA, BigQueryStandIn, DatabricksStandIn, served

TABLES = catalog().tables["marketing"]
QUERIES = [
    Query(measures=("media_spend_eur", "ctr"), brands=("Acme Pure",), group_by=("region",)),
    Query(measures=("clicks",), regions=("Nordics",), last_weeks=3, group_by=("week", "brand")),
    Query(measures=("media_spend_eur",), currency="GBP", weeks=("2026-W30", "2026-W31")),
    Query(measures=("impressions",), weeks=("2026-W50",)),
]


@pytest.fixture
def bigquery(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[BigQueryStandIn, BigQuery]]:
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "acme-test")
    monkeypatch.setattr("google.auth.default", lambda **_: (AnonymousCredentials(), "acme-test"))
    standin = BigQueryStandIn()
    with served(standin):
        yield standin, BigQuery("acme-data.marketing", TABLES, standin.url)


@pytest.fixture
def databricks() -> Iterator[tuple[DatabricksStandIn, Databricks]]:
    standin = DatabricksStandIn()
    with served(standin):
        yield standin, Databricks(standin.url, "wh1", "main.acme", TABLES)


async def same_numbers(engine: Engine) -> None:
    """What the warehouse answers is what the sample data answers."""
    local = DuckDb(DATA, TABLES)
    for query in QUERIES:
        there = await Measures("marketing", engine, catalog()).findings(query, "token")
        here = await Measures("marketing", local, catalog()).findings(query)
        assert there == here
    asked = Query(lists=("campaign_results",), brands=("Acme Bold",))
    there_list = await Lists("marketing", engine, catalog()).listing(
        "campaign_results", asked, "token"
    )
    assert there_list == await Lists("marketing", local, catalog()).listing(
        "campaign_results", asked
    )
    assert there_list.rows


async def test_bigquery(bigquery: tuple[BigQueryStandIn, BigQuery]) -> None:
    standin, engine = bigquery
    await same_numbers(engine)
    body = standin.bodies[0]
    assert body["maximumBytesBilled"] == str(MAX_BILLED_BYTES)
    assert body["defaultDataset"] == {"projectId": "acme-data", "datasetId": "marketing"}
    assert body["useLegacySql"] is False
    assert body["maxResults"] == MAX_ROWS + 1
    assert body["queryParameters"][0] == {
        "parameterType": {"type": "STRING"},
        "parameterValue": {"value": "Acme Pure"},
    }


async def test_databricks(databricks: tuple[DatabricksStandIn, Databricks]) -> None:
    standin, engine = databricks
    await same_numbers(engine)
    body = standin.bodies[0]
    assert (body["warehouse_id"], body["catalog"], body["schema"]) == ("wh1", "main", "acme")
    assert body["parameters"][0] == {"name": "p0", "value": "Acme Pure", "type": "STRING"}
    assert (body["on_wait_timeout"], body["row_limit"]) == ("CANCEL", MAX_ROWS + 1)
    assert {headers["authorization"] for headers in standin.headers} == {"Bearer token"}


async def test_databricks_is_read_as_the_person_who_asks(
    databricks: tuple[DatabricksStandIn, Databricks],
) -> None:
    standin, engine = databricks
    with pytest.raises(WarehouseError, match=NOT_SIGNED_IN):
        await engine.run("SELECT 1")
    assert standin.bodies == []


FAILED = {"status": {"state": "FAILED", "error": {"message": "no such column"}}}


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [(401, {}, "does not let you"), (403, {}, "does not let you"), (500, {}, "refused the query"),
     (200, FAILED, "no such column"), (200, {"status": {"state": "CANCELED"}}, "CANCELED")],
)  # fmt: skip
async def test_what_databricks_refuses_is_said(
    databricks: tuple[DatabricksStandIn, Databricks], status: int, body: Any, words: str
) -> None:
    standin, engine = databricks
    standin.instead = JSONResponse(body, status)
    with pytest.raises(WarehouseError, match=words):
        await engine.run("SELECT 1", token="token")


async def test_what_bigquery_refuses_is_said(
    bigquery: tuple[BigQueryStandIn, BigQuery],
) -> None:
    standin, engine = bigquery
    error = {"code": 400, "message": "Query exceeded limit for bytes billed"}
    standin.instead = JSONResponse({"error": error}, 400)
    with pytest.raises(WarehouseError, match="bytes billed"):
        await engine.run("SELECT 1")


async def test_a_warehouse_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Databricks("http://127.0.0.1:9", "wh1", "main.acme", TABLES)
    with pytest.raises(WarehouseError, match="could not be asked"):
        await gone.run("SELECT 1", token="token")
    monkeypatch.setenv("SLIPWAY_DATA", "oracle")
    with pytest.raises(SetupError, match="oracle"):
        open_warehouse(DATA, TABLES)
    monkeypatch.setenv("SLIPWAY_DATA", "databricks")
    with pytest.raises(SetupError, match="DATABRICKS_HOST"):
        open_warehouse(DATA, TABLES)
