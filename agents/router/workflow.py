"""The router's workflow.

    extract ─ route ─ approve ─┬ marketing ┬ join ─ collect ─ writer
     (model)  (code)  (code)   └ supply    ┘        (code)   (model)

extract reads the message, route settles what is asked (rules.py) and of whom, approve pauses before
an action (approval.py), the specialists answer over A2A, collect keeps what answers the question,
and the writer words it. Memory is read before both model steps and written after the last one.
Every turn ends with an answer of the writer's, or with approve's question.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from google.adk.agents import Agent
from google.adk.apps.app import App, EventsCompactionConfig
from google.adk.models import LlmResponse
from google.adk.workflow import START, JoinNode, Workflow
from google.genai import types
from pydantic import ValidationError

from agents.router import prompts, recall, remote, table
from agents.router.approval import approve
from agents.router.checked import Checked
from agents.router.history import INTERVAL, OVERLAP, History, Summary
from agents.router.recall import Recall
from agents.router.replies import checked
from agents.router.rules import Settled, settle
from agents.shared import guard, services, state
from agents.shared.brief import Brief
from agents.shared.findings import Reply, Run
from agents.shared.model import model
from agents.shared.offline.llm import turn
from agents.shared.offline.reading import read
from agents.shared.offline.writing import write, write_brief
from agents.shared.plugins import plugins
from agents.shared.query import MAX_TEXT, REPLAN, Query, Reading
from agents.shared.rounding import rounding
from agents.shared.semantic import catalog

LOG = logging.getLogger("agents.router")


def build(app_name: str) -> App:
    """The app, for the environment that this process was started in.

    Raises:
        SetupError: the environment is not complete.
    """
    nodes = remote.specialists(services.a2a_client())
    chain = (START, _extract(), route, approve, nodes, JoinNode(name="join"), collect, _writer())
    return App(
        name=app_name,
        root_agent=Workflow(name=remote.ROUTER, edges=[chain]),
        events_compaction_config=EventsCompactionConfig(
            summarizer=Summary(), compaction_interval=INTERVAL, overlap_size=OVERLAP
        ),
        plugins=plugins(remote.ROUTER),
    )


def _extract() -> Agent:
    text = prompts.extract(catalog())
    return Agent(
        name="extract",
        model=model(lambda asked: read(asked.text).model_dump_json(exclude_defaults=True)),
        instruction=lambda _: text,
        tools=[Recall(), History()],
        generate_content_config=types.GenerateContentConfig(
            temperature=0, response_mime_type="application/json"
        ),
        on_model_error_callback=_not_read,
    )


def _writer() -> Agent:
    return Agent(
        name="writer",
        model=Checked(inner=model(write)),
        instruction=lambda _: prompts.write(),
        tools=[Recall()],
        before_model_callback=_say_what_is_settled,
        on_model_error_callback=_write_by_rule,
        after_agent_callback=_remember,
    )


def route(ctx: Any, node_input: str) -> str:
    """Settles what is asked, and writes down what each specialist is to be asked."""
    settled = settle(
        _parsed(node_input),
        guard.unsteered(_question(ctx)),
        "\n".join(recall.facts(ctx.state)),
        catalog(),
        last=_last_plan(ctx.state),
        home_team=ctx.state.get(state.HOME_TEAM.name, ""),
        has_memory=services.has_memory(),
        may_keep=bool(guard.kept(_question(ctx)[:MAX_TEXT])),
    )
    if settled.home_team:
        ctx.state[state.HOME_TEAM.name] = settled.home_team
    if settled.query and (settled.query.measures or settled.query.lists):
        ctx.state[state.LAST_PLAN.name] = settled.query.model_dump(
            mode="json", exclude_defaults=True
        )
    if settled.status:
        settled = _status(ctx.state.get(state.LAST_RUN.name))
    if settled.query and settled.query.replan:
        settled = _named(settled, ctx.invocation_id)
    ctx.state[state.SETTLED.name] = settled.model_dump(mode="json", exclude_defaults=True)
    ctx.state[state.QUERIES.name] = _shares(settled.query) if settled.query else {}
    return "settled"


def _last_plan(values: Any) -> Query | None:
    found = values.get(state.LAST_PLAN.name)
    return Query.model_validate(found) if found else None


def _status(last: Any) -> Settled:
    """The question after the last replan of this person, in whichever conversation it was."""
    if not last:
        return Settled(say="You have not had supply planned anew yet.")
    return Settled(query=Query(run_id=Run.model_validate(last).run_id))


def _named(settled: Settled, invocation: str) -> Settled:
    """An action belongs to the invocation in which it was asked for."""
    assert settled.query is not None
    query = settled.query.model_copy(update={"invocation": invocation})
    return settled.model_copy(update={"query": query})


def _question(ctx: Any) -> str:
    """What the user said in this turn."""
    return " ".join(part.text for part in ctx.user_content.parts or [] if part.text)


def _parsed(answer: str) -> Reading:
    """The model's reading; nothing is asked when it is no JSON."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        return Reading.model_validate_json(answer[start : end + 1])
    except ValidationError as error:
        LOG.warning("extract did not answer with a reading: %s", error)
        return Reading(intent="other")


def _shares(query: Query) -> dict[str, Any]:
    """Each owner's part of the query."""
    names = catalog()
    items = {**names.measures, **names.lists}
    owners = dict.fromkeys(items[key].agent for key in (*query.measures, *query.lists))
    if query.replan or query.run_id:
        owners = {names.actors[REPLAN]: None}
    elif query.sql:
        owners = dict.fromkeys(names.owners_of_sql(query.sql))
    return {
        owner: query.model_copy(
            update={
                "measures": tuple(k for k in query.measures if k in names.owned(owner)),
                "lists": tuple(k for k in query.lists if k in names.lists_of(owner)),
            }
        ).model_dump(mode="json", exclude_defaults=True)
        for owner in owners
    }


async def collect(ctx: Any, node_input: Mapping[str, Any]) -> str:
    """Keeps what answers the query, and says what is missing."""
    settled = Settled.model_validate(ctx.state[state.SETTLED.name])
    replies: list[Reply] = []
    missing = [recall.FAILED] if recall.failed(ctx.state) else []
    for owner, share in ctx.state[state.QUERIES.name].items():
        found, problem = checked(owner, Query.model_validate(share), node_input.get(owner))
        replies.append(found)
        missing += [problem] if problem else []
    findings = tuple(finding for reply in replies for finding in reply.findings)
    listings = tuple(listing for reply in replies for listing in reply.listings)
    ctx.state[state.FINDINGS.name] = [
        finding.model_dump(mode="json", exclude_defaults=True) for finding in findings
    ]
    run = next((reply.run for reply in replies if reply.run), None)
    if run is not None:
        ctx.state[state.LAST_RUN.name] = run.model_dump(mode="json", exclude_defaults=True)
    ctx.state[state.LISTINGS.name] = [
        listing.model_dump(mode="json", exclude_defaults=True) for listing in listings
    ]
    if settled.query is None:
        return settled.say
    brief = Brief(
        query=settled.query,
        question=_question(ctx),
        from_memory=settled.from_memory,
        findings=findings,
        listings=listings,
        notes=tuple(note for reply in replies for note in reply.notes),
        run=run,
        missing=tuple(missing),
        rounding=rounding(" ".join([*recall.facts(ctx.state), _question(ctx)])),
    )
    if settled.query.csv:
        brief = await _as_a_file(ctx, brief)
    return brief.model_dump_json(exclude_defaults=True)


async def _as_a_file(ctx: Any, brief: Brief) -> Brief:
    """Saves the table; only its name is in state and in the brief."""
    text, name = table.table(brief), table.name(brief)
    if not text:
        return brief
    part = types.Part.from_bytes(data=text.encode(), mime_type=table.MIME)
    try:
        version = await ctx.save_artifact(name, part)
    except Exception as error:  # noqa: BLE001 - whatever storage raises, the answer must come
        LOG.error("a file could not be saved: %s", type(error).__name__)
        told = "It could not be saved as a file"
        return brief.model_copy(update={"missing": (*brief.missing, told)})
    ctx.state[state.FILE.name] = name
    # ADK counts versions from 0, people from 1.
    return brief.model_copy(update={"file": f"{name}, version {version + 1}"})


def _say_what_is_settled(callback_context: Any, **_: Any) -> LlmResponse | None:
    """Before the writer's model is asked: a sentence that code has settled on is said as it is."""
    say = callback_context.state[state.SETTLED.name].get("say")
    return LlmResponse(content=types.ModelContent(say)) if say else None


def _not_read(llm_request: Any, error: Exception, **_: Any) -> LlmResponse:
    """The model failed: the rules read the message."""
    LOG.error("extract's model failed, the rules read instead: %s", error)
    text = turn(llm_request.contents).text
    return LlmResponse(
        content=types.ModelContent(read(text).model_dump_json(exclude_defaults=True))
    )


def _write_by_rule(llm_request: Any, error: Exception, **_: Any) -> LlmResponse:
    """The model failed: the rules write the answer from the same brief."""
    LOG.error("the writer's model failed, the rules write instead: %s", error)
    brief = Brief.model_validate_json(turn(llm_request.contents).text)
    return LlmResponse(content=types.ModelContent(write_brief(brief)))


async def _remember(callback_context: Any) -> None:
    """After the answer: what the guard lets through of the user's own words goes to memory.

    A node's input lies among the session's events as if the user had said it; it does not belong to
    the invocation. A memory that cannot be written is logged, and no reason to fail the answer.
    """
    said = [
        _guarded(event)
        for event in callback_context.session.events
        if event.author == "user" and event.invocation_id == callback_context.invocation_id
    ]
    said = [event for event in said if event is not None]
    if not said:
        return
    try:
        await callback_context.add_events_to_memory(events=said)
    except Exception:
        LOG.exception("this turn was not written to memory")


def _guarded(event: Any) -> Any:
    """The event with the sentences that may be remembered; None when there is none."""
    parts = (event.content.parts if event.content else None) or []
    said = " ".join(part.text for part in parts if part.text)
    text = guard.kept(said) if len(said) <= MAX_TEXT else ""
    return event.model_copy(update={"content": types.UserContent(text)}) if text else None
