"""A specialist as a node of the router's workflow: another agent, over A2A."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
from a2a.types import AgentCapabilities, AgentCard, AgentInterface
from google.adk.a2a import _compat
from google.adk.a2a.agent.config import A2aRemoteAgentConfig, RequestInterceptor
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.genai import types

from agents.router.approval import action
from agents.shared import caller, services, signed_in, state, tracing
from agents.shared.query import Query, phrase
from agents.shared.semantic import catalog
from agents.shared.settings import required

ROUTER = "router"
NOT_ASKED = "(not asked)"
# Copies of what the event's own content holds; they would make a session grow by 60 KB a turn.
_COPIES = ("a2a:request", "a2a:response")


class _Specialist(RemoteA2aAgent):
    """ADK's agent, whose events keep their content once."""

    async def _run_async_impl(self, ctx: Any) -> AsyncGenerator[Any, None]:
        async for event in super()._run_async_impl(ctx):
            for name in _COPIES:
                (event.custom_metadata or {}).pop(name, None)
            yield event


def specialists(client: httpx.AsyncClient) -> tuple[RemoteA2aAgent, ...]:
    """One node for each agent that owns a measure; its engine is named by NAME_ENGINE_ID.

    Raises:
        SetupError: an engine's ID, the endpoint or the signing key is missing.
    """
    key = caller.signing_key()
    return tuple(
        _specialist(name, required(f"{name.upper()}_ENGINE_ID"), key, client)
        for name in catalog().agents
    )


def _specialist(name: str, engine_id: str, key: str, client: httpx.AsyncClient) -> RemoteA2aAgent:
    async def sign(ctx: Any, message: Any, parameters: Any) -> tuple[Any, Any]:
        """Sends this agent's token as a header and the user's name as a signed statement."""
        asked = Query.model_validate(ctx.session.state[state.QUERIES.name][name])
        # It is asked to act only after approval.py has let it pass.
        allowed = action(asked, asked.invocation) if asked.replan else ""
        statement = caller.sign(
            ctx.user_id, issuer=ROUTER, audience=name, key=key, approved=allowed
        )
        parameters.request_metadata = {caller.METADATA_KEY: statement}
        headers = {"Authorization": await services.bearer(), **tracing.headers()}
        if token := signed_in.token(ctx.session.state):
            headers[services.TOKEN_HEADER] = token
        parameters.client_call_context = _compat.ClientCallContext(service_parameters=headers)
        return message, parameters

    def skip(callback_context: Any) -> Any:
        """The join waits for every specialist, so one that is not asked answers at once."""
        asked = name in callback_context.state[state.QUERIES.name]
        return None if asked else types.ModelContent(NOT_ASKED)

    def ask(ctx: Any, _agent: str, _convert: Any) -> tuple[list[Any], None]:
        """Sends only the request: no history, nothing of the user's own words."""
        query = Query.model_validate(ctx.session.state[state.QUERIES.name][name])
        text = json.dumps(
            {
                "question": phrase(query),
                "request": query.model_dump(mode="json", exclude_defaults=True),
            }
        )
        return [_compat.make_text_part(text)], None

    return _Specialist(
        name=name,
        agent_card=_card(name, services.a2a_url(engine_id)),
        httpx_client=client,
        context_builder=ask,
        before_agent_callback=skip,
        use_legacy=False,
        rerun_on_resume=True,
        config=A2aRemoteAgentConfig(
            forward_session_id_as_context_id="namespaced",
            request_interceptors=[RequestInterceptor(before_request=sign)],
        ),
    )


def _card(name: str, url: str) -> AgentCard:
    """Made here: a card that is fetched names the public host, and costs a request a turn."""
    return AgentCard(
        name=name,
        description=name,
        version="1",
        default_input_modes=["text/plain"],
        default_output_modes=["application/json"],
        capabilities=AgentCapabilities(streaming=False),
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="HTTP+JSON", protocol_version="1.0")
        ],
    )
