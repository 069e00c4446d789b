"""Plans that send live engines their own spec again, with some of its fields changed.

The bundles are the stored ones of what is live: such a plan brings no new code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from infra.errors import RemoteError
from infra.manifest import AgentManifest
from services.release import spec
from services.release.plan import AgentPlan, Plan, before_of, check_owner, compare, wave
from services.release.site import Site

Engines = Mapping[str, Mapping[str, Any]]


def require_release(site: Site, engines: Engines) -> None:
    """Refuses engines that serve no release: there is nothing to send again.

    Raises:
        RemoteError: one serves none, or is another environment's.
    """
    for name, engine in engines.items():
        check_owner(site.target, site.descriptor, name, engine)
        if _release(engine) is None:
            raise RemoteError(
                f"{name} serves no release of slipway yet",
                where=site.descriptor.engines[name].name,
                fix=f"slipway deploy {site.target.named}; before that: slipway secret set",
            )


def plan(
    site: Site,
    manifests: Mapping[str, AgentManifest],
    engines: Engines,
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> Plan:
    """What is live with other specs: `change` makes one in snake_case of what the API gave.

    Raises:
        RemoteError: a stored bundle is not there, or is damaged.
    """
    agents = []
    for name, engine in engines.items():
        wanted = change(engine["spec"])
        agents.append(
            AgentPlan(
                agent=name,
                engine=site.descriptor.engines[name].name,
                bundle=site.stored(str(_release(engine)), name),
                spec=wanted,
                changes=compare(engine["spec"], wanted),
                before=before_of(engine),
                wave=wave(name, manifests),
                smoke=manifests[name].smoke if name in manifests else None,
            )
        )
    release = next((str(_release(engine)) for engine in engines.values()), "")
    return Plan(site.target.environment.name, release, tuple(agents))


def _release(engine: Mapping[str, Any]) -> str | None:
    return spec.declared(engine.get("spec")).release
