"""SQL that somebody else wrote: a hundred attacks are refused, ordinary questions run."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.shared.semantic import catalog
from agents.shared.warehouse.duck import DuckDb
from agents.shared.warehouse.engine import MAX_ROWS, WarehouseError
from agents.shared.warehouse.sql_guard import MAX_SQL, SqlRefused, guarded

TABLES = catalog().tables["marketing"]
DATA = Path(__file__).parents[3] / "agents/marketing/data"

ATTACKS = """\
DROP TABLE spend
DELETE FROM spend
UPDATE spend SET spend_eur = 0
INSERT INTO spend VALUES ('a', 'b', 'c', 1)
TRUNCATE TABLE spend
ALTER TABLE spend ADD COLUMN x INT
CREATE TABLE x AS SELECT * FROM spend
CREATE OR REPLACE VIEW spend AS SELECT 1
CREATE MACRO f(a) AS a
CREATE FUNCTION f(a) AS a
CREATE SECRET s (TYPE s3)
MERGE INTO spend USING campaigns ON true WHEN MATCHED THEN DELETE
GRANT ALL ON spend TO public
CALL pragma_version()
PRAGMA database_list
SET memory_limit = '99GB'
RESET memory_limit
ATTACH '/tmp/x.db' AS x
DETACH x
COPY spend TO '/tmp/out.csv'
COPY (SELECT * FROM spend) TO 's3://bucket/x'
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
INSTALL httpfs
LOAD httpfs
USE other
SHOW TABLES
DESCRIBE spend
SUMMARIZE spend
EXPLAIN SELECT * FROM spend
EXPLAIN ANALYZE SELECT * FROM spend
VACUUM
CHECKPOINT
BEGIN
COMMIT
KILL 1
EXECUTE IMMEDIATE 'DROP TABLE spend'
PREPARE p AS SELECT 1
VALUES (1)
FROM spend; DROP TABLE spend
SELECT * FROM spend; SELECT * FROM campaigns
SELECT * FROM spend; DROP TABLE spend
SELECT 1; DELETE FROM spend WHERE 1 = 1 --
SELECT * FROM spend /* */ ; /* */ DROP TABLE spend
SELECT * FROM stock
SELECT * FROM information_schema.tables
SELECT * FROM duckdb_settings()
SELECT * FROM duckdb_secrets()
SELECT * FROM pragma_table_info('spend')
SELECT * FROM sqlite_master
SELECT * FROM pg_catalog.pg_tables
SELECT * FROM main.spend
SELECT * FROM other.main.spend
SELECT * FROM 'spend.csv'
SELECT * FROM '/etc/passwd'
SELECT * FROM "/etc/passwd"
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/proc/self/environ')
SELECT * FROM read_parquet('s3://bucket/x.parquet')
SELECT * FROM read_json_auto('http://169.254.169.254/')
SELECT * FROM glob('/**')
SELECT * FROM query('DROP TABLE spend')
SELECT * FROM query_table('spend')
SELECT * FROM generate_series(1, 1000000000)
SELECT * FROM range(1000000000)
SELECT * FROM unnest([1, 2, 3])
SELECT * FROM spend, LATERAL (SELECT 1) AS x
SELECT unnest(range(100000000)) FROM spend
SELECT getenv('HOME') FROM spend
SELECT current_setting('memory_limit') FROM spend
SELECT set_config('a', 'b', false) FROM spend
SELECT version() FROM spend
SELECT current_user FROM spend
SELECT session_user() FROM spend
SELECT pg_sleep(60) FROM spend
SELECT sleep(60) FROM spend
SELECT repeat('x', 1000000000) FROM spend
SELECT lpad('x', 1000000000, 'y') FROM spend
SELECT string_agg(brand, ',') FROM spend
SELECT array_agg(brand) FROM spend
SELECT list(brand) FROM spend
SELECT regexp_replace(brand, '(a+)+$', '') FROM spend
SELECT brand FROM spend WHERE brand ~ '(a+)+$'
SELECT brand FROM spend WHERE regexp_matches(brand, '.*')
SELECT ai_generate('say hello') FROM spend
SELECT ML.PREDICT(MODEL x, TABLE spend)
SELECT * FROM EXTERNAL_QUERY('connection', 'SELECT 1')
SELECT nextval('s') FROM spend
SELECT random() FROM spend
SELECT md5(brand) FROM spend
SELECT [x FOR x IN [1, 2]] FROM spend
SELECT {'a': 1} FROM spend
SELECT MAP {'a': 1} FROM spend
SELECT CAST(brand AS BLOB) FROM spend
SELECT brand::JSON FROM spend
SELECT INTO x FROM spend
SELECT * INTO x FROM spend
SELECT * FROM spend FOR UPDATE
SELECT * FROM spend TABLESAMPLE 10 PERCENT
SELECT * FROM spend PIVOT (sum(spend_eur) FOR region IN ('Nordics'))
SELECT * FROM spend QUALIFY row_number() OVER () = 1
SELECT --1 FROM spend
SELECT COLUMNS('.*') FROM spend
SELECT * FROM spend NATURAL JOIN stock
WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t
WITH spend AS (SELECT 1) SELECT * FROM spend
WITH x AS (DELETE FROM spend RETURNING *) SELECT * FROM x
WITH x AS (SELECT * FROM stock) SELECT * FROM x
SELECT (SELECT max(stock_units) FROM stock) FROM spend
SELECT * FROM spend WHERE EXISTS (SELECT 1 FROM read_csv('/etc/passwd'))
SELECT * FROM spend a, spend b, spend c, spend d, spend e, spend f
SELECT ? FROM spend
SELECT $1 FROM spend
SELECT :name FROM spend
SELECT getvariable('x') FROM spend
SELECT brand FROM spend AT (VERSION => 1)
ſELECT * FROM spend; DROP TABLE spend
ＤＲＯＰ TABLE spend
SELECT * FROM ｓpend
nothing at all
(
""".splitlines()

ALLOWED = """\
SELECT * FROM spend
SELECT brand, sum(spend_eur) AS spend FROM spend GROUP BY brand ORDER BY spend DESC
SELECT region, week, sum(spend_eur) FROM spend WHERE brand IN ('Acme Pure', 'Acme Bold') GROUP BY region, week
SELECT count(DISTINCT week) FROM spend WHERE week BETWEEN '2026-W30' AND '2026-W33'
SELECT brand FROM spend GROUP BY brand HAVING sum(spend_eur) > 1000 LIMIT 2
SELECT campaign, 100.0 * sum(clicks) / nullif(sum(impressions), 0) AS rate FROM campaigns GROUP BY campaign
SELECT s.brand, sum(s.spend_eur), sum(c.clicks) FROM spend s JOIN campaigns c USING (brand, region, week) GROUP BY s.brand
WITH w AS (SELECT week, sum(spend_eur) AS e FROM spend GROUP BY week) SELECT week, e - lag(e) OVER (ORDER BY week) AS change FROM w ORDER BY week
SELECT CASE WHEN spend_eur > 10000 THEN 'high' ELSE 'low' END AS level, count(*) FROM spend GROUP BY 1
SELECT brand FROM spend UNION SELECT brand FROM campaigns
SELECT upper(trim(brand)) AS b, round(avg(spend_eur), 2) FROM spend WHERE region LIKE '%Europe' AND NOT brand = 'Acme Zero' GROUP BY b
SELECT brand FROM spend WHERE spend_eur = (SELECT max(spend_eur) FROM spend)
""".splitlines()  # noqa: E501


def test_there_are_a_hundred() -> None:
    assert len(set(ATTACKS)) >= 100


@pytest.mark.parametrize("sql", ATTACKS)
def test_an_attack_is_refused(sql: str) -> None:
    with pytest.raises(SqlRefused) as refused:
        guarded(sql, TABLES, "duckdb")
    assert str(refused.value)


@pytest.mark.parametrize("sql", ALLOWED)
async def test_a_question_runs_and_gives_what_it_gives_unguarded(sql: str) -> None:
    engine = DuckDb(DATA, TABLES)
    found = await engine.run(guarded(sql, TABLES, "duckdb"))
    assert found.rows
    assert sorted(found.rows) == sorted((await engine.run(sql)).rows)


@pytest.mark.parametrize("dialect", ["bigquery", "databricks"])
def test_it_is_read_as_the_warehouse_reads_it(dialect: str) -> None:
    # A name in backticks is a table there; in DuckDB's SQL it is an error.
    assert '"spend"' in guarded("SELECT brand FROM `spend`", TABLES, dialect)
    with pytest.raises(SqlRefused):
        guarded("SELECT * FROM `other-project`.`secret`.`spend`", TABLES, dialect)

    with pytest.raises(SqlRefused):
        guarded("SELECT @variable FROM spend", TABLES, dialect)


async def test_rows_are_limited() -> None:
    sql = guarded("SELECT a.brand FROM spend a CROSS JOIN spend b", TABLES, "duckdb")
    found = await DuckDb(DATA, TABLES).run(sql)
    assert (len(found.rows), found.more) == (MAX_ROWS, True)


async def test_time_is_limited() -> None:
    slow = "SELECT count(*) FROM spend a, campaigns b, campaigns c, campaigns d"
    slow += " WHERE a.spend_eur < b.clicks + c.clicks + d.clicks"
    with pytest.raises(WarehouseError, match="too long"):
        await DuckDb(DATA, TABLES, seconds=0.2).run(guarded(slow, TABLES, "duckdb"))


@pytest.mark.parametrize(
    "sql",
    ["SELECT brand FROM spend WHERE brand = '" + "x" * MAX_SQL + "'",
     "SELECT " + "(" * 300 + "1" + ")" * 300 + " FROM spend",
     "SELECT " + "- " * 900 + "1 FROM spend",
     "SELECT brand FROM spend WHERE " + " OR ".join(["1 = 1"] * 400)],
    ids=["long", "deep", "signs", "wide"],
)  # fmt: skip
def test_size_is_limited(sql: str) -> None:
    with pytest.raises(SqlRefused):
        guarded(sql, TABLES, "duckdb")
