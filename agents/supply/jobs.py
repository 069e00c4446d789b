"""Databricks jobs, run as the person who asks (https://docs.databricks.com/api/workspace/jobs)."""

from __future__ import annotations

from typing import Any

import httpx

from agents.shared.findings import Run
from agents.shared.warehouse.databricks import NOT_SIGNED_IN
from agents.shared.warehouse.engine import WarehouseError

RUN_NOW = "/api/2.2/jobs/run-now"
RUN = "/api/2.2/jobs/runs/get"
SECONDS = 10.0
ATTEMPTS = 3
"""A run-now whose answer is lost is sent again: its token makes sure that one run starts."""


class Jobs:
    """One job of a workspace."""

    def __init__(self, host: str, job: int) -> None:
        """Args: host: base URL of the workspace."""
        self._host, self._job = host.rstrip("/"), job

    async def start(self, parameters: dict[str, str], idempotency: str, token: str) -> int:
        """Starts a run; returns its ID. The same `idempotency` always gives the same run.

        Raises:
            WarehouseError: it did not start, or nobody knows; the message is for the person.
        """
        body = {
            "job_id": self._job,
            "job_parameters": parameters,
            "idempotency_token": idempotency,
        }
        found = await self._call("POST", RUN_NOW, token, json=body)
        return int(found["run_id"])

    async def run(self, run_id: int, token: str) -> Run:
        """How a run goes. Raises as `start` does."""
        found = await self._call("GET", RUN, token, params={"run_id": run_id})
        state = found.get("state", {})
        life, result = str(state.get("life_cycle_state", "")), str(state.get("result_state", ""))
        parameters = {p["name"]: p.get("value", "") for p in found.get("job_parameters", [])}
        return Run(
            run_id=run_id,
            state=(result or life).lower().replace("_", " "),
            done=life in ("TERMINATED", "SKIPPED", "INTERNAL_ERROR"),
            regions=tuple(filter(None, parameters.get("regions", "").split(";"))),
            brands=tuple(filter(None, parameters.get("brands", "").split(";"))),
        )

    async def _call(self, method: str, path: str, token: str, **options: Any) -> dict[str, Any]:
        if not token:
            raise WarehouseError(NOT_SIGNED_IN)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    answer = await client.request(
                        method, f"{self._host}{path}", headers=headers, **options
                    )
                except httpx.HTTPError as error:
                    if attempt < ATTEMPTS:
                        continue
                    raise WarehouseError(
                        f"Databricks could not be asked: {type(error).__name__}"
                    ) from None
                if answer.status_code in (429, 500, 502, 503, 504) and attempt < ATTEMPTS:
                    continue
                return _read(answer)
        raise AssertionError("the last attempt returns or raises")


def _read(answer: httpx.Response) -> dict[str, Any]:
    if answer.status_code in (401, 403):
        raise WarehouseError("Databricks does not let you do this")
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.status_code != 200 or not isinstance(body, dict):
        told = body.get("message", "") if isinstance(body, dict) else ""
        raise WarehouseError(f"Databricks refused: {str(told)[:200] or answer.status_code}")
    return body
