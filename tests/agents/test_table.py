"""Answers as files: versioned, told apart, and safe to open."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from google.adk.artifacts import InMemoryArtifactService
from google.adk.runners import Runner
from google.genai import types

from agents.router import table
from agents.shared import services
from agents.shared.brief import Brief
from agents.shared.findings import Listing
from agents.shared.query import Query
from tests.agents.acting import begin
from tests.agents.conftest import Platform, Router, router
from tests.agents.test_measures import total


async def ask(asked: Router, files: Any, session: str, text: str) -> str:
    """The writer's answer, with an artifact service."""
    from agents.router.workflow import build

    runner = Runner(
        app=build("acme"),
        session_service=asked.sessions,
        memory_service=asked.memory,
        artifact_service=files,
    )
    answer = ""
    async for event in runner.run_async(
        user_id="maria", session_id=session, new_message=types.UserContent(text)
    ):
        if event.author == "writer" and event.content:
            answer = "".join(part.text or "" for part in event.content.parts or [])
    return answer


async def test_an_answer_is_saved_as_a_file_and_versions_are_kept(platform: Platform) -> None:
    asked, files = router(), InMemoryArtifactService()
    session = await begin(asked, "maria")
    first = await ask(asked, files, session, "Acme Pure spend by week as a CSV")
    assert first.endswith("Saved as media_spend_eur_by_week.csv, version 1.")
    second = await ask(asked, files, session, "Acme Bold spend by week as a csv file")
    assert second.endswith("version 2.")
    name = "media_spend_eur_by_week.csv"
    where = {"app_name": "acme", "user_id": "maria", "session_id": session, "filename": name}
    texts = []
    for version in (0, 1):
        part = await files.load_artifact(**where, version=version)
        assert part is not None
        assert part.inline_data is not None
        assert part.inline_data.data is not None
        texts.append(part.inline_data.data.decode())
    rows = list(csv.reader(io.StringIO(texts[0])))
    assert rows[0] == ["week", "media_spend_eur (EUR)"]
    assert rows[1] == [
        "2026-W27",
        str(total("spend", "spend_eur", brand="Acme Pure", week="2026-W27")),
    ]
    assert len(rows) == 14
    assert texts[0] != texts[1]
    # Only its name is in state.
    stored = await asked.sessions.get_session(app_name="acme", user_id="maria", session_id=session)
    assert stored is not None
    assert stored.state["file"] == name
    assert texts[0] not in await asked.stored()


async def test_a_short_question_makes_a_file_of_the_last_answer(platform: Platform) -> None:
    asked, files = router(), InMemoryArtifactService()
    session = await begin(asked, "maria")
    await ask(asked, files, session, "worst stock-outs in the Nordics")
    answer = await ask(asked, files, session, "as a CSV")
    assert answer.endswith("Saved as worst_stockouts.csv, version 1.")


async def test_storage_that_fails_is_no_reason_to_fail_the_answer(platform: Platform) -> None:
    class Full(InMemoryArtifactService):
        async def save_artifact(self, **_: Any) -> int:
            raise OSError("no space")

    asked = router()
    session = await begin(asked, "maria")
    answer = await ask(asked, Full(), session, "Acme Pure spend as a CSV")
    assert "€1,456,851" in answer
    assert "It could not be saved as a file." in answer


async def test_without_numbers_there_is_no_file(platform: Platform) -> None:
    asked, files = router(), InMemoryArtifactService()
    session = await begin(asked, "maria")
    answer = await ask(asked, files, session, "Acme Pure spend in week 50 as a CSV")
    assert "Saved" not in answer


def test_no_cell_is_a_formula() -> None:
    bad = Listing(
        agent="marketing", name="query_sql", label="Your query", columns=("=cmd", "n"),
        units=("text", ""), rows=(("=HYPERLINK(1)", 1), ("@SUM(A1)", -2), ("Acme", 3)),
        filters={}, sql="SELECT 1",
    )  # fmt: skip
    brief = Brief(query=Query(sql="SELECT 1"), listings=(bad,))
    rows = list(csv.reader(io.StringIO(table.table(brief))))
    assert rows == [["'=cmd", "n"], ["'=HYPERLINK(1)", "1"], ["'@SUM(A1)", "-2"], ["Acme", "3"]]
    assert table.name(brief) == "query.csv"


def test_the_bucket_is_the_environments(env: pytest.MonkeyPatch) -> None:
    assert isinstance(services.artifacts(), InMemoryArtifactService)
    env.setenv("SLIPWAY_ARTIFACTS_BUCKET", "acme-artifacts")
    env.setenv("SLIPWAY_STORAGE_ENDPOINT", "http://127.0.0.1:9")
    made = services.artifacts()
    assert made.bucket_name == "acme-artifacts"
    assert "storage_client" not in vars(made)
