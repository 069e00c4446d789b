"""Planning supply anew: one approval, one run, as the person who approved."""

from __future__ import annotations

import re
import time
from types import SimpleNamespace
from typing import Any

import pytest

from agents.router import approval
from agents.shared import state
from agents.shared.approved import digest
from services.emulator import jobs
from tests.agents.acting import (
    ASKED,
    SAM,
    STARTED,
    Workspace,
    begin,
    decide,
    paused,
    question,
    said,
    turn,
)
from tests.agents.conftest import Platform, Router, router


async def test_nothing_runs_before_it_is_approved(sam: Router, workspace: Workspace) -> None:
    session = await begin(sam)
    words, _ = question(await turn(sam, session, "Please replan the Nordics"))
    assert words == ASKED
    assert workspace.runs == []


async def test_an_approval_starts_one_run_as_that_person(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    text = await decide(sam, session, invocation)
    found = re.match(STARTED, text)
    assert found
    [run] = workspace.runs
    assert (run["run_id"], run["creator_user_name"]) == (int(found[1]), "sam")
    assert run["job_parameters"] == [
        {"name": "regions", "value": "Nordics"},
        {"name": "brands", "value": ""},
    ]


async def test_an_action_writes_declared_keys_alone(sam: Router, workspace: Workspace) -> None:
    session = await begin(sam)
    events = await turn(sam, session, "Replan the Nordics")
    message = approval.answer(question(events)[1], "approve")
    events += await turn(sam, session, message, invocation=question(events)[1])
    written = {key for event in events for key in event.actions.state_delta}
    assert {state.PENDING.name, state.LAST_RUN.name} <= written
    assert written <= {key.name for key in state.KEYS}
    assert SAM not in await sam.stored()


async def test_a_rejection_starts_nothing(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    assert await decide(sam, session, invocation, "reject") == "Nothing was started."
    assert workspace.runs == []


@pytest.mark.parametrize("decision", ["", "yes", "APPROVE", "maybe"])
async def test_only_a_clear_approval_is_one(
    sam: Router, workspace: Workspace, decision: str
) -> None:
    session, invocation = await paused(sam)
    assert "Nothing was started" in await decide(sam, session, invocation, decision)
    assert workspace.runs == []


async def test_a_second_approval_starts_nothing(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    await decide(sam, session, invocation)
    message = approval.answer(invocation, "approve")
    await turn(sam, session, message, invocation=invocation)
    assert len(workspace.runs) == 1
    assert not await approval.waits(sam.sessions, "acme", "sam", session, invocation)


async def test_a_lost_answer_starts_one_run(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    workspace.fail = 2
    assert re.match(STARTED, await decide(sam, session, invocation))
    assert len(workspace.runs) == 1
    assert len(workspace.headers) == 3


async def test_a_late_approval_starts_nothing(
    sam: Router, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, invocation = await paused(sam)
    later = time.time() + approval.LIFETIME_SECONDS + 1
    monkeypatch.setattr(approval, "time", SimpleNamespace(time=lambda: later))
    assert "too late" in await decide(sam, session, invocation)
    assert workspace.runs == []


async def test_nobody_else_can_decide(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    assert not await approval.waits(sam.sessions, "acme", "maria", session, invocation)
    assert not await approval.waits(sam.sessions, "acme", "sam", session, "another turn")
    assert not await approval.waits(sam.sessions, "acme", "sam", "another session", invocation)
    assert await approval.waits(sam.sessions, "acme", "sam", session, invocation)


@pytest.mark.parametrize(
    ("token", "words"),
    [("", "your own Databricks sign-in"), ("expired", "does not let you")],
)
async def test_the_token_comes_fresh_with_the_approval(
    sam: Router, workspace: Workspace, token: str, words: str
) -> None:
    session, invocation = await paused(sam)
    assert words in await decide(sam, session, invocation, token=token)
    assert workspace.runs == []


async def test_another_question_may_come_in_between(sam: Router, workspace: Workspace) -> None:
    session, invocation = await paused(sam)
    assert "Acme Bold stock" in said(await turn(sam, session, "How much Acme Bold is in stock?"))
    assert re.match(STARTED, await decide(sam, session, invocation))


async def test_later_somebody_asks_whether_it_is_done(
    sam: Router, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "not had supply planned" in said(await turn(sam, await begin(sam), "is it done?"))
    await decide(sam, *await paused(sam, "replan Acme Bold in the Nordics"))
    elsewhere = await begin(sam)
    text = said(await turn(sam, elsewhere, "Is the replan done?"))
    assert re.search(
        r"in the Nordics for Acme Bold \(run \d+\) is not done; its state is running", text
    )
    monkeypatch.setattr(jobs, "RUN_SECONDS", 0.0)
    assert "ended with success" in said(await turn(sam, elsewhere, "is it done?"))
    maria = await begin(sam, "maria")
    assert "not had supply planned" in said(await turn(sam, maria, "is it done?", user="maria"))


async def test_memory_names_no_region_for_a_write(sam: Router, workspace: Workspace) -> None:
    text = said(await turn(sam, await begin(sam), "Replan Acme Bold"))
    assert text.startswith("For which region")
    assert "Western Europe, Southern Europe, Nordics and North America" in text


async def test_all_regions_can_be_meant(sam: Router, workspace: Workspace) -> None:
    session = await begin(sam)
    words, _ = question(await turn(sam, session, "replan all regions"))
    assert "Western Europe, Southern Europe, the Nordics and North America" in words


async def test_supply_itself_refuses_what_nobody_approved() -> None:
    from agents.supply.jobs import Jobs
    from agents.supply.replan import Replan

    tool = Replan(Jobs("http://127.0.0.1:9", 1)).replan
    approved = digest("turn", "replan", {"regions": ["Nordics"], "brands": []})
    for values, regions in (
        ({}, ["Nordics"]),
        ({state.APPROVED.name: approved}, ["North America"]),
    ):
        context: Any = SimpleNamespace(state=values)
        found = await tool(regions, [], "turn", context)
        assert found["failure"] == "nobody has approved this"
        assert found["run"] is None


async def test_where_no_job_is_named_it_says_so(platform: Platform) -> None:
    asked = router()
    session, invocation = await paused(asked)
    assert "not set up here" in await decide(asked, session, invocation)


def test_what_is_approved_does_not_depend_on_the_order() -> None:
    one = digest("turn", "replan", {"regions": ["a", "b"], "brands": []})
    assert one == digest("turn", "replan", {"brands": [], "regions": ("b", "a", "a")})
    assert one != digest("turn 2", "replan", {"regions": ["a", "b"], "brands": []})
    assert len(one) == jobs.MOST_TOKEN
