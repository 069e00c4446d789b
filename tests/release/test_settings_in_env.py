"""Values of the environment's file that an agent's [env] names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infra.environment import BigQuery, Databricks
from infra.manifest import SettingRef
from services.release import spec
from tests.release.targets import target_at


def resolved(setting: str, **tables: object) -> str | None:
    target = target_at("http://127.0.0.1:1")
    environment = target.environment.model_copy(update=tables)
    reference = SettingRef.model_validate({"setting": setting})
    return spec.setting(replace(target, environment=environment), reference)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("bigquery.dataset", "acme-data.marketing"), ("databricks.host", "http://127.0.0.1:1"),
     ("databricks.replan_job", "7"), ("databricks.warehouse", None), ("databricks.schema", "m.a")],
)  # fmt: skip
def test_a_setting_is_given_as_the_file_has_it(setting: str, value: str | None) -> None:
    tables = {
        "bigquery": BigQuery(dataset="acme-data.marketing"),
        "databricks": Databricks.model_validate(
            {"host": "local", "replan_job": 7, "schema": "m.a"}
        ),
    }
    assert resolved(setting, **tables) == value


def test_without_the_table_the_variable_is_left_out() -> None:
    assert resolved("bigquery.dataset", bigquery=None) is None
