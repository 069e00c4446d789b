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
        told = f"The {owner} agent could not be asked"
        if query.replan:
            # It may have acted before it fell silent; the same approval starts nothing twice.
            return (
                Reply(),
                f"{told}, so whether the planning started is not known. Ask “is it done?”",
            )
        return Reply(), f"{told}, so {_wanted(query)} is missing"
    kept = Reply(
        findings=tuple(item for item in reply.findings if item.answers(query)),
        listings=tuple(item for item in reply.listings if item.answers(query)),
        notes=reply.notes if query.explain else (),
        run=reply.run if _is_the_run(reply, query) else None,
    )
    if query.replan or query.run_id:
        what = "Nothing was started" if query.replan else "How it goes is not known"
        why = reply.failure or "the supply agent did not say why"
        return kept, "" if kept.run else f"{what}: {why.rstrip('.')}"
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


def _is_the_run(reply: Reply, query: Query) -> bool:
    if reply.run is None:
        return False
    if query.run_id:
        return reply.run.run_id == query.run_id
    same = set(reply.run.regions) == set(query.regions)
    return query.replan and same and set(reply.run.brands) == set(query.brands)


def _wanted(query: Query) -> str:
    names = catalog()
    labels = [names.measures[key].label for key in query.measures]
    labels += [names.lists[key].label for key in query.lists]
    return listed([label.lower() for label in labels]) or "the answer"
