"""Chooses a specialist's tool calls for a request, be it JSON or words."""

from __future__ import annotations

import json

from pydantic import ValidationError

from agents.shared.offline.llm import Call, Rule, Turn
from agents.shared.offline.reading import read
from agents.shared.query import SQL_LIST, Query, listed
from agents.shared.semantic import catalog
from agents.shared.skills import LOAD, REFERENCE, reference, skill
from agents.shared.wording import mentions

MEASURES = "query_measures"


def choose(agent: str) -> Rule:
    """The rule of the specialist `agent`: look up what it owns, or say what that is."""

    def rule(turn: Turn) -> str | list[Call]:
        query, problem = _query(turn.text)
        if problem:
            return problem
        assert query is not None
        if query.explain:
            return _explain(agent, query, turn)
        if query.replan or query.run_id:
            return _act(query, turn)
        if turn.answers:
            return str(turn.answers[-1][1].get("problem") or "Nothing was found.")
        return _look_up(agent, query) or _introduction(agent)

    return rule


def _look_up(agent: str, query: Query) -> list[Call]:
    if query.sql:
        return [Call(SQL_LIST, {"sql": query.sql})]
    given = {name: value for name, value in query.model_dump(mode="json").items() if value}
    own = [key for key in query.measures if key in catalog().owned(agent)]
    lists = [key for key in query.lists if key in catalog().lists_of(agent)]
    filters = {k: v for k, v in given.items() if k not in ("measures", "lists", "group_by")}
    grouped = {"group_by": given["group_by"]} if "group_by" in given else {}
    calls = [Call(MEASURES, {**filters, **grouped, "measures": own})] if own else []
    return calls + [Call(name, filters) for name in lists]


def _act(query: Query, turn: Turn) -> str | list[Call]:
    if turn.answers:
        return str(turn.answers[-1][1].get("problem") or "Nothing was done.")
    if query.run_id:
        return [Call("replan_status", {"run_id": query.run_id})]
    what = {"regions": list(query.regions), "brands": list(query.brands)}
    return [Call("replan", {**what, "invocation": query.invocation})]


def _explain(agent: str, query: Query, turn: Turn) -> str | list[Call]:
    """First the skill, then what it refers to for each measure."""
    done = [name for name, _ in turn.answers]
    if LOAD not in done:
        return [Call(LOAD, {"skill_name": skill(agent)})]
    own = [k for k in (*query.measures, *query.lists) if k in catalog().all_of(agent)]
    if REFERENCE not in done and own:
        return [
            Call(REFERENCE, {"skill_name": skill(agent), "file_path": reference(key)})
            for key in own
        ]
    return _introduction(agent)


def _introduction(agent: str) -> str:
    labels = [item.label for item in catalog().all_of(agent).values()]
    return f"I am {agent} and know {listed(labels)}."


def _query(text: str) -> tuple[Query | None, str]:
    """The request, or a problem."""
    try:
        return Query.model_validate(json.loads(text)["request"]), ""
    except (ValueError, KeyError, TypeError, ValidationError):
        reading = read(text)
        if (reading.measures or reading.lists) and reading.unknown:
            return None, f"I do not understand {listed([f'“{name}”' for name in reading.unknown])}."
        currencies = mentions(text, catalog()).currencies
        fields = reading.model_dump(mode="json", include=set(Query.model_fields))
        currency = currencies[0] if currencies else catalog().currency.reporting
        explain = reading.intent == "explain"
        return Query.model_validate({**fields, "currency": currency, "explain": explain}), ""
