"""The router: understands the question, asks the specialists, writes the answer."""

from __future__ import annotations

from typing import Any

from agentplatform.frameworks.adk import AdkApp
from google.adk.agents import BaseAgent
from google.adk.apps.app import App

from agents.shared import self_report, services
from agents.shared.settings import quiet

APP_NAME = "acme"
"""With the user's ID the scope of memories: the same on every engine, whatever its ID is."""


class RouterApp(AdkApp):
    """An AdkApp whose agents are built at set_up, when the environment is known."""

    def set_up(self) -> None:
        """Raises SetupError when the environment is not complete."""
        from agents.router.workflow import build

        quiet()
        self._tmpl_attrs["app"] = build(APP_NAME)
        super().set_up()

    async def self_report(self, question: str = "") -> dict[str, Any]:
        """Which files this process runs from, and its answer to a question that leaves no trace."""
        from agents.router.workflow import build

        return await self_report.report(build(APP_NAME), question)

    def register_operations(self) -> dict[str, list[str]]:
        """The template's, and the report."""
        operations = dict(super().register_operations())
        operations["async"] = [*operations["async"], self_report.METHOD]
        return operations

    def _get_project_id(self, project: str) -> str:
        """The original asks Resource Manager when the project is given by its number."""
        return project


app = RouterApp(
    # Its place is taken at set_up; importing must not need an environment.
    app=App(name=APP_NAME, root_agent=BaseAgent(name="router")),
    session_service_builder=services.sessions,
    memory_service_builder=services.memory,
)
