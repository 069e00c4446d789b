"""A specialist's ADK agent: it chooses tools, and what the tools found is its answer.

As soon as a tool has found something, code writes the reply, and the model is not asked again. So a
model can choose what is looked up, but not what was found.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agents.shared import skills
from agents.shared.findings import Reply
from agents.shared.semantic import Catalog, catalog

Acts = Callable[[], list[Any]]

_INSTRUCTION = """\
You look numbers up. You get one request, as JSON or in words. Call tools with exactly what the
request names: its measures and lists that you own, and its brands, regions, weeks, last_weeks,
group_by and currency. Leave out what the request does not name. Never write a number yourself. If
the request names nothing that you own, say in one sentence what you own.

- Measures: query_measures, once. {measures}.
- Lists, a tool each: {lists}.
- If the request holds sql, or neither a measure nor a list answers it: query_sql, in {dialect} SQL,
  over {tables}.
- If the request says replan: replan, with its regions and brands. If it has a run_id:
  replan_status. Only a request of the router's can be acted on.
- If it asks what a measure or list means (explain): load_skill {skill}, then load_skill_resource
  with references/KEY.md.

Brands: {brands}.
Regions: {regions}.
Weeks are written as in 2026-W36.
"""


def agent(name: str, description: str, folder: Path, acts: Acts | None = None) -> Any:
    """The agent `name`, whose data and skills are in `folder`.

    Args:
        acts: makes the tools that do something, for this process's environment.

    Raises:
        SetupError: the environment is not complete.
    """
    from google.adk.agents import Agent

    from agents.shared.free_sql import FreeSql
    from agents.shared.lists import Lists
    from agents.shared.measures import Measures
    from agents.shared.model import model
    from agents.shared.offline.choosing import choose
    from agents.shared.warehouse import open_warehouse

    names = catalog()
    engine = open_warehouse(folder / "data", names.tables[name])
    tools: list[Any] = [
        Measures(name, engine, names).query_measures,
        *Lists(name, engine, names).tools(),
        FreeSql(name, engine).query_sql,
        skills.toolset(folder / "skills"),
        *(acts() if acts else ()),
    ]
    text = _instruction(name, names, engine.dialect)
    return Agent(
        name=name,
        description=description,
        model=model(choose(name)),
        instruction=lambda _: text,
        include_contents="none",
        tools=tools,
        before_model_callback=_reply_with_what_was_found,
        after_model_callback=_speak_in_replies,
    )


def _instruction(name: str, names: Catalog, dialect: str) -> str:
    tables = [f"{table} ({', '.join(columns)})" for table, columns in names.tables[name].items()]
    return _INSTRUCTION.format(
        measures=", ".join(f"{key} ({item.label})" for key, item in names.owned(name).items()),
        lists=", ".join(names.lists_of(name)),
        dialect=dialect,
        tables="; ".join(tables),
        skill=skills.skill(name),
        brands=", ".join(names.brands),
        regions=", ".join(names.regions),
    )


def _reply_with_what_was_found(llm_request: Any, **_: Any) -> Any:
    """Before the model is asked: if tools have found something, that is the reply."""
    last = llm_request.contents[-1] if llm_request.contents else None
    answers = [
        p.function_response for p in (last.parts or [] if last else []) if p.function_response
    ]
    reply = _together([_as_reply(answer.name, answer.response or {}) for answer in answers])
    return _said(reply) if reply.final else None


def failed(why: str) -> str:
    """The whole answer that says why the data could not be read."""
    return Reply(failure=why).model_dump_json()


def _as_reply(tool: str, answer: dict[str, Any]) -> Reply:
    if tool == skills.LOAD:
        return Reply()
    if tool == skills.REFERENCE:
        content = answer.get("content")
        return Reply(notes=(content.strip(),) if isinstance(content, str) else ())
    return Reply.model_validate(answer)


def _together(replies: list[Reply]) -> Reply:
    return Reply(
        findings=tuple(finding for reply in replies for finding in reply.findings),
        listings=tuple(listing for reply in replies for listing in reply.listings),
        notes=tuple(note for reply in replies for note in reply.notes),
        run=next((reply.run for reply in replies if reply.run), None),
        failure=" ".join(dict.fromkeys(reply.failure for reply in replies if reply.failure)),
        problem=" ".join(dict.fromkeys(reply.problem for reply in replies if reply.problem)),
    )


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

    text = json.dumps(reply.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)
    return LlmResponse(content=types.ModelContent(text))
