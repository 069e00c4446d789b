"""A specialist: one ADK agent with one tool over its data, served as an A2A agent.

Its numbers come from the tool alone: as soon as the tool has answered, code writes the reply, and
the model is not asked again. So a model can choose what is looked up, but not what was found.
Each request is whole in itself, so a specialist keeps no conversation: its session lasts for one
request, and the conversation stays with the router.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from a2a.types import AgentSkill
from agentplatform.frameworks.a2a import A2aAgent, create_agent_card

from agents.shared import caller, self_report
from agents.shared.findings import Reply
from agents.shared.semantic import catalog
from agents.shared.settings import chosen, quiet

TOOL = "query_measures"
MAX_MODEL_CALLS = 4
KEPT_TASKS = 100
"""A caller may look at its task for a while; the SDK's own store keeps every task for ever."""

_INSTRUCTION = """\
You look numbers up. You get one request, as JSON or in words. Call the tool {tool} once, with
exactly what the request names: its measures that you own, and its brands, regions, weeks,
last_weeks, group_by and currency. Leave out what the request does not name. Never write a number
yourself. If the request names nothing that you own, say in one sentence what you own.

Your measures: {measures}.
Brands: {brands}.
Regions: {regions}.
Weeks are written as in 2026-W36.
"""


class Specialist(A2aAgent):
    """An A2aAgent that can be asked what it runs from."""

    async def self_report(self, question: str = "") -> dict[str, Any]:
        """Which files this process runs from, and its answer to a question that leaves no trace."""
        from google.adk.apps.app import App

        given = self._tmpl_attrs["agent_executor_kwargs"]
        agent = _agent(given["name"], given["description"], given["data"])
        return await self_report.report(App(name=given["name"], root_agent=agent), question)

    def register_operations(self) -> dict[str, list[str]]:
        """The template's, and the report."""
        return {**super().register_operations(), "async": [self_report.METHOD]}


def specialist(name: str, description: str, data: Path) -> A2aAgent:
    """The deployable object of the agent `name`, which owns the CSV files in the folder `data`.

    Nothing of the environment is read before its `set_up`, which raises SetupError.
    """
    skills = [
        AgentSkill(
            id=key,
            name=measure.label,
            description=f"{measure.label} by brand, region and week.",
            tags=[name],
        )
        for key, measure in catalog().owned(name).items()
    ]
    card = create_agent_card(
        agent_name=name,
        description=description,
        skills=skills,
        default_output_modes=["application/json"],
    )
    return Specialist(
        agent_card=card,
        task_store_builder=_task_store,
        agent_executor_builder=_executor,
        agent_executor_kwargs={"name": name, "description": description, "data": data},
    )


def _executor(name: str, description: str, data: Path) -> Any:
    """Runs at set_up, when the environment is known."""
    from google.adk.a2a.executor.a2a_agent_executor import A2aAgentExecutor
    from google.adk.a2a.executor.config import A2aAgentExecutorConfig, ExecuteInterceptor
    from google.adk.apps.app import App
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService

    quiet()
    chosen("SLIPWAY_DATA", ("sample",))
    agent = _agent(name, description, data)
    app = App(name=name, root_agent=agent)
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


def _agent(name: str, description: str, data: Path) -> Any:
    from google.adk.agents import Agent

    from agents.shared.measures import Measures
    from agents.shared.model import model
    from agents.shared.offline.choosing import choose

    names = catalog()
    measures = Measures(name, data, names)
    owned = ", ".join(f"{key} ({item.label})" for key, item in names.owned(name).items())
    text = _INSTRUCTION.format(
        tool=TOOL,
        measures=owned,
        brands=", ".join(names.brands),
        regions=", ".join(names.regions),
    )
    return Agent(
        name=name,
        description=description,
        model=model(choose(name)),
        instruction=lambda _: text,
        include_contents="none",
        tools=[measures.query_measures],
        before_model_callback=_reply_with_what_was_found,
        after_model_callback=_speak_in_replies,
    )


def _converter(name: str) -> Any:
    """Turns an A2A request into a run of the agent on behalf of the caller that it states."""
    from google.adk.a2a import _compat
    from google.adk.a2a.converters.request_converter import (
        convert_a2a_request_to_agent_run_request,
    )

    key = caller.signing_key()

    def convert(request: Any, part_converter: Any) -> Any:
        metadata = _compat.meta_to_dict(request.metadata) or {}
        user = caller.user_of(metadata, audience=name, key=key)
        run = convert_a2a_request_to_agent_run_request(request, part_converter)
        run.user_id = user
        # Not the context's: two requests of one conversation may be under way at once.
        run.session_id = uuid.uuid4().hex
        # The default copies the request's metadata, and so the statement, onto every stored event.
        run.run_config.custom_metadata = {}
        run.run_config.max_llm_calls = MAX_MODEL_CALLS
        return run

    return convert


def _reply_with_what_was_found(llm_request: Any, **_: Any) -> Any:
    """Before the model is asked: if the tool has found something, that is the reply."""
    last = llm_request.contents[-1] if llm_request.contents else None
    replies = [
        Reply.model_validate(part.function_response.response)
        for part in (last.parts or [] if last else [])
        if part.function_response and part.function_response.name == TOOL
    ]
    findings = tuple(finding for reply in replies for finding in reply.findings)
    return _said(Reply(findings=findings)) if findings else None


def _speak_in_replies(llm_response: Any, **_: Any) -> Any:
    """After the model was asked: a call loses its prose, and prose becomes a reply's problem."""
    parts = (llm_response.content.parts if llm_response.content else None) or []
    calls = [part for part in parts if part.function_call]
    if calls:
        llm_response.content.parts = calls
        return llm_response
    if llm_response.partial or llm_response.error_message:
        return None
    text = " ".join(part.text for part in parts if part.text and not part.thought).strip()
    return _said(Reply(problem=text or "nothing was found"))


def _said(reply: Reply) -> Any:
    from google.adk.models import LlmResponse
    from google.genai import types

    text = json.dumps(reply.model_dump(mode="json"), ensure_ascii=False)
    return LlmResponse(content=types.ModelContent(text))
