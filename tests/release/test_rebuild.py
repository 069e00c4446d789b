"""A control bucket that was emptied."""

from __future__ import annotations

import pytest

from infra.errors import InputError
from services.release import diff, journal, rollback
from services.release.deploy import Wanted
from services.release.packaging import package_all
from services.release.rebuild import rebuild
from tests.release.worlds import World


def empty(world: World) -> None:
    bucket = world.descriptor.buckets.control
    for blob in world.target.storage.list_blobs(bucket):
        blob.delete()


def test_what_is_live_becomes_the_first_deployment(two: World) -> None:
    empty(two)
    done = rebuild(two.site)
    assert set(done.deployment.agents) == {"router", "supply"}
    assert done.unknown == ("earlier deployments, who made them, and when",)
    [found] = journal.history(two.site.control)
    assert (found.action, found.status) == ("recover", "succeeded")
    bundles = package_all(two.root, two.manifests, two.cache, lambda line: None)
    assert diff.differences(two.site, Wanted(two.manifests, bundles)).empty


def test_it_can_be_gone_back_to(two: World) -> None:
    empty(two)
    rebuild(two.site)
    (two.root / "agents/shared/inner/deep.py").write_text('GREETING = "hej"\n')
    two.deploy()
    assert two.query("supply", "hi")["output"] == "hej"
    rollback.rollback(two.site, 1, lambda line: None)
    assert two.query("supply", "hi")["output"] == "hallo"


def test_what_cannot_be_known_is_said(two: World) -> None:
    empty(two)
    releases = two.target.storage.bucket(two.descriptor.buckets.releases)
    digest = two.engine("supply")["spec"]["deploymentSpec"]["env"]
    [bundle] = [item["value"] for item in digest if item["name"] == "SLIPWAY_BUNDLE"]
    releases.blob(f"bundles/{bundle}.tar.gz").delete()
    done = rebuild(two.site)
    assert set(done.deployment.agents) == {"router"}
    assert done.unknown[0].startswith("supply: the bundle of release")


def test_a_history_that_is_there_is_left_alone(two: World) -> None:
    with pytest.raises(InputError, match="has a history"):
        rebuild(two.site)
    assert len(journal.history(two.site.control)) == 2


def test_nothing_that_slipway_deployed(world: World) -> None:
    with pytest.raises(InputError, match="no engine serves a release"):
        rebuild(world.site)
