"""The same agents with a Gemini model, which is played over HTTP by a server of the test's.

It behaves as badly as a model may: what it says must not become a number or another region.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.conftest import Platform, router

GEMINI = {"SLIPWAY_MODEL": "gemini-2.5-flash"}


def text(content: str) -> dict[str, Any]:
    return {"parts": [{"text": content}]}


def call(**arguments: Any) -> dict[str, Any]:
    function = {"name": "query_measures", "args": arguments}
    return {"parts": [{"text": "It was €1!"}, {"functionCall": function}]}


class Model:
    """Answers by step, and keeps what it was asked."""

    def __init__(self, reading: str, tool: dict[str, Any], answer: str) -> None:
        self.reading, self.tool, self.answer = reading, tool, answer
        self.asked: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(body)
        instruction = json.dumps(body["systemInstruction"])
        if "one JSON object" in instruction:
            return text(self.reading)
        return self.tool if "tools" in body else text(self.answer)


def reading(**fields: Any) -> str:
    return json.dumps({"intent": "answer", "measures": ["media_spend_eur"], **fields})


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_a_model_asks_and_writes(platform: Platform) -> None:
    model = Model(
        f"```json\n{reading(brands=['Acme Pure'], regions=['Western Europe'])}\n```",
        call(measures=["media_spend_eur"], brands=["Acme Pure"], regions=["Western Europe"]),
        "It is €436,449.",
    )
    platform.gemini = model
    answer = await router("Works on Western Europe").ask("How much for Acme Pure spend?")
    assert answer.text == "It is €436,449."
    assert answer.findings[0]["value"] == 436449
    extract, specialist, writer = model.asked
    assert "Works on Western Europe" in json.dumps(extract["contents"])
    assert "Works on Western Europe" not in json.dumps(specialist["contents"])
    assert "436449" in json.dumps(writer["contents"])
    declared = specialist["tools"][0]["functionDeclarations"][0]
    assert declared["name"] == "query_measures"


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_a_model_cannot_change_the_region(platform: Platform) -> None:
    model = Model(
        reading(regions=["Western Europe"]),
        call(measures=["media_spend_eur"], regions=["Southern Europe"]),
        "as found",
    )
    platform.gemini = model
    answer = await router("Works on Western Europe").ask("Spend in Southern Europe?")
    assert answer.findings[0]["filters"]["region"] == ["Southern Europe"]


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_an_answer_to_another_question_is_no_answer(platform: Platform) -> None:
    model = Model(
        reading(regions=["Nordics"]), call(measures=["media_spend_eur"]), "nothing was found"
    )
    platform.gemini = model
    answer = await router().ask("Spend in the Nordics?")
    assert answer.findings == []
    assert "found nothing that answers" in json.dumps(model.asked[-1]["contents"])


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_prose_instead_of_a_call_gives_no_finding(platform: Platform) -> None:
    platform.gemini = Model(reading(), text("It was €1,000,000."), "nothing was found")
    answer = await router().ask("What did we spend?")
    assert answer.findings == []


@pytest.mark.parametrize("platform", [GEMINI], indirect=True)
async def test_no_json_is_no_question(platform: Platform) -> None:
    platform.gemini = Model("I would rather talk.", text(""), "")
    answer = await router().ask("hello")
    assert "You can ask for media spend" in answer.text
