"""What callers of an agent rely on: its methods and the card of its A2A interface.

A call over A2A always reaches the revision that serves, never a chosen one. So while a set is
deployed, a new specialist answers the router of before for a moment, and one that is deployed alone
answers it for long: what it could be asked before, it must still be asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

CARD = "a2a_agent_card"
"""Where the SDK puts an agent's card: into the description of each of its A2A methods."""

Methods = Sequence[Mapping[str, Any]]


def card(methods: Methods) -> dict[str, Any] | None:
    """The agent's card, or None where it speaks no A2A (or not in JSON)."""
    text = next((method[CARD] for method in methods if CARD in method), None)
    try:
        found = json.loads(text) if text is not None else None
    except (TypeError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def breaks(before: Methods, after: Methods) -> list[str]:
    """What a caller of `before` would miss in `after`; each a short text for people."""
    had, has = _by_name(before), _by_name(after)
    found = [f"the method {name} is gone" for name in had if name not in has]
    for name in had.keys() & has.keys():
        found += _new_needs(name, had[name], has[name])
    return sorted(found) + _missing_on_card(card(before), card(after))


def _by_name(methods: Methods) -> dict[str, Mapping[str, Any]]:
    return {str(method["name"]): method for method in methods}


def _new_needs(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[str]:
    old, new = (dict(m.get("parameters") or {}) for m in (before, after))
    added = set(new.get("required") or ()) - set(old.get("required") or ())
    taken = set(old.get("properties") or ()) - set(new.get("properties") or ())
    yield from (f"{name} now needs {parameter}" for parameter in added)
    yield from (f"{name} no longer takes {parameter}" for parameter in taken)


def _missing_on_card(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> list[str]:
    if before is None:
        return []
    if after is None:
        return ["it has no A2A card any more"]
    what = {
        "the A2A interface": _interfaces,
        "the skill": _skills,
    }
    return [
        f"{label} {gone} is gone from its card"
        for label, of in what.items()
        for gone in sorted(of(before) - of(after))
    ]


def _interfaces(card: Mapping[str, Any]) -> set[str]:
    found = card.get("supportedInterfaces") or []
    return {f"{i.get('protocolBinding')} {i.get('protocolVersion')}" for i in found}


def _skills(card: Mapping[str, Any]) -> set[str]:
    return {str(skill.get("id")) for skill in card.get("skills") or []}
