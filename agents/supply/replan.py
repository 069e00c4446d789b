"""Supply's one write: a job that plans supply anew, once its person has approved exactly that."""

from __future__ import annotations

from typing import Any

from google.adk.tools.tool_context import ToolContext

from agents.shared import signed_in
from agents.shared.approved import digest
from agents.shared.filters import NotAsked, resolved
from agents.shared.findings import Reply, Run
from agents.shared.query import REPLAN
from agents.shared.semantic import catalog
from agents.shared.settings import optional
from agents.shared.state import APPROVED
from agents.shared.warehouse.engine import WarehouseError
from agents.supply.jobs import Jobs

NO_JOB = "planning anew is not set up here ([databricks] replan_job in the environment's file)"


def tools() -> list[Any]:
    """The tools, for the environment that this process was started in."""
    host, job = optional("DATABRICKS_HOST"), optional("DATABRICKS_REPLAN_JOB")
    made = Replan(Jobs(host, int(job)) if host and job else None)
    return [made.replan, made.replan_status]


class Replan:
    """The tools over one job; None where the environment has none."""

    def __init__(self, jobs: Jobs | None) -> None:
        self._jobs = jobs

    async def replan(
        self, regions: list[str], brands: list[str], invocation: str, tool_context: ToolContext
    ) -> dict[str, Any]:
        """Plans supply anew. It runs only if the person has approved exactly this.

        Args:
            regions: region names.
            brands: brand names; none for all.
            invocation: as the request has it.

        Returns:
            {"run": {...}} or {"failure": "why nothing was started"}.
        """
        names = catalog()
        try:
            what = {
                "regions": list(resolved(names, "region", regions, names.regions)),
                "brands": list(resolved(names, "brand", brands, names.brands)),
            }
        except NotAsked as error:
            return Reply(problem=str(error)).model_dump(mode="json")
        action = digest(invocation, REPLAN, what)
        if not what["regions"] or tool_context.state.get(APPROVED.name) != action:
            return Reply(failure="nobody has approved this").model_dump(mode="json")
        parameters = {key: ";".join(values) for key, values in what.items()}
        return await self._answer(parameters, action, signed_in.token(tool_context.state))

    async def replan_status(self, run_id: int, tool_context: ToolContext) -> dict[str, Any]:
        """How a run of the planning job goes.

        Args:
            run_id: as the request has it.
        """
        if self._jobs is None:
            return Reply(failure=NO_JOB).model_dump(mode="json")
        try:
            run = await self._jobs.run(run_id, signed_in.token(tool_context.state))
        except WarehouseError as error:
            return Reply(failure=str(error)).model_dump(mode="json")
        return Reply(run=run).model_dump(mode="json")

    async def _answer(self, parameters: dict[str, str], action: str, token: str) -> dict[str, Any]:
        if self._jobs is None:
            return Reply(failure=NO_JOB).model_dump(mode="json")
        try:
            run_id = await self._jobs.start(parameters, action, token)
        except WarehouseError as error:
            return Reply(failure=str(error)).model_dump(mode="json")
        split = {key: tuple(filter(None, text.split(";"))) for key, text in parameters.items()}
        run = Run(run_id=run_id, state="started", regions=split["regions"], brands=split["brands"])
        return Reply(run=run).model_dump(mode="json")
