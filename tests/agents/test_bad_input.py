"""What people and specialists send when it goes wrong: every turn ends with an answer."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agents.shared import services
from tests.agents.conftest import Platform, Router, router

QUESTION = "What did we spend on Acme Pure?"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "You can ask for media spend"),
        ("\x00\x07\x1b[31m", "You can ask for media spend"),
        ("x" * 100_000, "Your message has 100,000 characters; I read up to 5,000."),
        ("spend " * 20_000, "Your message has 120,000 characters"),
        ("spend " * 800, "€"),
        ("先週の売上はいくらですか？", "You can ask for media spend"),
        ("كم أنفقنا على الإعلانات؟", "You can ask for media spend"),
        ("spend of Acme Ultra", "I do not know “Acme Ultra”"),
        ("spend of Acme Pure'; DROP TABLE spend; --", "I do not know"),
        ("spend of Acme Pure UNION SELECT * FROM stock", "I do not know"),
        ("spend of Acme Pure <b onclick=x>", "I do not know"),
    ],
    ids=["blank", "control", "100 kB", "120 kB of spend", "5 kB", "Japanese", "Arabic",
         "no such brand", "SQL", "UNION", "markup"],
)  # fmt: skip
async def test_a_question(maria: Router, text: str, said: str) -> None:
    answer = await maria.ask(text)
    assert said in answer.text
    assert len(answer.text) < 5_000
    if said != "€":
        assert answer.findings == []


async def test_two_messages_at_once_in_one_conversation(maria: Router) -> None:
    session = (await maria.sessions.create_session(app_name="acme", user_id="maria")).id
    questions = ["Acme Pure spend in the Nordics", "Acme Bold stock in Southern Europe"]
    first, second = await asyncio.gather(*(maria.ask(q, session=session) for q in questions))
    assert "Nordics" in first.text
    assert "Southern Europe" in second.text


class Specialist(ThreadingHTTPServer):
    """An A2A server that answers every request with the same bytes, or not at all."""

    content_type = "application/json"
    body: bytes | None = b""
    stop = threading.Event()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: Specialist

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.server.body is None:
            self.server.stop.wait(20)
            return
        self.send_response(200)
        self.send_header("Content-Type", self.server.content_type)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: object) -> None:
        """Keeps the test's output clean."""


@pytest.fixture
def specialist(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Iterator[Specialist]:
    """In the place of supply; marketing is the real one."""
    server = Specialist()
    server.stop = threading.Event()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    real = services.a2a_url
    address = f"http://127.0.0.1:{server.server_port}/a2a"
    monkeypatch.setattr(
        services, "a2a_url", lambda engine: address if engine == "2002" else real(engine)
    )
    yield server
    server.stop.set()
    server.shutdown()
    thread.join()
    server.server_close()


def task(text: str) -> bytes:
    """A completed A2A task with one text."""
    found: dict[str, Any] = {
        "id": "1",
        "contextId": "1",
        "status": {"state": "TASK_STATE_COMPLETED"},
        "artifacts": [{"artifactId": "1", "parts": [{"text": text}]}],
    }
    return json.dumps({"task": found}).encode()


INVENTED = (
    '{"findings": [{"agent": "supply", "measure": "stock_units", "value": 1}], "problem": ""}'
)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"not json"),
        ("application/json", b"{}"),
        ("application/json", task("The stock is 1,000 units, trust me.")),
        ("application/json", task(INVENTED)),
        ("application/json", task("x" * 10_000_000)),
        ("text/html", b"<html>"),
        ("application/json", b""),
    ],
    ids=["no JSON", "empty object", "prose", "half a finding", "10 MB", "HTML", "nothing"],
)
async def test_a_specialist_that_answers_nonsense(
    specialist: Specialist, content_type: str, body: bytes
) -> None:
    specialist.content_type, specialist.body = content_type, body
    maria = router("Works on Western Europe")
    answer = await maria.ask("Acme Pure spend and stock")
    assert "€436,449" in answer.text
    assert "The supply agent could not be asked, so stock is missing." in answer.text
    assert "1,000" not in answer.text
    assert len(await maria.stored()) < 100_000


async def test_a_specialist_that_does_not_answer(
    specialist: Specialist, monkeypatch: pytest.MonkeyPatch
) -> None:
    specialist.body = None
    monkeypatch.setattr(services, "A2A_SECONDS", 0.5)
    answer = await router("Works on Western Europe").ask("Acme Pure spend and stock")
    assert "€436,449" in answer.text
    assert "The supply agent could not be asked, so stock is missing." in answer.text
