"""The router: understands the question, asks the specialists, writes the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from agentplatform.frameworks.adk import AdkApp
from google.adk.agents import BaseAgent
from google.adk.apps.app import App

from agents.shared import caller as signed
from agents.shared import self_report, services, state
from agents.shared.settings import quiet

APP_NAME = "acme"
"""With the user's ID the scope of memories: the same on every engine, whatever its ID is."""
ROUTER = "router"
NOTHING_PENDING = "There is nothing to decide here: it was decided already, or nobody asked."


class RouterApp(AdkApp):
    """An AdkApp whose agents are built at set_up, and that takes the user from a signed statement.

    Whoever may query the engine could name any user, so every method also takes `caller`: a
    statement of the front's (agents/shared/caller.py) that it asks on behalf of `user_id`. The
    template's other methods take none, so they are not registered.
    """

    def set_up(self) -> None:
        """Raises SetupError when the environment is not complete."""
        from agents.router.workflow import build

        quiet()
        self._tmpl_attrs["app"] = build(APP_NAME)
        self._key = signed.signing_key()
        super().set_up()

    async def async_create_session(
        self, *, user_id: str, caller: str = "", session_id: str | None = None
    ) -> dict[str, Any]:
        """Begins a conversation.

        Raises:
            CallerRefused: `caller` does not state that `user_id` asks.
        """
        self._check(user_id, caller)
        made: dict[str, Any] = await super().async_create_session(
            user_id=user_id, session_id=session_id
        )
        return made

    async def async_stream_query(
        self, *, message: str, user_id: str, session_id: str, caller: str = "", token: str = ""
    ) -> AsyncIterator[dict[str, Any]]:
        """Asks in a conversation; answers with ADK's events. Raises as `async_create_session`.

        Args:
            token: the person's own Databricks token; it lasts for this turn and is never stored.
        """
        self._check(user_id, caller)
        delta = {state.TOKEN.name: token}
        async for event in super().async_stream_query(
            message=message, user_id=user_id, session_id=session_id, state_delta=delta
        ):
            yield event

    async def async_stream_decide(
        self,
        *,
        decision: str,
        user_id: str,
        session_id: str,
        invocation_id: str,
        caller: str = "",
        token: str = "",
    ) -> AsyncIterator[dict[str, Any]]:
        """Decides what a turn paused for, and goes on with it. Raises as `async_create_session`.

        Args:
            decision: `approve`; anything else rejects.
            invocation_id: of the events of the turn that asked.
            token: as `async_stream_query` takes it; the one of the paused turn is gone.
        """
        from agents.router.approval import answer, waits

        self._check(user_id, caller)
        sessions = self._tmpl_attrs["session_service"]
        if not await waits(sessions, APP_NAME, user_id, session_id, invocation_id):
            yield _said(NOTHING_PENDING, invocation_id)
            return
        async for event in super().async_stream_query(
            message=answer(invocation_id, decision),
            user_id=user_id,
            session_id=session_id,
            invocation_id=invocation_id,
            state_delta={state.TOKEN.name: token},
        ):
            yield event

    async def async_stream_resume(
        self,
        *,
        user_id: str,
        session_id: str,
        invocation_id: str,
        caller: str = "",
        token: str = "",
    ) -> AsyncIterator[dict[str, Any]]:
        """Goes on with a turn that broke off; what it has done is not done again.

        Args, and what it raises: as `async_stream_decide`.
        """
        from agentplatform._genai._runtimes_utils import dump_event_for_json

        self._check(user_id, caller)
        async for event in self._tmpl_attrs["runner"].run_async(
            user_id=user_id,
            session_id=session_id,
            invocation_id=invocation_id,
            state_delta={state.TOKEN.name: token},
        ):
            yield dump_event_for_json(event)

    async def async_rewind(
        self, *, user_id: str, session_id: str, invocation_id: str, caller: str = ""
    ) -> dict[str, Any]:
        """Undoes a turn and all after it (see rewind.py). Raises as `async_create_session`.

        Returns:
            `undone` and `stays`, or `problem` when there is no such turn.
        """
        from agents.router.rewind import NotUndone, rewind

        self._check(user_id, caller)
        try:
            return await rewind(self._tmpl_attrs["runner"], user_id, session_id, invocation_id)
        except NotUndone as error:
            return {"problem": str(error)}

    async def async_get_file(
        self,
        *,
        name: str,
        user_id: str,
        session_id: str,
        version: int | None = None,
        caller: str = "",
    ) -> dict[str, Any]:
        """A file that an answer was saved as. Raises as `async_create_session`.

        Args:
            version: from 1; None for the newest.

        Returns:
            `text`, or `problem` when the conversation has no such file.
        """
        self._check(user_id, caller)
        part = await self._tmpl_attrs["artifact_service"].load_artifact(
            app_name=APP_NAME,
            user_id=user_id,
            session_id=session_id,
            filename=name,
            version=None if version is None else version - 1,
        )
        if part is None or part.inline_data is None:
            return {"problem": f"the conversation has no file {name}"}
        return {"text": part.inline_data.data.decode()}

    async def self_report(self, question: str = "") -> dict[str, Any]:
        """Which files this process runs from, and its answer to a question that leaves no trace."""
        from agents.router.workflow import build

        return await self_report.report(build(APP_NAME), question)

    def register_operations(self) -> dict[str, list[str]]:
        """Those that check who asks, and the report."""
        return {
            "async": ["async_create_session", "async_rewind", "async_get_file", self_report.METHOD],
            "async_stream": ["async_stream_query", "async_stream_decide", "async_stream_resume"],
        }

    def _check(self, user: str, statement: str) -> None:
        if signed.verified(statement, audience=ROUTER, key=self._key).user != user:
            raise signed.CallerRefused(f"{ROUTER} refused: the statement is of another user")

    def _get_project_id(self, project: str) -> str:
        """The original asks Resource Manager when the project is given by its number."""
        return project


def _said(text: str, invocation: str) -> dict[str, Any]:
    """An answer without a turn, as an event has it."""
    return {
        "author": "writer",
        "invocation_id": invocation,
        "content": {"role": "model", "parts": [{"text": text}]},
    }


app = RouterApp(
    # Its place is taken at set_up; importing must not need an environment.
    app=App(name=APP_NAME, root_agent=BaseAgent(name="router")),
    session_service_builder=services.sessions,
    artifact_service_builder=services.artifacts,
    memory_service_builder=services.memory,
)
