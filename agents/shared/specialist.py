"""A specialist: one ADK agent (looking_up.py) with tools over its data, served as an A2A agent.

Each request is whole in itself, so a specialist keeps no conversation: its session lasts for one
request, and the conversation stays with the router.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from a2a.types import AgentInterface, AgentSkill
from a2a.utils.constants import TransportProtocol
from agentplatform.frameworks.a2a import A2aAgent, create_agent_card

from agents.shared import caller, looking_up, self_report, services, state, tracing
from agents.shared.plugins import plugins
from agents.shared.semantic import catalog
from agents.shared.settings import quiet, required

OLDER = "0.3"
"""The A2A version that is spoken beside the newest one."""
MAX_MODEL_CALLS = 6
KEPT_TASKS = 100
"""A caller may look at its task for a while; the SDK's own store keeps every task for ever."""


class Specialist(A2aAgent):
    """An A2aAgent that can be asked what it runs from."""

    def set_up(self) -> None:
        """Raises SetupError when the environment is not complete."""
        newest, *others = self.agent_card.supported_interfaces
        for interface in others:  # the SDK looks at them before it knows its own address
            interface.url = services.a2a_url(required("GOOGLE_CLOUD_AGENT_ENGINE_ID"))
        super().set_up()
        for interface in others:
            interface.url = newest.url

    async def self_report(self, question: str = "") -> dict[str, Any]:
        """Which files this process runs from, and its answer to a question that leaves no trace."""
        from google.adk.apps.app import App

        given = self._tmpl_attrs["agent_executor_kwargs"]
        agent = looking_up.agent(**given)
        return await self_report.report(App(name=given["name"], root_agent=agent), question)

    def register_operations(self) -> dict[str, list[str]]:
        """The template's, and the report."""
        return {**super().register_operations(), "async": [self_report.METHOD]}


def specialist(
    name: str, description: str, folder: Path, acts: looking_up.Acts | None = None
) -> A2aAgent:
    """The deployable object of the agent `name`, whose files (`data/`, `skills/`) are in `folder`.

    Args:
        acts: makes the tools that do something.

    Nothing of the environment is read before its `set_up`, which raises SetupError.
    """
    skills = [
        AgentSkill(
            id=key,
            name=item.label,
            description=f"{item.label} by brand, region and week.",
            tags=[name],
        )
        for key, item in catalog().all_of(name).items()
    ]
    card = create_agent_card(
        agent_name=name,
        description=description,
        skills=skills,
        default_output_modes=["application/json"],
    )
    # Before set_up nobody knows where; there the SDK says it of the first one.
    card.supported_interfaces.append(
        AgentInterface(protocol_binding=TransportProtocol.HTTP_JSON, protocol_version=OLDER)
    )
    return Specialist(
        agent_card=card,
        task_store_builder=_task_store,
        agent_executor_builder=_executor,
        agent_executor_kwargs={
            "name": name,
            "description": description,
            "folder": folder,
            "acts": acts,
        },
    )


def _executor(name: str, description: str, folder: Path, acts: looking_up.Acts | None) -> Any:
    """Runs at set_up, when the environment is known."""
    from google.adk.a2a.executor.a2a_agent_executor import A2aAgentExecutor
    from google.adk.a2a.executor.config import A2aAgentExecutorConfig, ExecuteInterceptor
    from google.adk.apps.app import App
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService

    quiet()
    agent = looking_up.agent(name, description, folder, acts)
    app = App(name=name, root_agent=agent, plugins=plugins(name, looking_up.failed))
    runner = Runner(app=app, session_service=InMemorySessionService())
    config = A2aAgentExecutorConfig(
        request_converter=_converter(name),
        execute_interceptors=[ExecuteInterceptor(after_agent=_forget)],
    )
    return A2aAgentExecutor(runner=runner, config=config)


async def _forget(context: Any, final_event: Any) -> Any:
    """After a request: drops its session."""
    await context.runner.session_service.delete_session(
        app_name=context.app_name, user_id=context.user_id, session_id=context.session_id
    )
    return final_event


def _task_store() -> Any:
    from a2a.server.tasks import InMemoryTaskStore

    class RecentTasks(InMemoryTaskStore):
        """The SDK's store, without what is older than the newest KEPT_TASKS."""

        def __init__(self) -> None:
            super().__init__()
            self._known: dict[str, Any] = {}

        async def save(self, task: Any, context: Any) -> None:
            """Keeps it, and drops the oldest one that is too many."""
            await super().save(task, context)
            self._known[task.id] = context
            while len(self._known) > KEPT_TASKS:
                oldest = next(iter(self._known))
                await self.delete(oldest, self._known.pop(oldest))

    return RecentTasks()


def _converter(name: str) -> Any:
    """Turns an A2A request into a run of the agent on behalf of the caller that it states."""
    from google.adk.a2a import _compat
    from google.adk.a2a.converters.request_converter import (
        convert_a2a_request_to_agent_run_request,
    )

    key = caller.signing_key()

    def convert(request: Any, part_converter: Any) -> Any:
        metadata = _compat.meta_to_dict(request.metadata) or {}
        who = caller.caller_of(metadata, audience=name, key=key)
        run = convert_a2a_request_to_agent_run_request(request, part_converter)
        run.user_id = who.user
        # Not the context's: two requests of one conversation may be under way at once.
        run.session_id = uuid.uuid4().hex
        # The default copies the request's metadata, and so the statement, onto every stored event.
        run.run_config.custom_metadata = {}
        run.run_config.max_llm_calls = MAX_MODEL_CALLS
        headers = (request.call_context.state if request.call_context else {}).get("headers", {})
        tracing.take_up(headers)
        run.state_delta = {
            state.TOKEN.name: headers.get(services.TOKEN_HEADER, ""),
            state.APPROVED.name: who.approved,
        }
        return run

    return convert
