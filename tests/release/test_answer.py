"""What is taken out of an ADK event stream."""

from __future__ import annotations

from typing import Any

import pytest

from infra.errors import RemoteError
from services.conversation import read_answer

Event = dict[str, Any]


def said(author: str, *texts: str, **more: Any) -> Event:
    return {"author": author, "content": {"parts": [{"text": text} for text in texts]}, **more}


def found(*values: int) -> Event:
    findings = [{"agent": "marketing", "value": value} for value in values]
    return {"author": "route", "actions": {"state_delta": {"findings": findings}}}


FINAL = said("writer", "the ", "answer")


@pytest.mark.parametrize(
    ("events", "text", "values"),
    [
        ([FINAL], "the answer", []),
        ([said("writer", "draft"), FINAL], "the answer", []),
        ([FINAL, said("writer", "the", partial=True)], "the answer", []),
        ([FINAL, said("audit", "done")], "the answer", []),
        ([said("assistant", "plain")], "plain", []),
        ([FINAL, {"author": "writer", "content": None}], "the answer", []),
        ([FINAL, {"author": "writer", "actions": {}}], "the answer", []),
        ([found(7), FINAL], "the answer", [7]),
        ([found(7), found(8, 9), FINAL], "the answer", [8, 9]),
        ([found(7), found(), FINAL], "the answer", []),
    ],
)
def test_the_last_whole_text_of_the_writer_is_the_answer(
    events: list[Event], text: str, values: list[int]
) -> None:
    answer = read_answer(events, "s1", "engine")
    assert (answer.text, answer.session) == (text, "s1")
    assert [finding["value"] for finding in answer.findings] == values


def test_a_thought_is_no_answer() -> None:
    event = said("writer", "answer")
    event["content"]["parts"].insert(0, {"text": "let me see", "thought": True})
    assert read_answer([event], "s", "e").text == "answer"


@pytest.mark.parametrize(
    ("events", "what"),
    [
        ([], "without an answer"),
        ([said("writer", "half", partial=True)], "without an answer"),
        ([{"author": "writer", "error_message": "no model"}], "the agent failed: no model"),
    ],
)
def test_no_answer_is_an_error(events: list[Event], what: str) -> None:
    with pytest.raises(RemoteError, match=what) as caught:
        read_answer(events, "s", "projects/p/…")
    assert caught.value.fix
