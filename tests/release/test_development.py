"""A working tree that answers beside the deployed others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import httpx
import pytest

from infra.errors import InputError, RemoteError
from services import development
from tests.release.worlds import World, account, rest


@dataclass
class Developing:
    """`slipway dev supply` that runs; `said` are its lines."""

    world: World
    said: list[str] = field(default_factory=list)

    def greeting(self, word: str) -> None:
        """Saves another greeting."""
        (self.world.root / "agents/shared/inner/deep.py").write_text(f'GREETING = "{word}"\n')

    def answer(self) -> str:
        return str(self.world.query("supply", "hi")["output"])

    def until(self, condition: Callable[[], bool]) -> float:
        """Waits; the seconds it took."""
        started = time.monotonic()
        while not condition():
            assert time.monotonic() - started < 20, self.said
            time.sleep(0.05)
        return time.monotonic() - started


@pytest.fixture
def developing(world: World) -> Iterator[Developing]:
    world.deploy()
    made, stop = Developing(world), threading.Event()
    args = (world.root, world.site, "supply", made.said.append, stop)
    thread = threading.Thread(target=development.run, args=args)
    thread.start()
    made.until(lambda: bool(made.said))
    yield made
    stop.set()
    thread.join(20)
    assert made.answer() == "hello", "what is deployed answers again"


def test_a_save_is_served_and_the_others_stay(developing: Developing) -> None:
    assert developing.answer() == "hello"
    developing.greeting("hej")
    developing.until(lambda: developing.answer() == "hej")
    assert developing.world.query("router", "hi")["output"]["env"] == "vanilla"
    assert developing.said[-1] == "reloaded"


def test_what_does_not_start_leaves_the_last_one_that_worked(developing: Developing) -> None:
    developing.greeting("hej")
    developing.until(lambda: developing.answer() == "hej")
    (developing.world.root / "agents/shared/inner/deep.py").write_text("GREETING = \n")
    developing.until(lambda: developing.said[-1].startswith("not reloaded"))
    assert "SyntaxError" in developing.said[-1]
    assert developing.answer() == "hej"
    developing.greeting("hola")
    developing.until(lambda: developing.answer() == "hola")


def test_nothing_is_deployed_yet(world: World) -> None:
    with pytest.raises(RemoteError, match="no deployed source"):
        development.run(world.root, world.site, "supply", print, threading.Event())


def test_an_agent_that_is_not_there(world: World) -> None:
    with pytest.raises(InputError, match="there is no agent 'nobody'"):
        development.run(world.root, world.site, "nobody", print, threading.Event())


def test_only_the_operator_may(world: World) -> None:
    world.deploy()
    email = account("supply", world.descriptor.project)
    path = f"v1/projects/-/serviceAccounts/{email}:generateAccessToken"
    token = rest(world.target, "POST", path, {})["accessToken"]
    engine = world.descriptor.engines["supply"].name
    answer = httpx.put(
        f"{world.target.endpoints.agent_runtime}/_dev/{engine}",
        json={"tree": str(world.root)},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 403
