"""An A2A agent on the SDK's own template: answers with the message and the headers it came with."""

from __future__ import annotations

from a2a.helpers.proto_helpers import new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.types import AgentSkill
from agentplatform.frameworks.a2a import A2aAgent, create_agent_card


class Executor(AgentExecutor):
    """One message for one message."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Answers."""
        headers = context.call_context.state.get("headers", {}) if context.call_context else {}
        text = f"heard {context.get_user_input()} with {headers.get('authorization')}"
        await event_queue.enqueue_event(new_text_message(text))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """There is nothing to cancel."""


skill = AgentSkill(id="hear", name="hear", description="hears", tags=["test"])
card = create_agent_card(agent_name="specialist", description="Hears.", skills=[skill])
app = A2aAgent(agent_card=card, agent_executor_builder=Executor)
