"""A rotation on a real platform: what is pinned, what is disabled, and what a failure leaves."""

from __future__ import annotations

import pytest

from infra.errors import InputError, RemoteError
from infra.manifest import load_all
from services.release import rotate
from services.release.deploy import Wanted, deploy
from services.release.packaging import package_all
from services.release.secrets import MOST_BYTES, Vault
from tests.release.worlds import SECRET, World


def pins(world: World) -> dict[str, str | None]:
    """The version of the secret that each engine is pinned to."""
    return {
        name: rotate.pinned(world.engine(name)).get(SECRET) for name in world.descriptor.engines
    }


def states(world: World) -> dict[str, str]:
    vault = Vault(world.target, world.descriptor)
    return {version.number: version.state for version in vault.versions(SECRET)}


def test_a_deployment_pins_the_newest_version_and_a_new_value_shows_in_the_plan(
    world: World,
) -> None:
    world.deploy()
    assert set(pins(world).values()) == {"1"}
    assert world.deploy().changed == ()
    Vault(world.target, world.descriptor).add(SECRET, b"another-value-of-thirty-two-bytes")
    done = world.deploy()
    assert {c.field for agent in done.plan.changed for c in agent.changes} == {
        "secret_env.CALLER_SIGNING_KEY"
    }
    assert set(pins(world).values()) == {"2"}


def test_rotate_pins_the_live_release_and_disables_the_old(world: World) -> None:
    release = world.deploy().release
    said: list[str] = []
    done = rotate.rotate(
        world.site,
        load_all(world.root),
        SECRET,
        b"a-rotated-value-of-thirty-two-bytes",
        said.append,
    )
    assert (done.version, done.disabled) == ("2", ("1",))
    assert set(pins(world).values()) == {"2"}
    assert states(world) == {"1": "DISABLED", "2": "ENABLED"}
    assert world.deploy().release == release, "a rotation brings no other code"
    assert not any("rotated-value" in line for line in said)


def test_a_failed_update_leaves_the_old_version_enabled(world: World) -> None:
    world.deploy()
    vault = Vault(world.target, world.descriptor)
    # A variable of a process cannot hold what is no text, so the update is refused.
    with pytest.raises(RemoteError):
        rotate.rotate(world.site, load_all(world.root), SECRET, b"\xff\xfe", print)
    assert states(world)["1"] == "ENABLED"
    assert set(pins(world).values()) == {"1"}, "each engine serves what it served before"
    vault.add(SECRET, b"a-value-that-is-long-enough-for-it")
    rotate.rotate(
        world.site,
        load_all(world.root),
        SECRET,
        b"and-the-next-value-of-thirty-two-bytes",
        print,
    )
    assert set(pins(world).values()) == {"4"}
    assert states(world) == {"1": "DISABLED", "2": "DISABLED", "3": "DISABLED", "4": "ENABLED"}


def test_nothing_is_deployed_yet(world: World) -> None:
    with pytest.raises(RemoteError, match="serves no release") as caught:
        rotate.rotate(world.site, load_all(world.root), SECRET, b"x" * 32, print)
    assert "slipway deploy local" in str(caught.value)
    assert states(world) == {}, "no version was added"


@pytest.mark.parametrize("value", [b"", b"x" * (MOST_BYTES + 1)])
def test_a_value_that_is_no_value(world: World, value: bytes) -> None:
    with pytest.raises(InputError):
        Vault(world.target, world.descriptor).add(SECRET, value)


def test_a_secret_without_a_version_refuses_the_deployment(world: World) -> None:
    vault = Vault(world.target, world.descriptor)
    vault.disable(SECRET, vault.add(SECRET, b"a-value-that-is-disabled-right-away"))
    bundles = package_all(world.root, world.manifests, world.cache, print)
    with pytest.raises(RemoteError, match="no enabled version") as caught:
        deploy(world.root, world.site, Wanted(world.manifests, bundles), print)
    assert f"slipway secret set local {SECRET}" in str(caught.value)
