"""Traffic moved by hand: which revisions of one agent serve, and how much each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from infra.errors import InputError
from services.release import lease, spec, traffic
from services.release.execute import put_traffic
from services.release.live import read_engines
from services.release.plan import check_owner
from services.release.site import Site


@dataclass(frozen=True)
class Revision:
    """One revision: its number, the bundle that it says it runs, its birth, its percent."""

    number: str
    bundle: str | None
    release: str | None
    created: str
    percent: int


def revisions(site: Site, agent: str) -> list[Revision]:
    """The agent's revisions, the newest first, with the traffic of each.

    Raises:
        InputError: the environment has no such agent.
        RemoteError: its engine is another environment's, or cannot be read.
    """
    [engine] = read_engines(site.transport, site.descriptor, [agent]).values()
    check_owner(site.target, site.descriptor, agent, engine)
    found = site.transport.revisions(site.descriptor.engines[agent].name)
    split = traffic.of(engine) or {str(r["name"]): 100 for r in found[:1]}
    listed = []
    for revision in found:
        said = spec.declared(revision.get("spec"))
        name = str(revision["name"])
        listed.append(
            Revision(
                name.rpartition("/")[2],
                said.bundle,
                said.release,
                str(revision.get("createTime", "")),
                split.get(name, 0),
            )
        )
    return listed


def split(site: Site, agent: str, wanted: Mapping[str, int]) -> None:
    """Splits an agent's traffic, and reads it back.

    Args:
        wanted: percent by revision's number; empty: all of it goes to the latest.

    Raises:
        InputError: a revision is not there, or the percentages do not sum up to 100.
        RemoteError: another run deploys, or the API refused.
    """
    known = {revision.number for revision in revisions(site, agent)}
    if missing := sorted(set(wanted) - known):
        raise InputError(
            f"{agent} has no revision {missing[0]!r}", fix=f"known: {', '.join(sorted(known))}"
        )
    if wanted and (sum(wanted.values()) != 100 or min(wanted.values()) < 0):
        raise InputError(
            f"the percentages sum up to {sum(wanted.values())}", fix="let them sum up to 100"
        )
    engine = site.descriptor.engines[agent].name
    names = {
        str(r["name"]).rpartition("/")[2]: str(r["name"]) for r in site.transport.revisions(engine)
    }
    full = {names[number]: percent for number, percent in wanted.items()}
    with lease.acquire(site.control, f"traffic {agent}") as held:
        held.require()
        put_traffic(site.transport, agent, engine, full)
