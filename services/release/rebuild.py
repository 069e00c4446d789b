"""A lost history, begun anew from the releases bucket and the live engines."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from infra.errors import InputError, SlipwayError
from services import times
from services.release import journal, lease, spec, traffic
from services.release.journal import AgentRecord, BeforeRecord, Deployment
from services.release.live import read_engines
from services.release.plan import check_owner
from services.release.records import NOT_THERE
from services.release.site import Site

ACTION = "recover"


@dataclass(frozen=True)
class Recovered:
    """The deployment that was written, and what could not be known."""

    deployment: Deployment
    unknown: tuple[str, ...]


def rebuild(site: Site) -> Recovered:
    """Writes a first deployment that records what is live.

    Raises:
        InputError: there is a history, or nothing that slipway deployed is live.
        RemoteError: an engine is another environment's, or an API refused.
    """
    with lease.acquire(site.control, ACTION):
        if journal.last(site.control) is not None:
            raise InputError(
                f"{site.descriptor.environment} has a history",
                where=site.control.where(journal.FOLDER),
                fix=f"slipway history {site.target.named}",
            )
        agents, unknown = _agents(site)
        if not agents:
            raise InputError(
                "no engine serves a release that is stored here",
                where=site.descriptor.environment,
                fix=f"slipway deploy {site.target.named}",
            )
        document = _document(site, agents)
        path = journal.path(document.number)
        data = document.model_dump_json(indent=1).encode()
        if site.control.write(path, data, "application/json", generation=NOT_THERE) is None:
            raise site.control.changed(path)
    lost = "earlier deployments, who made them, and when"
    return Recovered(document, (*unknown, lost))


def _agents(site: Site) -> tuple[dict[str, AgentRecord], list[str]]:
    """A record of each engine whose stored bundle is whole, and what is not known of the others."""
    engines = read_engines(site.transport, site.descriptor, site.descriptor.engines)
    agents: dict[str, AgentRecord] = {}
    unknown: list[str] = []
    for name, engine in engines.items():
        check_owner(site.target, site.descriptor, name, engine)
        live = engine.get("spec") or {}
        said = spec.declared(live)
        release, bundle = said.release, said.bundle
        if not release or not bundle:
            unknown.append(f"{name}: serves nothing that slipway deployed")
            continue
        try:
            stored = site.stored(release, name)
        except (SlipwayError, KeyError) as error:
            unknown.append(f"{name}: the bundle of release {release} cannot be read ({error})")
            continue
        if stored.digest != bundle:
            unknown.append(f"{name}: declares another bundle than release {release} has")
            continue
        if split := traffic.of(engine):
            unknown.append(f"{name}: traffic is split ({traffic.text(split)})")
        agents[name] = AgentRecord(
            engine=site.descriptor.engines[name].name,
            bundle=bundle,
            changes=[],
            wanted=spec.from_live(live, {}),
            before=BeforeRecord(),
        )
    return agents, unknown


def _document(site: Site, agents: dict[str, AgentRecord]) -> Deployment:
    now = times.now()
    releases = {spec.declared(record.wanted).release or "" for record in agents.values()}
    return Deployment(
        number=1,
        run=uuid.uuid4().hex,
        environment=site.descriptor.environment,
        release=sorted(releases)[0],
        action=ACTION,
        who=journal.who(),
        status="succeeded",
        started=now,
        ended=now,
        agents=agents,
    )
