"""The router: understands the question, asks the specialists, writes the answer."""

from __future__ import annotations

from agentplatform.frameworks.adk import AdkApp
from google.adk.agents import BaseAgent
from google.adk.apps.app import App

from agents.shared import services
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

    def _get_project_id(self, project: str) -> str:
        """The original asks Resource Manager when the project is given by its number."""
        return project


app = RouterApp(
    # Its place is taken at set_up; importing must not need an environment.
    app=App(name=APP_NAME, root_agent=BaseAgent(name="router")),
    session_service_builder=services.sessions,
    memory_service_builder=services.memory,
)
