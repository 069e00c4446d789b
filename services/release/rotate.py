"""Rotates a secret: a new version, every agent that uses it pinned to it, the old ones disabled.

In this order, so that a run that dies leaves working agents: the old version is disabled only when
no live engine is pinned to it any more. Running it again ends right; the version that the first
run added is then one of the old ones. What is deployed again is the release that is live, with its
stored bytes: a rotation brings no new code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from infra.descriptor import Descriptor
from infra.manifest import AgentManifest
from services.release import lease, recovery, respec, spec
from services.release.deploy import carry_out
from services.release.execute import Say
from services.release.live import read_engines
from services.release.secrets import ENABLED, Vault
from services.release.site import Site
from services.release.transport import Transport

SECRET_ENV = "secret_env."


@dataclass(frozen=True)
class Rotated:
    """The new version's number, the agents that got it, and the versions disabled."""

    version: str
    agents: tuple[str, ...]
    disabled: tuple[str, ...]


def users(manifests: Mapping[str, AgentManifest], secret: str) -> tuple[str, ...]:
    """The agents that declare a secret."""
    return tuple(name for name, agent in manifests.items() if secret in agent.secrets.values())


def pinned(engine: Mapping[str, Any]) -> dict[str, str]:
    """Secret ID to version, as a live engine has it."""
    fields = spec.flat(engine.get("spec") or {})
    references = (value for key, value in fields.items() if key.startswith(SECRET_ENV))
    return dict(reference.rsplit("@", 1) for reference in references)


def rotate(
    site: Site,
    manifests: Mapping[str, AgentManifest],
    secret: str,
    value: bytes,
    say: Say,
) -> Rotated:
    """Adds `value` as a new version, pins the live agents to it, then disables the older ones.

    Raises:
        RemoteError: an agent serves nothing, or its update failed; the older versions stay enabled.
    """
    descriptor, transport = site.descriptor, site.transport
    vault = Vault(site.target, descriptor)
    agents = [name for name in users(manifests, secret) if name in descriptor.engines]
    engines = read_engines(transport, descriptor, agents)
    respec.require_release(site, engines)
    with lease.acquire(site.control, f"secret rotate {secret}") as held:
        recovery.settle(site, say)
        version = vault.add(secret, value)
        say(f"{secret}: added version {version}")
        id_ = vault.name(secret).rpartition("/")[2]
        plan = respec.plan(
            site, manifests, engines, lambda live: spec.from_live(live, {id_: version})
        )
        if plan.changed:
            carry_out(site, plan, held, say, action=f"secret rotate {secret}")
    disabled = tuple(_disable(vault, transport, descriptor, secret, version))
    for number in disabled:
        say(f"{secret}: disabled version {number}")
    return Rotated(version, tuple(agents), disabled)


def _disable(
    vault: Vault, transport: Transport, descriptor: Descriptor, secret: str, keep: str
) -> Iterable[str]:
    """Disables what is enabled and older, unless a live engine is pinned to it after all."""
    id_ = vault.name(secret).rpartition("/")[2]
    live = read_engines(transport, descriptor, descriptor.engines)
    used = {pinned(engine).get(id_) for engine in live.values()}
    for version in vault.versions(secret):
        older = int(version.number) < int(keep)
        if older and version.state == ENABLED and not used & {version.number, spec.LATEST}:
            vault.disable(secret, version.number)
            yield version.number
