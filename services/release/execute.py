"""Carries out a plan: one PATCH for each engine that differs, side by side, each read back.

The operation's name is on record before it is waited for. An engine that failed does not stop the
others: each is whole, in its old or its new state, when this returns or raises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from infra.errors import RemoteError
from services.release.journal import Journal
from services.release.parallel import side_by_side
from services.release.plan import AgentPlan, Plan, compare
from services.release.transport import Transport

AT_ONCE = 8
"""Engines that are updated side by side."""
DEADLINE_SECONDS = 1800.0
"""How long an update may take; the cloud builds an image from the source."""
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0

Say = Callable[[str], None]


def execute(transport: Transport, plan: Plan, journal: Journal, say: Say) -> None:
    """Updates every engine that differs, waits until it serves, and compares it with what was sent.

    Raises:
        RemoteError: at least one engine failed; all that failed are named.
    """
    calls = {
        agent.agent: partial(_update, transport, agent, journal, say) for agent in plan.changed
    }
    results = side_by_side(calls, at_most=AT_ONCE)
    failures = {name: result for name, result in results.items() if isinstance(result, Exception)}
    if not failures:
        return
    unforeseen = [error for error in failures.values() if not isinstance(error, RemoteError)]
    if unforeseen or len(failures) == 1:
        raise next(iter(unforeseen or failures.values()))
    told = [f"{e.where}: {e.what}" for e in failures.values() if isinstance(e, RemoteError)]
    raise RemoteError(
        "\n".join([f"{len(failures)} of {len(calls)} updates failed", *told]),
        where=plan.environment,
        fix="correct what is named above, then run the same command again; "
        "an engine that failed serves what it served before",
    )


def wait(
    transport: Transport, operation: Mapping[str, Any], deadline: float = DEADLINE_SECONDS
) -> dict[str, Any]:
    """The operation once it is done; asks soon at first, then every few seconds.

    Raises:
        RemoteError: it is not done after `deadline` seconds.
    """
    end = time.monotonic() + deadline
    pause = FIRST_PAUSE_SECONDS
    current = dict(operation)
    while not current.get("done"):
        asked = time.monotonic()
        current = transport.operation(str(operation["name"]))
        if current.get("done"):
            break
        if time.monotonic() > end:
            raise RemoteError(
                f"the operation is not done after {deadline:.0f} s; it goes on",
                where=str(operation["name"]),
                fix="run the same command again: it waits for it, then goes on from there",
            )
        # A server that held the answer has made us wait already.
        time.sleep(max(0.0, pause - (time.monotonic() - asked)))
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
    return current


def _update(transport: Transport, agent: AgentPlan, journal: Journal, say: Say) -> None:
    started = time.monotonic()
    say(f"{agent.agent}: updating")
    try:
        operation = transport.patch_spec(agent.engine, agent.spec, agent.bundle.archive)
        journal.note(agent.agent, operation=str(operation["name"]))
        done = wait(transport, operation)
        if error := done.get("error"):
            raise _refused(agent, error)
        _confirm(transport, agent)
    except RemoteError as error:
        journal.note(agent.agent, error=error.what, seconds=round(time.monotonic() - started, 3))
        say(f"{agent.agent}: failed")
        raise
    seconds = time.monotonic() - started
    journal.note(agent.agent, seconds=round(seconds, 3))
    say(f"{agent.agent}: serving after {seconds:.1f} s")


def _refused(agent: AgentPlan, error: Mapping[str, Any]) -> RemoteError:
    """The operation's own words, which end with the log's last lines."""
    return RemoteError(
        f"the update of {agent.agent} failed (code {error.get('code')}): {error.get('message')}",
        where=agent.engine,
        fix=f"correct agents/{agent.agent}, then run the same command again; "
        "the engine serves what it served before",
    )


def _confirm(transport: Transport, agent: AgentPlan) -> None:
    """Reads the engine back: an update that left a field behind is a failure."""
    live = transport.engine(agent.engine)
    left = compare(live.get("spec") or {}, agent.spec)
    if left:
        named = "; ".join(f"{c.field} is {c.live!r}, not {c.wanted!r}" for c in left[:4])
        raise RemoteError(
            f"the update of {agent.agent} succeeded, but the engine differs from what was sent: "
            f"{named}",
            where=agent.engine,
            fix="run the same command again; if it stays, another tool writes this engine",
        )
