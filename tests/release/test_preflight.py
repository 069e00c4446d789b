"""What stops a deployment before anything is written, all of it at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from google.oauth2.credentials import Credentials

from infra.errors import RemoteError
from services import times
from services.release import lease
from services.release.deploy import Wanted, deploy
from services.release.packaging import package_all
from services.release.secrets import Vault
from tests.release.test_deploy import state
from tests.release.worlds import SECRET, World, account, api, rest


def refused(world: World) -> list[str]:
    """What a deployment is refused for; nothing may have been written."""
    before = state(world)
    with pytest.raises(RemoteError) as caught:
        world.deploy()
    assert state(world) == before
    found = [caught.value, *caught.value.also]
    assert all(problem.fix for problem in found)
    return [str(problem) for problem in found]


def project(world: World) -> str:
    return world.descriptor.project


def test_an_api_that_is_not_enabled(world: World) -> None:
    path = f"v1/projects/{project(world)}/services/secretmanager.googleapis.com:disable"
    rest(world.target, "POST", path, {})
    [told] = refused(world)
    assert "the API secretmanager.googleapis.com is not enabled" in told
    assert "slipway infra bootstrap local" in told


def test_a_secret_that_an_agent_may_not_read(world: World) -> None:
    world.deploy()
    (world.root / "agents/shared/words.json").write_text('["three"]')
    name = world.descriptor.secrets[SECRET]
    member = f"serviceAccount:{account('router', project(world))}"
    policy = {"bindings": [{"role": "roles/secretmanager.secretAccessor", "members": [member]}]}
    rest(world.target, "POST", f"v1/{name}:setIamPolicy", {"policy": policy})
    [told] = refused(world)
    assert f"{account('supply', project(world))} may not read the secret" in told


def test_an_account_that_is_gone_and_a_bucket_that_is_gone_are_both_said(world: World) -> None:
    email = account("supply", project(world))
    path = f"v1/projects/{project(world)}/serviceAccounts/{email}"
    rest(world.target, "DELETE", path)
    world.target.storage.bucket(world.descriptor.buckets.releases).delete()
    with pytest.raises(RemoteError) as caught:
        world.deploy()
    told = "\n".join(str(problem) for problem in (caught.value, *caught.value.also))
    assert f"serviceAccounts/{email}" in told
    assert "there is no such bucket" in told


def test_a_bucket_that_keeps_no_versions(world: World) -> None:
    control = world.target.storage.bucket(world.descriptor.buckets.control)
    control.versioning_enabled = False
    control.patch()
    [told] = refused(world)
    assert f"gs://{control.name}: the bucket keeps no versions" in told


def test_a_secret_that_is_disabled(world: World) -> None:
    vault = Vault(world.target, world.descriptor)
    bundles = package_all(world.root, world.manifests, world.cache, lambda line: None)
    vault.add(SECRET, b"a-value-of-thirty-two-bytes-or-so")
    vault.disable(SECRET, "1")
    with pytest.raises(RemoteError, match="no enabled version") as caught:
        deploy(world.root, world.site, Wanted(world.manifests, bundles), lambda line: None)
    assert caught.value.fix == f"slipway secret set local {SECRET}"
    assert not world.engine("router").get("spec")


def test_an_engine_that_was_deleted_behind_our_back(world: World) -> None:
    world.deploy()
    (world.root / "agents/shared/words.json").write_text('["three"]')
    api(world.target, "DELETE", f"{world.descriptor.engines['supply'].name}?force=true")
    with pytest.raises(RemoteError) as caught:
        world.deploy()
    assert world.descriptor.engines["supply"].name in str(caught.value)
    assert caught.value.fix == world.target.provision
    assert world.bucket("control").read("deployments/0002.json") is None


def test_a_clock_that_is_an_hour_off_neither_steals_a_lease_nor_stops_a_deployment(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for hours in (-1, 1):
        wrong = datetime.now(UTC) + timedelta(hours=hours)
        monkeypatch.setattr(times, "now", lambda at=wrong: at.strftime("%Y-%m-%dT%H:%M:%SZ"))
        with (
            lease.acquire(world.bucket("control"), "rollback"),
            pytest.raises(RemoteError, match="runs rollback here since"),
        ):
            world.deploy()
    assert world.deploy().number == 1


def test_a_lease_that_is_held(world: World) -> None:
    with (
        lease.acquire(world.bucket("control"), "rollback"),
        pytest.raises(RemoteError, match="runs rollback here since"),
    ):
        world.deploy()
    assert not world.engine("router").get("spec")


def test_who_may_not_deploy_is_told_which_permission_is_missing(world: World) -> None:
    token = rest(
        world.target,
        "POST",
        f"v1/projects/-/serviceAccounts/{account('router', project(world))}:generateAccessToken",
        {},
    )["accessToken"]
    told = refused_as(world, token)
    assert "you may not: iam.serviceAccounts.actAs" in told
    assert "you may not: storage.buckets.get, storage.objects.create" in told


def refused_as(world: World, token: str) -> str:
    """The same, deploying with another account's token."""
    reader = f"serviceAccount:{account('router', project(world))}"
    for name in (world.descriptor.buckets.control, world.descriptor.buckets.policy):
        binding = {"role": "roles/storage.objectViewer", "members": [reader]}
        rest(world.target, "PUT", f"storage/v1/b/{name}/iam", {"bindings": [binding]})
    secret = world.descriptor.secrets[SECRET]
    current: dict[str, Any] = rest(world.target, "GET", f"v1/{secret}:getIamPolicy")
    current["bindings"].append({"role": "roles/secretmanager.viewer", "members": [reader]})
    rest(world.target, "POST", f"v1/{secret}:setIamPolicy", {"policy": current})
    other = World(
        world.root, world.cache, replace(world.target, credentials=Credentials(token)),
        world.descriptor,
    )  # fmt: skip
    Vault(world.target, world.descriptor).ensure_generated(SECRET)
    bundles = package_all(world.root, world.manifests, world.cache, lambda line: None)
    with pytest.raises(RemoteError) as caught:
        deploy(other.root, other.site, Wanted(other.manifests, bundles), lambda line: None)
    return "\n".join(str(problem) for problem in (caught.value, *caught.value.also))
