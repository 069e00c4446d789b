"""Deployments on a real platform: engines that run, objects that stay, runs that break off."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from infra.errors import RemoteError
from services.release import journal, releases
from services.release.live import live_release
from services.release.packaging import package_all
from services.release.target import read_descriptor
from tests.release.killing import kill_at_operation
from tests.release.worlds import World, api

FAILING = """
class Supply:
    def set_up(self) -> None:
        raise RuntimeError("the stock list is locked")

    def query(self, *, message: str, limit: int = 3) -> str:
        return message

app = Supply()
"""


def edit(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def test_the_descriptor_is_read_from_the_policy_bucket(world: World) -> None:
    assert read_descriptor(world.target) == world.descriptor


def test_an_environment_without_a_descriptor_is_not_applied_yet(world: World) -> None:
    world.target.storage.bucket(world.descriptor.buckets.policy).blob("descriptor.json").delete()
    with pytest.raises(RemoteError, match="not applied yet") as caught:
        read_descriptor(world.target)
    assert "slipway infra apply local" in str(caught.value.fix)


def test_from_empty_engines_to_agents_that_answer(world: World) -> None:
    said: list[str] = []
    result = world.deploy(said)
    assert (result.number, result.changed) == (1, ("router", "supply"))

    answer = world.query("router", "hi")["output"]
    # Its own code, the shared code's data file, and the variable that its manifest declares.
    assert answer == {"message": "hi", "words": ["one", "two"], "env": "vanilla"}
    assert world.query("supply", "hi")["output"] == "hello"

    live = live_release(world.target, world.descriptor)
    assert live.release == result.release
    bundles = package_all(world.root, world.manifests, world.cache, said.append)
    assert {name: agent.bundle for name, agent in live.agents.items()} == {
        name: built.digest for name, built in bundles.items()
    }

    document = world.document(1)
    assert (document["status"], document["release"]) == ("succeeded", result.release)
    for name, record in document["agents"].items():
        assert record["operation"].startswith(world.descriptor.engines[name].name)
        assert record["error"] is None
        assert "env.SLIPWAY_BUNDLE" in record["changes"]
    stored = world.bucket("releases").read(f"releases/{result.release}.json")
    assert stored is not None
    release = releases.Release.model_validate_json(stored.data)
    for name, record in release.agents.items():
        archive = world.bucket("releases").read(f"bundles/{record.digest}.tar.gz")
        assert archive is not None
        assert archive.data == bundles[name].archive
        assert record.archive_sha256 == bundles[name].archive_sha256


def test_nothing_that_differs_means_nothing_is_written(world: World) -> None:
    world.deploy()
    before = state(world)
    result = world.deploy()
    assert (result.number, result.changed) == (None, ())
    assert state(world) == before


def state(world: World) -> object:
    """Every object's generation and every engine's time of update."""
    objects = [
        (use, blob.name, blob.generation)
        for use in ("releases", "control", "policy")
        for blob in world.target.storage.list_blobs(getattr(world.descriptor.buckets, use))
    ]
    return objects, [world.engine(agent)["updateTime"] for agent in ("router", "supply")]


def test_what_is_no_longer_declared_goes_away(world: World) -> None:
    world.deploy()
    edit(world.root, "agents/router/agent.toml", 'FLAVOUR = "vanilla"\n', "")
    edit(world.root, "agents/supply/agent.toml", "[secrets]\nCALLER_SIGNING_KEY", "# was")
    result = world.deploy()
    # The manifest is no part of the bundle, so the release is the same.
    assert (result.number, result.changed) == (2, ("router", "supply"))
    assert world.query("router", "hi")["output"]["env"] is None
    assert not world.engine("supply")["spec"]["deploymentSpec"].get("secretEnv")


def test_drift_is_put_right_on_that_engine_alone(world: World) -> None:
    world.deploy()
    spec = world.engine("supply")["spec"]
    env = [*spec["deploymentSpec"]["env"], {"name": "BY_HAND", "value": "1"}]
    name = world.descriptor.engines["supply"].name
    path = f"{name}?updateMask=spec.deployment_spec.env"
    body = {"spec": {"deploymentSpec": {"env": env}}}
    operation = api(world.target, "PATCH", path, body)
    assert api(world.target, "GET", operation["name"])["done"]
    result = world.deploy()
    assert result.changed == ("supply",)
    assert world.document(2)["agents"]["supply"]["changes"] == ["env.BY_HAND"]


def test_an_agent_that_does_not_start_fails_with_its_log_and_the_other_serves(
    world: World,
) -> None:
    good = (world.root / "agents/supply/agent.py").read_text()
    (world.root / "agents/supply/agent.py").write_text(FAILING)
    with pytest.raises(RemoteError, match="the update of supply failed") as caught:
        world.deploy()
    assert "the stock list is locked" in caught.value.what
    assert caught.value.where == world.descriptor.engines["supply"].name
    assert world.query("router", "hi")["output"]["message"] == "hi"
    document = world.document(1)
    assert document["status"] == "failed"
    assert "the stock list is locked" in document["agents"]["supply"]["error"]
    assert document["agents"]["router"]["error"] is None

    (world.root / "agents/supply/agent.py").write_text(good)
    assert world.deploy().number == 2
    assert world.query("supply", "hi")["output"] == "hello"


def test_an_engine_of_another_environment_is_left_alone(world: World) -> None:
    name = world.descriptor.engines["supply"].name
    labels = {"kit": "slipway", "environment": "prod", "agent": "supply"}
    api(world.target, "PATCH", f"{name}?updateMask=labels", {"labels": labels})
    before = state(world)
    with pytest.raises(RemoteError, match="nothing was changed"):
        world.deploy()
    assert state(world) == before


def test_a_killed_run_is_repaired_by_the_next(world: World) -> None:
    slow = "    def set_up(self) -> None:\n        import time; time.sleep(1.5)\n"
    edit(world.root, "agents/supply/agent.py", "class Supply:\n", "class Supply:\n" + slow)
    package_all(world.root, world.manifests, world.cache, lambda line: None)
    kill_at_operation(world, 1, "supply")
    assert world.document(1)["status"] == "started"

    said: list[str] = []
    result = world.deploy(said)
    assert "deployment 1 was interrupted; going on from what is live" in said
    assert world.document(1)["status"] == "interrupted"
    # Its operation was waited for, so what landed is not sent a second time.
    assert "supply" not in result.changed
    assert world.query("supply", "hi")["output"] == "hello"
    assert world.deploy().number is None


def test_two_runs_cannot_have_the_same_number(world: World) -> None:
    plan = world.deploy().plan
    control = world.bucket("control")
    journal.begin(control, plan, last=1, action="deploy", commit=None)
    with pytest.raises(RemoteError, match="another run"):
        journal.begin(control, plan, last=1, action="deploy", commit=None)


def test_a_document_that_another_run_wrote_is_not_overwritten(world: World) -> None:
    plan = world.deploy().plan
    control = world.bucket("control")
    first = journal.begin(control, plan, last=1, action="deploy", commit=None)
    second = journal.last(control)
    assert second is not None
    second.close("interrupted")
    with pytest.raises(RemoteError, match="another run"):
        first.close("succeeded")
    assert world.document(2)["status"] == "interrupted"


def test_a_stored_archive_is_used_as_it_is_and_a_damaged_one_refused(world: World) -> None:
    bundles = package_all(world.root, world.manifests, world.cache, lambda line: None)
    bucket = world.bucket("releases")
    path = f"bundles/{bundles['router'].digest}.tar.gz"
    other = gzip.compress(gzip.decompress(bundles["router"].archive), compresslevel=1, mtime=7)
    assert bucket.write(path, other, "application/gzip", generation=0)
    stored = releases.store(bucket, releases.document(world.root, bundles), bundles)
    assert stored["router"].archive == other
    assert stored["supply"].archive == bundles["supply"].archive

    there = bucket.read(path)
    assert there is not None
    assert bucket.write(path, other[:-9], "application/gzip", generation=there.generation)
    with pytest.raises(RemoteError, match="not what its name says"):
        releases.store(bucket, releases.document(world.root, bundles), bundles)
