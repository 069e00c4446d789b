"""Chooses a specialist's tool call for a request, be it JSON or words."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from agents.shared.offline.llm import Call, Rule, Turn
from agents.shared.offline.reading import read
from agents.shared.query import Query, listed
from agents.shared.semantic import catalog
from agents.shared.wording import mentions

TOOL = "query_measures"


def choose(agent: str) -> Rule:
    """The rule of the specialist `agent`: look up what it owns, or say what that is."""

    def rule(turn: Turn) -> str | Call:
        owned = catalog().owned(agent)
        if turn.tool_answer is not None:
            return str(turn.tool_answer.get("problem") or "Nothing was found.")
        arguments, problem = _arguments(turn.text)
        measures = [key for key in arguments.get("measures", ()) if key in owned]
        if problem or not measures:
            labels = listed([measure.label for measure in owned.values()])
            return problem or f"I am {agent} and know {labels}."
        return Call(TOOL, {**arguments, "measures": measures})

    return rule


def _arguments(text: str) -> tuple[dict[str, Any], str]:
    """The tool's arguments, without those that are empty; or a problem."""
    try:
        query = Query.model_validate(json.loads(text)["request"])
    except (ValueError, KeyError, TypeError, ValidationError):
        reading = read(text)
        if reading.measures and reading.unknown:
            return {}, f"I do not understand {listed([f'“{name}”' for name in reading.unknown])}."
        fields = reading.model_dump(mode="json", exclude={"intent", "unknown", "note"})
        currencies = mentions(text, catalog()).currencies
        query = Query.model_validate(
            {**fields, "currency": currencies[0] if currencies else catalog().currency.reporting}
        )
    return {key: value for key, value in query.model_dump(mode="json").items() if value}, ""
