"""An ADK agent with the Vertex services of its engine, on the SDK's own template."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import Any

from agentplatform.frameworks.adk import AdkApp
from google.adk.agents import Agent
from google.adk.apps.app import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.sessions import VertexAiSessionService
from google.genai import types


class Parrot(BaseLlm):
    """Says how many messages of the user it has seen, and the last one."""

    model: str = "parrot"

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """One answer."""
        said = [p.text for c in llm_request.contents if c.role == "user" for p in c.parts]
        yield LlmResponse(content=types.ModelContent(f"{len(said)}: {said[-1]}"))


class Sessions(VertexAiSessionService):
    """The engine's sessions at the endpoint that the environment names."""

    def _build_api_client(self) -> Any:
        import agentplatform

        options = types.HttpOptions(base_url=os.environ["AGENT_PLATFORM_ENDPOINT"])
        return agentplatform.Client(
            project=self._project, location=self._location, http_options=options
        ).aio


def sessions() -> Sessions:
    """For AdkApp."""
    return Sessions(
        os.environ["GOOGLE_CLOUD_PROJECT"],
        os.environ["GOOGLE_CLOUD_LOCATION"],
        os.environ["GOOGLE_CLOUD_AGENT_ENGINE_ID"],
    )


root = Agent(name="talker", model=Parrot(), instruction="Repeat.")
app = AdkApp(app=App(name="talk", root_agent=root), session_service_builder=sessions)
