"""What is known of a deployed revision, and how: declared, self-reported or unreadable.

*Declared* is what the API gives back of what was sent. *Self-reported* is what the agent's own
process finds. *Unreadable* is what nobody can tell: the API never gives a source back. A mismatch
is a failure; what cannot be decided is no pass, and is said.
"""

from __future__ import annotations

from infra.errors import RemoteError
from services.release.journal import FactRecord
from services.release.plan import AgentPlan
from services.release.transport import Transport

METHOD = "self_report"
"""The class method by which an agent says what it runs from (agents/shared/self_report.py)."""


def facts(transport: Transport, agent: AgentPlan, revision: str) -> list[FactRecord]:
    """What the new revision says of itself, asked before it serves anybody.

    Raises:
        RemoteError: it cannot be asked.
    """
    declared = FactRecord(what="spec", grade="declared", ok=True)
    methods = {str(method.get("name")) for method in agent.spec["class_methods"]}
    if METHOD not in methods:
        unknown = FactRecord(what="files", grade="unreadable", ok=None, found="no self_report")
        return [declared, unknown]
    question = agent.smoke or ""
    said = transport.query(revision, METHOD, {"question": question})
    tree = str(said.get("tree")) if isinstance(said, dict) else None
    found = [
        declared,
        FactRecord(
            what="files",
            grade="self-reported" if agent.bundle.tree else "unreadable",
            ok=tree == agent.bundle.tree if agent.bundle.tree else None,
            found=tree,
        ),
    ]
    if question:
        answer = str(said.get("answer") or "") if isinstance(said, dict) else ""
        # Not the answer itself: it is the agent's data, and has no place in a record.
        told = f"{len(answer)} characters"
        found.append(FactRecord(what="smoke", grade="self-reported", ok=bool(answer), found=told))
    return found


def require(agent: AgentPlan, found: list[FactRecord]) -> None:
    """Raises RemoteError when a fact is not as it should be."""
    for fact in found:
        if fact.ok is False:
            told = {
                "files": f"runs from other files than its bundle ({fact.found})",
                "smoke": f"gave no answer to {agent.smoke!r}",
            }
            raise RemoteError(
                f"{agent.agent} {told.get(fact.what, fact.what)}",
                where=agent.engine,
                fix="look at its log (slipway logs), correct it, then run the same command again",
            )
