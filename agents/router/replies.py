"""What of a specialist's reply answers its share of the query, and what is missing."""

from __future__ import annotations

import logging

from agents.shared.findings import Reply
from agents.shared.query import Query, listed
from agents.shared.semantic import catalog

LOG = logging.getLogger("agents.router")


def checked(owner: str, query: Query, answer: object) -> tuple[Reply, str]:
    """The reply without what the query does not ask for, and a sentence for what it lacks.

    Args:
        query: what `owner` was asked.
        answer: the text that it answered with, or whatever came instead.
    """
    reply = Reply.parse(answer)
    if reply is None:
        LOG.warning("%s gave no reply: %.500s", owner, answer)
        return Reply(), f"The {owner} agent could not be asked, so {_wanted(query)} is missing"
    kept = Reply(
        findings=tuple(item for item in reply.findings if item.answers(query)),
        listings=tuple(item for item in reply.listings if item.answers(query)),
        notes=reply.notes if query.explain else (),
    )
    if query.sql and not kept.listings:
        why = reply.failure or reply.problem or "it found nothing that answers it"
        return kept, f"Your query was not run: {why.rstrip('.')}"
    if query.explain and not kept.notes:
        return kept, f"The {owner} agent has no definition of {_wanted(query)}"
    have = {item.measure for item in kept.findings} | {item.name for item in kept.listings}
    lacking = query.model_copy(
        update={
            "measures": tuple(key for key in query.measures if key not in have),
            "lists": tuple(key for key in query.lists if key not in have),
        }
    )
    if query.sql or query.explain or not (lacking.measures or lacking.lists):
        return kept, ""
    why = f"says: {reply.failure}" if reply.failure else "found nothing that answers the question"
    return kept, f"The {owner} agent {why}, so {_wanted(lacking)} is missing"


def _wanted(query: Query) -> str:
    names = catalog()
    labels = [names.measures[key].label for key in query.measures]
    labels += [names.lists[key].label for key in query.lists]
    return listed([label.lower() for label in labels]) or "the answer"
