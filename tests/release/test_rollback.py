"""Back to an earlier deployment, and what history and diff say on the way."""

from __future__ import annotations

import pytest

from infra.errors import InputError, RemoteError
from services.release import diff, journal, logs, rollback, spec, traffic
from services.release.deploy import Wanted
from services.release.live import live_release
from services.release.packaging import package_all
from services.release.secrets import Vault
from tests.release.test_deploy import edit
from tests.release.worlds import SECRET, World, account, api


def served(world: World) -> tuple[str, str]:
    router = world.query("router", "hi")["output"]["env"]
    return router, world.query("supply", "hi")["output"]


def wanted(world: World) -> Wanted:
    bundles = package_all(world.root, world.manifests, world.cache, lambda line: None)
    return Wanted(world.manifests, bundles)


def test_the_release_before_comes_back_with_its_settings(two: World) -> None:
    first = two.document(1)["release"]
    plan, run = rollback.rollback(two.site, None, lambda line: None)
    assert run is not None
    assert served(two) == ("vanilla", "hello")
    assert (plan.release, live_release(two.target, two.descriptor).release) == (first, first)
    document = two.document(3)
    assert (document["action"], document["status"]) == ("rollback to 1", "succeeded")


def test_to_what_is_live_already_nothing_is_written(two: World) -> None:
    plan, run = rollback.rollback(two.site, 2, lambda line: None)
    assert (plan.changed, run) == ((), None)
    assert len(journal.history(two.site.control)) == 2


def test_and_forth_again(two: World) -> None:
    rollback.rollback(two.site, 1, lambda line: None)
    rollback.rollback(two.site, 2, lambda line: None)
    assert served(two) == ("cherry", "hallo")
    actions = [d.action for d in journal.history(two.site.control)]
    assert actions == ["rollback to 2", "rollback to 1", "deploy", "deploy"]


def test_a_secret_whose_version_was_disabled_is_pinned_to_the_newest(two: World) -> None:
    vault = Vault(two.target, two.descriptor)
    newest = vault.add(SECRET, b"another-value-of-thirty-two-bytes")
    vault.disable(SECRET, "1")
    rollback.rollback(two.site, 1, lambda line: None)
    assert served(two) == ("vanilla", "hello")
    fields = two.document(3)["agents"]["supply"]["wanted"]["deployment_spec"]["secret_env"]
    assert [item["secret_ref"]["version"] for item in fields] == [newest]


@pytest.mark.parametrize("number", [7, None])
def test_there_is_nothing_to_go_back_to(world: World, number: int | None) -> None:
    world.deploy()
    with pytest.raises(InputError) as caught:
        rollback.choose(world.site, number)
    assert caught.value.fix == "slipway history local"


def test_a_bundle_that_is_gone_is_said_before_anything_changes(two: World) -> None:
    digest = two.document(1)["agents"]["supply"]["bundle"]
    releases = two.target.storage.bucket(two.descriptor.buckets.releases)
    releases.blob(f"bundles/{digest}.tar.gz").delete()
    with pytest.raises(RemoteError, match="the bundle is not there"):
        rollback.rollback(two.site, 1, lambda line: None)
    assert served(two) == ("cherry", "hallo")


def test_diff_is_empty_after_a_deployment(two: World) -> None:
    assert diff.differences(two.site, wanted(two)).empty


def test_diff_tells_the_checkout_from_the_record(two: World) -> None:
    edit(two.root, "agents/router/agent.toml", '"cherry"', '"mint"')
    found = diff.differences(two.site, wanted(two))
    assert [c.field for c in found.desired["router"]] == ["env.FLAVOUR"]
    assert found.recorded["router"] == ()
    engine = two.descriptor.engines["supply"].name
    env = [{"name": "BY_HAND", "value": "1"}]
    path = f"{engine}?updateMask=spec.deployment_spec.env"
    operation = api(two.target, "PATCH", path, {"spec": {"deploymentSpec": {"env": env}}})
    api(two.target, "GET", operation["name"])
    found = diff.differences(two.site, wanted(two))
    assert "env.BY_HAND" in [c.field for c in found.recorded["supply"]]


def test_logs_are_the_last_lines_of_the_agent(two: World) -> None:
    lines = logs.tail(two.site, "supply", 1)
    assert [line.text.startswith("serving after") for line in lines] == [True]
    with pytest.raises(InputError, match="has no agent 'nobody'"):
        logs.tail(two.site, "nobody", 1)


def said_while(world: World, number: int | None = None) -> list[str]:
    said: list[str] = []
    rollback.rollback(world.site, number, said.append)
    return said


def test_the_kept_revision_serves_at_once_and_the_spec_follows(two: World) -> None:
    said = said_while(two)
    line = "supply: revision 1 serves again; the engine's spec follows"
    assert said.index(line) < said.index("supply: updating")
    engine = two.engine("supply")
    assert spec.declared(engine["spec"]).release == two.document(1)["release"]
    assert traffic.of(engine) == {}


def test_no_revision_serves_meanwhile_when_a_field_of_all_revisions_changed_since(
    two: World,
) -> None:
    # The service account is no revision's own: the old one under it would be another agent.
    engine = two.descriptor.engines["supply"].name
    other = {"spec": {"serviceAccount": account("router", two.descriptor.project)}}
    path = f"{engine}?updateMask=spec.service_account"
    api(two.target, "GET", api(two.target, "PATCH", path, other)["name"])
    said = said_while(two)
    assert not [line for line in said if line.startswith("supply: revision")]
    assert two.engine("supply")["spec"]["serviceAccount"] == account(
        "supply", two.descriptor.project
    )
