"""Agent Runtime's sessions and events.

State with the prefix `user:` belongs to the user and with `app:` to the engine: it is kept there
and shown in every session it concerns. `temp:` is never kept. Events come in the order in which
they were appended, and what a client stored as `rawEvent` comes back as it was.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from starlette.routing import BaseRoute

from services.emulator import engines, filters, masks
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.platform import Platform
from services.emulator.rest import Call, Result, page, route
from services.emulator.state import Body, Store, now

KIND, EVENT, SHARED = "session", "event", "session_state"
PATH = engines.PATH + "/sessions"
ONE = PATH + "/{session:id}"
_ID = re.compile(r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?")
_FILTERS = frozenset({"name", "userId", "displayName", "labels", "createTime", "updateTime"})
_EVENT_FILTERS = frozenset({"name", "author", "invocationId", "timestamp"})


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    api = Sessions(platform)
    return [
        route("POST", PATH, api.create),
        route("GET", PATH, api.list),
        route("POST", ONE + ":appendEvent", api.append),
        route("GET", ONE + "/events", api.events),
        route("GET", ONE, api.get),
        route("PATCH", ONE, api.update),
        route("DELETE", ONE, api.delete),
    ]


class Sessions:
    """The handlers."""

    def __init__(self, platform: Platform) -> None:
        self._platform, self._store = platform, platform.store

    async def create(self, call: Call) -> Result:
        """POST: `userId` is required; an ID may be chosen."""
        engine = str(engines.find(self._platform, call)["name"])
        body = masks.check(call.body, masks.SESSION, "session")
        if not body.get("userId"):
            raise invalid("session.user_id is required.")
        chosen = call.query.get("sessionId")
        if chosen is not None:
            check_id(chosen, "session_id")
        name = f"{engine}/sessions/{chosen or self._store.next_id('session')}"
        if alive(self._store, name) is not None:
            raise ApiError("ALREADY_EXISTS", f"{name} already exists.")
        time = now()
        state = body.pop("sessionState", {})
        session = expiring({**body, "name": name, "createTime": time, "updateTime": time})
        with self._store.transaction():
            self._store.put(KIND, name, {**session, "sessionState": {}})
            self._apply(name, state)
        answer = engines.typed(call, "Session", self._shown(name))
        return self._platform.operations.done(name, answer)

    async def list(self, call: Call) -> Result:
        """GET of the collection, by `filter`."""
        engine = str(engines.find(self._platform, call)["name"])
        bodies = [self._shown(name) for name in names(self._store, engine)]
        found = filters.matching(bodies, call.query.get("filter"), _FILTERS)
        return page(found, call, "sessions")

    async def get(self, call: Call) -> Result:
        """GET of one."""
        return self._shown(self._find(call))

    async def update(self, call: Call) -> Result:
        """PATCH of what is given, or of what the mask names."""
        name = self._find(call)
        body = masks.check(call.body, masks.SESSION, "session")
        current = self._store.get(KIND, name) or {}
        new = masks.merge(current, body, call.query.get("updateMask"), masks.SESSION)
        if new.get("userId") != current.get("userId"):
            raise invalid("session.user_id cannot be changed.")
        with self._store.transaction():
            kept = {**expiring(new), "updateTime": now()}
            if new.get("sessionState") != current.get("sessionState"):
                self._store.put(KIND, name, {**kept, "sessionState": {}})
                self._apply(name, new.get("sessionState") or {})
            else:
                self._store.put(KIND, name, kept)
        return self._shown(name)

    async def delete(self, call: Call) -> Result:
        """DELETE of one, with its events."""
        name = self._find(call)
        remove(self._store, name)
        empty = {"@type": "type.googleapis.com/google.protobuf.Empty"}
        return self._platform.operations.done(name, empty)

    async def append(self, call: Call) -> Result:
        """POST of an event; its `actions.stateDelta` changes the session's state."""
        name = self._find(call)
        event = {key: value for key, value in call.body.items() if value is not None}
        for field in ("author", "invocationId", "timestamp"):
            if not event.get(field):
                raise invalid(f"event.{field} is required.")
        event["name"] = f"{name}/events/{self._store.next_id('event')}"
        delta = (event.get("actions") or {}).get("stateDelta") or {}
        with self._store.transaction():
            self._store.put(EVENT, event["name"], event)
            self._apply(name, delta)
        return {}

    async def events(self, call: Call) -> Result:
        """GET of a session's events, by `filter`."""
        name = self._find(call)
        events = self._store.list(EVENT, f"{name}/events/")
        found = filters.matching(events, call.query.get("filter"), _EVENT_FILTERS)
        return page(found, call, "sessionEvents")

    def _find(self, call: Call) -> str:
        engine = str(engines.find(self._platform, call)["name"])
        name = f"{engine}/sessions/{call.path['session']}"
        if alive(self._store, name) is None:
            raise not_found(name)
        return name

    def _shown(self, name: str) -> Body:
        session = self._store.get(KIND, name)
        assert session is not None
        state = dict(session["sessionState"])
        for owner in _owners(session).values():
            state |= (self._store.get(SHARED, owner) or {}).get("state", {})
        return {**session, "sessionState": state}

    def _apply(self, name: str, delta: Body) -> None:
        """Writes each key to whom its prefix says; runs within a transaction."""
        session = self._store.get(KIND, name)
        assert session is not None
        owners = _owners(session)
        shared: dict[str, Body] = {}
        for key, value in delta.items():
            prefix = key.partition(":")[0] if ":" in key else ""
            if prefix in owners:
                shared.setdefault(prefix, {})[key] = value
            elif prefix != "temp":
                session["sessionState"][key] = value
        for prefix, values in shared.items():
            before = (self._store.get(SHARED, owners[prefix]) or {}).get("state", {})
            record = {"name": owners[prefix], "state": before | values}
            self._store.put(SHARED, owners[prefix], record)
        self._store.put(KIND, name, {**session, "updateTime": now()})


def _owners(session: Body) -> dict[str, str]:
    """Whose record holds the keys of a prefix."""
    engine = str(session["name"]).rpartition("/sessions/")[0]
    return {"app": f"{engine}/app", "user": f"{engine}/users/{session['userId']}"}


def check_id(text: str, field: str) -> str:
    """The rule for IDs that a client chooses.

    Raises:
        ApiError: INVALID_ARGUMENT.
    """
    if not _ID.fullmatch(text):
        raise invalid(
            f"{field} {text!r} is not valid: 1 to 63 of [a-z0-9-], first a letter, last no hyphen."
        )
    return text


def expiring(body: Body) -> Body:
    """The body with `ttl` (seconds, such as `3600s`) turned into `expireTime`.

    Raises:
        ApiError: INVALID_ARGUMENT.
    """
    ttl = body.pop("ttl", None)
    if ttl is None:
        return body
    match = re.fullmatch(r"(\d+(?:\.\d+)?)s", str(ttl))
    if match is None:
        raise invalid(f"ttl {ttl!r} is not a number of seconds such as '3600s'.")
    end = datetime.now(UTC) + timedelta(seconds=float(match[1]))
    return {**body, "expireTime": end.isoformat().replace("+00:00", "Z")}


def expired(body: Body) -> bool:
    """Whether its `expireTime` is over."""
    end = body.get("expireTime")
    return end is not None and datetime.fromisoformat(str(end)) <= datetime.now(UTC)


def alive(store: Store, name: str) -> Body | None:
    """The session if it exists and has not expired; what has expired is removed."""
    body = store.get(KIND, name)
    if body is not None and expired(body):
        remove(store, name)
        return None
    return body


def remove(store: Store, name: str) -> None:
    """Removes a session and its events."""
    with store.transaction():
        for event in store.list(EVENT, f"{name}/events/"):
            store.delete(EVENT, str(event["name"]))
        store.delete(KIND, name)


def names(store: Store, engine: str) -> list[str]:
    """Names of an engine's sessions."""
    every = [str(body["name"]) for body in store.list(KIND, f"{engine}/sessions/")]
    return [name for name in every if alive(store, name) is not None]


def remove_all(store: Store, engine: str) -> None:
    """Removes an engine's sessions, and what its users' sessions share."""
    for name in names(store, engine):
        remove(store, name)
    for shared in store.list(SHARED, f"{engine}/"):
        store.delete(SHARED, str(shared["name"]))
