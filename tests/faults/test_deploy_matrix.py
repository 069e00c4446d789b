"""Every remote call of a deployment, met by every fault: the new release whole, or the old one.

One environment serves `vanilla`/`hello` or `cherry`/`hallo`; each case deploys the other one with
one call spoilt. What serves afterwards is one of the two, whole; a plain run then ends with the new
one, the journal closed, traffic at the latest revision and no lease left. By default every call is
met by some faults, and every fault by some call; all of them: `scripts/test -m matrix`.
"""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.errors import RemoteError, SlipwayError
from services.release import lease, recovery
from services.release.live import live_release
from services.release.transport import Transport
from tests.faults.deployer import DIED
from tests.release.checkouts import write_checkout
from tests.release.killing import told
from tests.release.test_deploy import edit
from tests.release.worlds import World, api, make

pytestmark = [pytest.mark.xdist_group("deploy-matrix")]

ENGINE = r"/v1beta1/projects/[^/]+/locations/[^/]+/reasoningEngines/[0-9]+"
# Every kind of call that a deployment makes: its name, its method, what its address holds.
CALLS = {
    "read an engine": ("GET", ENGINE + r"(\?|$)"),
    "list versions of a secret": ("GET", r"/secrets/[^/]+/versions"),
    "list the journal": ("GET", r"-control/o\?"),
    "read the journal": ("GET", r"-control/o/deployments"),
    "take the lease": ("POST", r"upload/storage/v1/b/[^/]+-control/"),
    "store a bundle or release": ("POST", r"upload/storage/v1/b/[^/]+-releases/"),
    "pin or move traffic": ("PATCH", r"updateMask=trafficConfig"),
    "update an engine": ("PATCH", r"updateMask=spec"),
    "wait for an operation": ("GET", r"/operations/"),
    "list revisions": ("GET", r"/runtimeRevisions"),
    "ask a revision": ("POST", r"/runtimeRevisions/[0-9]+:query"),
    "give the lease back": ("DELETE", r"-control/o/lease"),
}
FAULTS: dict[str, dict[str, Any]] = {
    "401": {"status": 401},
    "403": {"status": 403},
    "404": {"status": 404},
    "409": {"status": 409},
    "429": {"status": 429, "retryAfter": 1},
    "500": {"status": 500},
    "503": {"status": 503},
    "reset before": {"reset": "before"},
    "reset after": {"reset": "after"},
    "slow": {"delay": 0.5},
    "operation fails": {"operation": "fails"},
    "stale": {"stale": True},
}
KILLS = ("before", "after")
OFTEN = ("503", "reset after")
"""What every call is met by in the short run; the update of an engine is met by everything."""


def cases() -> Iterator[Any]:
    for call, (method, _) in CALLS.items():
        for fault in [*FAULTS, *(f"killed {when}" for when in KILLS)]:
            if fault == "stale" and method != "GET":
                continue
            if fault == "operation fails" and method != "PATCH":
                continue
            short = fault in OFTEN or fault.startswith("killed") or call == "update an engine"
            marks = () if short else (pytest.mark.matrix,)
            yield pytest.param(call, fault, marks=marks, id=f"{call}-{fault}")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, cache: Path, platform: str) -> World:
    """An environment that serves `vanilla` and `hello`."""
    root = write_checkout(tmp_path_factory.mktemp("matrix") / "checkout")
    text = (root / "agents/supply/agent.py").read_text()
    report = "    async def self_report(self, question: str = '') -> dict:\n"
    report += "        from agents.shared.words import tree\n        return {'tree': tree()}\n"
    (root / "agents/supply/agent.py").write_text(
        text.replace("class Supply:\n", "class Supply:\n" + report).replace(
            "app = Supply()",
            "Supply.register_operations = lambda self: "
            "{'': ['query'], 'async': ['self_report']}\napp = Supply()",
        )
    )
    own = (Path(__file__).parents[2] / "agents/shared/self_report.py").read_text()
    (root / "agents/shared/report.py").write_text(own)
    words = (root / "agents/shared/words.py").read_text()
    (root / "agents/shared/words.py").write_text(
        words + "\nfrom agents.shared.report import tree  # noqa: E402, F401\n"
    )
    made = make(root, cache, platform, f"acme-{uuid.uuid4().hex[:12]}")
    made.deploy()
    return made


def turn(world: World) -> tuple[str, str]:
    """Changes the checkout to the other release; returns what that one answers."""
    now = "vanilla" in (world.root / "agents/router/agent.toml").read_text()
    flavours, greetings = ("vanilla", "cherry"), ("hello", "hallo")
    old, new = (0, 1) if now else (1, 0)
    edit(world.root, "agents/router/agent.toml", flavours[old], flavours[new])
    edit(world.root, "agents/shared/inner/deep.py", greetings[old], greetings[new])
    return flavours[new], greetings[new]


def served(world: World) -> tuple[str, str]:
    router = world.query("router", "hi")["output"]["env"]
    return router, world.query("supply", "hi")["output"]


def order(world: World, body: dict[str, Any]) -> None:
    url = f"{world.target.endpoints.agent_runtime}/_faults"
    httpx.post(url, json=body).raise_for_status()


def fired(world: World) -> int:
    """How often the order fired; it is forgotten."""
    url = f"{world.target.endpoints.agent_runtime}/_faults"
    [found] = httpx.get(url).json()["faults"]
    httpx.delete(url)
    return int(found["fired"])


def attempt(world: World) -> SlipwayError | None:
    """Deploys; the error that it ended with, if any."""
    try:
        world.deploy()
    except SlipwayError as error:
        return error
    return None


def killed(world: World, call: str, when: str) -> None:
    """Deploys in a process that dies at the call."""
    command = [sys.executable, "-m", "tests.faults.deployer", told(world), *CALLS[call], when]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == DIED, done.stderr[-2000:]


@pytest.mark.parametrize(("call", "fault"), list(cases()))
def test_one_of_two_ends(world: World, call: str, fault: str) -> None:
    old, new = served(world), turn(world)
    if fault.startswith("killed"):
        killed(world, call, fault.removeprefix("killed "))
    else:
        method, path = CALLS[call]
        where = path.partition("updateMask")[0] or "reasoningEngines"
        body = FAULTS[fault] | {"method": method, "path": _in_path(call, where)}
        order(world, body)
        error = attempt(world)
        count = fired(world)
        assert error is None or error.fix, "an error says what to do"
        assert served(world) in (old, new)
        assert count == 1, "the fault did not fire"
    world.deploy()
    assert served(world) == new
    assert recovery.unfinished(world.site) is None
    assert world.bucket("control").read(lease.PATH) is None
    live = live_release(world.target, world.descriptor)
    assert {agent.traffic for agent in live.agents.values()} == {"latest"}
    assert live.release is not None


def land(world: World) -> None:
    """Waits until nothing is at work on an engine."""
    for engine in world.descriptor.engines.values():
        for operation in api(world.target, "GET", f"{engine.name}/operations")["operations"]:
            api(world.target, "GET", operation["name"])


SLOW_BUILD = {"method": "PATCH", "path": ENGINE + "$", "build": 5.0, "times": 9}


def test_an_update_that_was_sent_and_never_noted_is_waited_for(world: World) -> None:
    """Else it would land between the next run's reading and its own update."""
    turn(world)
    order(world, SLOW_BUILD)
    killed(world, "update an engine", "after")
    fired(world)
    new = turn(world)  # so that what lands is not what the next run wants
    world.deploy()
    land(world)
    assert served(world) == new


def test_an_update_whose_answer_was_lost_is_waited_for_before_going_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would land after everything had gone back."""
    old, send = served(world), Transport.patch_spec
    supply = world.descriptor.engines["supply"].name
    lost: list[object] = []

    def losing(self: Transport, *sent: Any) -> dict[str, Any]:
        answer = send(self, *sent)
        if sent[0] == supply and not lost:
            lost.append(answer)
            raise RemoteError("the answer was lost", where=sent[0], fix="try again")
        return answer

    monkeypatch.setattr(Transport, "patch_spec", losing)
    turn(world)
    order(world, SLOW_BUILD | {"path": supply + "$"})
    assert isinstance(attempt(world), RemoteError)
    land(world)
    assert served(world) == old
    httpx.delete(f"{world.target.endpoints.agent_runtime}/_faults")
    turn(world)
    world.deploy()
    assert served(world) == old


def _in_path(call: str, pattern: str) -> str:
    """The platform sees a path without its query."""
    special = {
        "read an engine": ENGINE + "$",
        "list the journal": r"-control/o$",
        "pin or move traffic": ENGINE + "$",
        "update an engine": ENGINE + "$",
    }
    return special.get(call, pattern)
