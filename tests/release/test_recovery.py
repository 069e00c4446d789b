"""All or nothing: what a failure, a kill or an abort leaves behind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from infra.errors import InputError, RemoteError
from services.release import journal, lease, recovery, splitting, traffic, waiting
from services.release.deploy import Wanted, deploy
from services.release.live import live_release
from services.release.packaging import package_all
from services.release.secrets import Vault
from tests.release.killing import kill_at_operation
from tests.release.test_deploy import FAILING, edit
from tests.release.worlds import SECRET, World, api

SLOW = "    def set_up(self) -> None:\n        import time; time.sleep(1.5)\n"


def second(world: World, *, supply: str | None = None) -> None:
    """Changes both agents, so that the next deployment is of both."""
    edit(world.root, "agents/router/agent.toml", '"vanilla"', '"cherry"')
    edit(world.root, "agents/shared/inner/deep.py", "hello", "hallo")
    if supply is not None:
        (world.root / "agents/supply/agent.py").write_text(supply)


def served(world: World) -> dict[str, Any]:
    """What both agents answer, which release each has, and where traffic goes."""
    live = live_release(world.target, world.descriptor)
    return {
        "router": world.query("router", "hi")["output"]["env"],
        "supply": world.query("supply", "hi")["output"],
        "releases": {agent.release for agent in live.agents.values()},
        "traffic": {agent.traffic for agent in live.agents.values()},
    }


def test_one_that_fails_takes_the_others_back(world: World) -> None:
    world.deploy()
    before = served(world)
    second(world, supply=FAILING)
    said: list[str] = []
    with pytest.raises(RemoteError, match="the stock list is locked"):
        world.deploy(said)
    assert served(world) == before
    assert "router: serves again what it served before" in said
    document = world.document(2)
    assert document["status"] == "failed"
    assert document["agents"]["router"]["restored"]
    assert world.bucket("control").read(lease.PATH) is None


def test_with_keep_going_the_others_go_on(world: World) -> None:
    world.deploy()
    second(world, supply=FAILING)
    with pytest.raises(RemoteError, match="the stock list is locked"):
        world.deploy(keep_going=True)
    assert world.query("router", "hi")["output"]["env"] == "cherry"
    assert world.query("supply", "hi")["output"] == "hello"


def test_traffic_moves_only_when_every_agent_is_verified(world: World) -> None:
    world.deploy()
    second(world)
    world.deploy()
    found = served(world)
    assert (found["router"], found["supply"], found["traffic"]) == ("cherry", "hallo", {"latest"})
    assert len(found["releases"]) == 1


@pytest.fixture
def killed(world: World) -> World:
    """A second deployment that was killed while supply's update was under way."""
    world.deploy()
    text = (world.root / "agents/supply/agent.py").read_text()
    second(world, supply=text.replace("class Supply:\n", "class Supply:\n" + SLOW))
    kill_at_operation(world, 2, "supply")
    return world


def test_while_it_is_unfinished_the_old_release_serves(killed: World) -> None:
    assert killed.query("supply", "hi")["output"] == "hello"
    assert killed.query("router", "hi")["output"]["env"] == "vanilla"
    found = recovery.unfinished(killed.site)
    assert found is not None
    assert found.deployment.number == 2


def test_resume_finishes_it_without_sending_again_what_landed(killed: World) -> None:
    before = len(killed.site.transport.revisions(killed.descriptor.engines["supply"].name))
    done = recovery.resume(killed.site, lambda line: None)
    assert (done.number, done.status) == (2, "succeeded")
    found = served(killed)
    assert (found["router"], found["supply"], found["traffic"]) == ("cherry", "hallo", {"latest"})
    after = killed.site.transport.revisions(killed.descriptor.engines["supply"].name)
    assert len(after) <= before + 1
    assert killed.deploy().number is None, "nothing is left to do"
    assert killed.bucket("control").read(lease.PATH) is None


def test_abort_brings_back_what_served_before(killed: World) -> None:
    done = recovery.abort(killed.site, lambda line: None)
    assert (done.number, done.status) == (2, "aborted")
    found = served(killed)
    assert (found["router"], found["supply"], found["traffic"]) == ("vanilla", "hello", {"latest"})
    assert len(found["releases"]) == 1


def test_a_failure_after_a_kill_goes_back_to_what_served_before_both(killed: World) -> None:
    (killed.root / "agents/supply/agent.py").write_text(FAILING)
    with pytest.raises(RemoteError, match="the stock list is locked"):
        killed.deploy()
    found = served(killed)
    assert (found["router"], found["supply"], found["traffic"]) == ("vanilla", "hello", {"latest"})


@pytest.mark.parametrize("act", [recovery.resume, recovery.abort])
def test_nothing_is_unfinished(world: World, act: Any) -> None:
    world.deploy()
    with pytest.raises(InputError, match="no deployment is unfinished"):
        act(world.site, lambda line: None)


def test_a_second_deployer_is_told_who_deploys(world: World) -> None:
    with (
        lease.acquire(world.bucket("control"), "deploy"),
        pytest.raises(RemoteError, match="runs deploy here"),
    ):
        world.deploy()


def test_a_revision_that_runs_from_other_files_is_refused(world: World) -> None:
    """Its own report is compared with the bundle before it serves anybody."""
    world.deploy()
    text = (world.root / "agents/supply/agent.py").read_text()
    report = '    def self_report(self, question: str = "") -> dict:\n'
    report += '        return {"tree": "0" * 64}\n'
    second(world, supply=text.replace("class Supply:\n", "class Supply:\n" + report))
    edit(
        world.root,
        "agents/supply/agent.py",
        "app = Supply()",
        "Supply.register_operations = lambda self: {'': ['query', 'self_report']}\napp = Supply()",
    )
    with pytest.raises(RemoteError, match="runs from other files than its bundle"):
        world.deploy()
    assert world.query("supply", "hi")["output"] == "hello"
    [facts] = [a["facts"] for n, a in world.document(2)["agents"].items() if n == "supply"]
    assert {"what": "files", "grade": "self-reported", "ok": False, "found": "0" * 64} in facts


def test_what_somebody_split_by_hand_goes_back_to_the_latest(world: World) -> None:
    world.deploy()
    engine = world.descriptor.engines["supply"].name
    [revision] = world.site.transport.revisions(engine)
    config = {"trafficSplitManual": {"targets": [
        {"runtimeRevisionName": revision["name"], "percent": 100}]}}  # fmt: skip
    api(world.target, "PATCH", f"{engine}?updateMask=trafficConfig", {"trafficConfig": config})
    done = world.deploy()
    assert [c.field for c in done.plan.changed[0].changes] == [traffic.FIELD]
    assert served(world)["traffic"] == {"latest"}


def test_of_eight_deployers_at_once_one_wins(world: World) -> None:
    world.deploy()
    second(world)
    package_all(world.root, world.manifests, world.cache, lambda line: None)

    def attempt(_: int) -> int | None:
        try:
            return World(world.root, world.cache, world.target, world.descriptor).deploy().number
        except RemoteError as error:
            refusals.append(error.what)
            return None

    refusals: list[str] = []
    with ThreadPoolExecutor(8) as pool:
        numbers = [number for number in pool.map(attempt, range(8)) if number is not None]
    assert numbers == [2]
    assert all("here since" in refusal for refusal in refusals)
    assert len(journal.history(world.site.control)) == 2
    assert served(world)["supply"] == "hallo"


@pytest.fixture
def canary(world: World) -> World:
    """A second deployment, of supply alone, with a tenth of the traffic."""
    world.deploy()
    second(world)
    bundles = package_all(world.root, world.manifests, world.cache, lambda line: None)
    wanted = Wanted(world.manifests, bundles, frozenset({"supply"}))
    deploy(world.root, world.site, wanted, lambda line: None, canary=10)
    return world


def shares(world: World) -> list[int]:
    return [revision.percent for revision in splitting.revisions(world.site, "supply")]


def test_a_canary_gets_its_part_and_the_others_nothing(canary: World) -> None:
    assert shares(canary) == [10, 90]
    assert canary.query("router", "hi")["output"]["env"] == "vanilla"
    assert canary.document(2)["status"] == "canary"
    assert canary.bucket("control").read(lease.PATH) is None


def test_a_canary_is_finished(canary: World) -> None:
    recovery.resume(canary.site, lambda line: None)
    assert shares(canary) == [100, 0]
    assert canary.query("supply", "hi")["output"] == "hallo"
    assert canary.document(2)["status"] == "succeeded"


def test_a_canary_is_aborted(canary: World) -> None:
    recovery.abort(canary.site, lambda line: None)
    assert canary.query("supply", "hi")["output"] == "hello"
    assert (shares(canary)[0], canary.document(2)["status"]) == (100, "aborted")
    env = canary.engine("supply")["spec"]["deploymentSpec"]["env"]
    [bundle] = [item["value"] for item in env if item["name"] == "SLIPWAY_BUNDLE"]
    assert bundle == canary.document(1)["agents"]["supply"]["bundle"], "no spec keeps the bad one"


def test_a_first_deployment_cannot_be_a_canary(world: World) -> None:
    bundles = package_all(world.root, world.manifests, world.cache, lambda line: None)
    Vault(world.target, world.descriptor).ensure_generated(SECRET)
    with pytest.raises(RemoteError, match="serves nothing beside which a canary could run"):
        deploy(
            world.root,
            world.site,
            Wanted(world.manifests, bundles, frozenset({"supply"})),
            lambda line: None,
            canary=10,
        )


def test_an_update_that_never_ends_is_given_up_and_does_not_stop_the_next_deployment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.deploy()
    before = served(world)
    second(world)
    url = f"{world.target.endpoints.agent_runtime}/_faults"
    supply = world.descriptor.engines["supply"].name
    order = {"method": "PATCH", "path": f"{supply}$", "operation": "hangs", "times": 1}
    httpx.post(url, json=order).raise_for_status()
    monkeypatch.setattr(waiting, "DEADLINE_SECONDS", 2.0)
    with pytest.raises(waiting.NotDone, match="not done after 2 s") as caught:
        world.deploy()
    httpx.delete(url)
    assert "run the same command again" in str(caught.value)
    assert served(world) == before
    monkeypatch.undo()
    assert world.deploy().number == 3
    after = served(world)
    assert (after["router"], after["supply"]) == ("cherry", "hallo")


@pytest.mark.parametrize(("age", "seconds"), [(0, 1800.0), (600, 1200.0), (4000, 0.0), (-60, 1860)])
def test_how_long_an_operation_may_still_take_is_told_by_the_apis_clock(
    age: int, seconds: float
) -> None:
    began = {"genericMetadata": {"createTime": "2026-12-03T10:00:00.5Z"}}
    now = datetime(2026, 12, 3, 10, 0, 0, 500_000, tzinfo=UTC) + timedelta(seconds=age)
    assert waiting.left({"metadata": began}, now) == seconds
    assert waiting.left({"name": "x"}, now) == waiting.DEADLINE_SECONDS
