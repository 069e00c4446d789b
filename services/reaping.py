"""Finds ephemeral environments whose time is over, by when their state was written last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from infra import settings, state
from infra.environment import Environment
from infra.rest import Rest
from services.connection import connect
from services.times import rfc3339


@dataclass(frozen=True)
class Expired:
    """An environment that is over its time; times are RFC 3339 in UTC."""

    env: Environment
    applied: str
    expired: str


def expired(root: Path, now: datetime | None = None) -> list[Expired]:
    """Every ephemeral environment of the checkout whose last apply is longer ago than its time.

    Raises:
        SlipwayError: a file is wrong, or a platform cannot be reached.
    """
    moment = now or datetime.now(UTC)
    found = []
    for name in settings.names(root):
        env = settings.load(root, name)
        if not env.ephemeral or env.ttl_hours is None:
            continue
        applied = _applied(root, env)
        if applied is None:
            continue
        end = applied + timedelta(hours=env.ttl_hours)
        if end <= moment:
            found.append(Expired(env, rfc3339(applied), rfc3339(end)))
    return found


def _applied(root: Path, env: Environment) -> datetime | None:
    """When its state was written last; None: it has none, or an empty one."""
    target = connect(root, env)
    rest, base = Rest(target.credentials), target.endpoints.storage
    name = quote(f"{state.prefix(env)}/default.tfstate", safe="")
    url = f"{base}/storage/v1/b/{state.bucket(env)}/o/{name}"
    found = rest.get(url)
    if found is None or not (rest.get(f"{url}?alt=media") or {}).get("resources"):
        return None
    return datetime.fromisoformat(found["updated"])
