"""The pause before an action: the turn ends with a question, and goes on with its answer.

The answer is a function response to the question in the same invocation (ADK's RequestInput),
and may come to another process. What was asked is kept in the session; only its own, unexpired
question can be answered, and only once.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from google.adk.events.event import Event
from google.adk.events.request_input import RequestInput
from google.adk.workflow import node
from pydantic import BaseModel, ConfigDict

from agents.router.rules import Settled
from agents.shared import state
from agents.shared.approved import digest
from agents.shared.query import REPLAN, Query, listed

QUESTION = "adk_request_input"
"""The function that ADK says a question is a call of."""
LIFETIME_SECONDS = 30 * 60
NOTHING = "Nothing was started"


class Pending(BaseModel):
    """An action that waits for its person."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    interrupt: str
    query: Query
    queries: dict[str, Any]
    """The query's share of each agent."""
    expires: int


def action(query: Query, invocation: str) -> str:
    """The digest of what a query does: what is approved, and what is carried out."""
    what = {"regions": list(query.regions), "brands": list(query.brands)}
    return digest(invocation, REPLAN, what)


@node(name="approve", rerun_on_resume=True)
async def approve(ctx: Any, node_input: Any) -> AsyncGenerator[Any, None]:
    """Asks before an action; everything else passes."""
    del node_input
    interrupt = _interrupt(ctx.invocation_id)
    said = (ctx.resume_inputs or {}).get(interrupt)
    if said is None:
        query = Settled.model_validate(ctx.state[state.SETTLED.name]).query
        if query is not None and query.replan:
            yield _ask(ctx, interrupt, query)
        else:
            yield Event(output="settled")
        return
    _decided(ctx, interrupt, said)
    yield Event(output="settled")


def _ask(ctx: Any, interrupt: str, query: Query) -> RequestInput:
    made = Pending(
        interrupt=interrupt,
        query=query,
        queries=ctx.state[state.QUERIES.name],
        expires=int(time.time()) + LIFETIME_SECONDS,
    )
    ctx.state[state.PENDING.name] = made.model_dump(mode="json", exclude_defaults=True)
    return RequestInput(
        interrupt_id=interrupt,
        message=f"{_sentence(query)} Approve?",
        payload={"action": REPLAN, "expires": made.expires},
    )


def _decided(ctx: Any, interrupt: str, said: Any) -> None:
    """Settles the turn anew: another one may have come in between, in the same session."""
    pending = _pending(ctx.state)
    ctx.state[state.PENDING.name] = None
    refusal = _refusal(said, pending, interrupt)
    go_on = pending is not None and not refusal
    settled = Settled(query=pending.query) if pending and go_on else Settled(say=refusal)
    ctx.state[state.SETTLED.name] = settled.model_dump(mode="json", exclude_defaults=True)
    ctx.state[state.QUERIES.name] = pending.queries if pending and go_on else {}


async def waits(sessions: Any, app: str, user: str, session: str, invocation: str) -> bool:
    """Whether the user's conversation waits for a decision in this invocation."""
    found = await sessions.get_session(app_name=app, user_id=user, session_id=session)
    pending = _pending(found.state) if found else None
    return pending is not None and pending.interrupt == _interrupt(invocation)


def answer(invocation: str, decision: str) -> dict[str, Any]:
    """The message (a Content) that answers the question of an invocation."""
    response = {
        "id": _interrupt(invocation),
        "name": QUESTION,
        "response": {"decision": "approve" if decision == "approve" else "reject"},
    }
    return {"role": "user", "parts": [{"function_response": response}]}


def _interrupt(invocation: str) -> str:
    return f"{REPLAN}-{invocation}"


def _pending(values: Mapping[str, Any]) -> Pending | None:
    found = values.get(state.PENDING.name)
    return Pending.model_validate(found) if found else None


def _refusal(said: Any, pending: Pending | None, interrupt: str) -> str:
    """Why the action is not carried out; "" when it is approved, which only clear words do."""
    if pending is None or pending.interrupt != interrupt:
        return f"This has been decided already. {NOTHING} again."
    if time.time() > pending.expires:
        return f"The approval came too late. {NOTHING}; ask again."
    approved = isinstance(said, Mapping) and said.get("decision") == "approve"
    return "" if approved else f"{NOTHING}."


def _sentence(query: Query) -> str:
    brands = f" for {listed(query.brands)}" if query.brands else ""
    regions = listed([f"the {name}" if name.endswith("s") else name for name in query.regions])
    return f"I would plan supply anew in {regions}{brands}: this starts a Databricks job as you."
