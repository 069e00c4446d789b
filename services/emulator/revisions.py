"""Runtime revisions: every deployed spec is kept as one, and traffic is split between them.

A revision is named `ENGINE/runtimeRevisions/N`. By default all traffic goes to the latest; an
engine's `trafficConfig.trafficSplitManual` pins it, and a spec that is deployed meanwhile serves
nobody until traffic moves. A revision can be asked itself (`…/runtimeRevisions/N:query`).
"""

from __future__ import annotations

import random
from typing import Any

from services.emulator import engines
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.state import Body, Store, now

KIND = "runtimeRevision"
KEPT = 10
"""How many revisions of an engine are kept beside those that have traffic."""
# What a deployment changes for every revision at once; the rest belongs to each (Google's docs).
UNVERSIONED = frozenset({"serviceAccount", "identityType", "effectiveIdentity"})


def name_of(engine: str, number: int) -> str:
    """The full name of a revision."""
    return f"{engine}/runtimeRevisions/{number}"


def record(store: Store, engine: Body, number: int) -> Body:
    """Keeps the engine's spec, as it is deployed now, as a revision."""
    spec = {key: value for key, value in engine["spec"].items() if key not in UNVERSIONED}
    name = name_of(str(engine["name"]), number)
    body = {"name": name, "createTime": now(), "spec": spec, "state": "ACTIVE"}
    return store.put(KIND, name, body)


def find(store: Store, name: str) -> Body:
    """A revision as it is kept.

    Raises:
        ApiError: NOT_FOUND.
    """
    body = store.get(KIND, name)
    if body is None:
        raise not_found(name)
    return body


def of(store: Store, engine: str) -> list[Body]:
    """An engine's revisions, the oldest first."""
    found = store.list(KIND, f"{engine}/runtimeRevisions/")
    return sorted(found, key=lambda body: number_of(str(body["name"])))


def number_of(name: str) -> int:
    """The number at the end of a revision's name."""
    return int(name.rpartition("/")[2])


def split(store: Store, engine: Body) -> dict[str, int]:
    """Percent of the traffic by revision's name; {} where nothing is deployed."""
    targets = _targets(engine)
    if targets is not None:
        return {str(t["runtimeRevisionName"]): int(t["percent"]) for t in targets}
    latest = of(store, str(engine["name"]))[-1:]
    return {str(body["name"]): 100 for body in latest}


def pinned(engine: Body) -> bool:
    """Whether traffic stays where it is when a new spec is deployed."""
    return _targets(engine) is not None


def choose(store: Store, engine: Body) -> str:
    """The revision that answers the next request.

    Raises:
        ApiError: FAILED_PRECONDITION, when nothing is deployed.
    """
    shares = split(store, engine)
    if not shares:
        raise ApiError("FAILED_PRECONDITION", f"{engine['name']} has no deployed source.")
    return random.choices(list(shares), weights=list(shares.values()))[0]


def check(platform: Platform, engine: Body) -> None:
    """What the API refuses of a `trafficConfig`.

    Raises:
        ApiError: INVALID_ARGUMENT.
    """
    targets = _targets(engine)
    if targets is None:
        return
    config = engine["trafficConfig"]
    if "trafficSplitAlwaysLatest" in config:
        raise invalid("traffic_config: always latest and manual exclude each other.")
    percents = [p for target in targets if isinstance(p := target.get("percent"), int)]
    within = len(percents) == len(targets) and all(0 <= p <= 100 for p in percents)
    if not within or sum(percents) != 100:
        raise invalid("traffic_config: the percentages must be 0 to 100 and sum up to 100.")
    for target in targets:
        name = str(target.get("runtimeRevisionName", ""))
        head, _, number = name.rpartition("/runtimeRevisions/")
        parts = head.split("/")
        if len(parts) == 6 and parts[0] == "projects":
            parts[1] = platform.project_number(parts[1])
        target["runtimeRevisionName"] = full = f"{'/'.join(parts)}/runtimeRevisions/{number}"
        if "/".join(parts) != engine["name"] or platform.store.get(KIND, full) is None:
            raise invalid(f"traffic_config: {name!r} is no revision of {engine['name']}.")


def prune(store: Store, engine: Body) -> set[str]:
    """Forgets old revisions without traffic; returns digests of the archives still needed."""
    every = of(store, str(engine["name"]))
    serving = split(store, engine)
    for body in every[:-KEPT]:
        if body["name"] not in serving:
            store.delete(KIND, str(body["name"]))
    return {str(engines.digest(body)) for body in of(store, str(engine["name"]))}


def remove_all(store: Store, engine: str) -> None:
    """Forgets every revision of an engine."""
    for body in of(store, engine):
        store.delete(KIND, str(body["name"]))


def _targets(engine: Body) -> list[dict[str, Any]] | None:
    manual = engine.get("trafficConfig", {}).get("trafficSplitManual")
    return list(manual.get("targets", [])) if manual is not None else None
