"""The platform's one state: JSON resources in SQLite, large bytes as files beside it.

Only the event loop's thread touches a Store, so a read-modify-write without an `await` in between
is atomic. Terraform's provider runs on threads and goes through REST like any other client.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Body = dict[str, Any]

_TABLES = """
CREATE TABLE IF NOT EXISTS resources (
    kind TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, seq INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""


def now() -> str:
    """The time as Google's APIs write it (RFC 3339, UTC, microseconds)."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class Store:
    """Resources by kind and name. `kind` is the API's collection, such as `engine` or `secret`."""

    def __init__(self, folder: Path) -> None:
        """Opens (or makes) the state in `folder`, which holds `state.db` and `files/`.

        Raises:
            sqlite3.DatabaseError: the database is damaged.
        """
        self.folder = folder
        self.files = folder / "files"
        self.files.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(folder / "state.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(_TABLES)
        # Damage must show now, in one line, and not in the middle of somebody's work.
        found = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(found)

    def close(self) -> None:
        """Closes the database; the Store cannot be used afterwards."""
        self._db.close()

    def next_id(self, counter: str = "id", first: int = 1001) -> int:
        """The next number of a counter that never repeats, across restarts."""
        row = self._db.execute(
            "INSERT INTO counters VALUES (?, ?) "
            "ON CONFLICT(name) DO UPDATE SET value = value + 1 RETURNING value",
            (counter, first),
        ).fetchone()
        return int(row[0])

    def get(self, kind: str, name: str) -> Body | None:
        """The resource's body (a copy), or None."""
        row = self._db.execute(
            "SELECT body FROM resources WHERE kind = ? AND name = ?", (kind, name)
        ).fetchone()
        return json.loads(row[0]) if row else None

    def put(self, kind: str, name: str, body: Body) -> Body:
        """Writes the whole body and returns it; the resource keeps its place in listings."""
        self._db.execute(
            "INSERT INTO resources VALUES (?, ?, ?, ?) "
            "ON CONFLICT(kind, name) DO UPDATE SET body = excluded.body",
            (kind, name, json.dumps(body), self.next_id("seq", 1)),
        )
        return body

    def delete(self, kind: str, name: str) -> bool:
        """Removes the resource; False when it was not there."""
        return (
            self._db.execute(
                "DELETE FROM resources WHERE kind = ? AND name = ?", (kind, name)
            ).rowcount
            > 0
        )

    def list(self, kind: str, prefix: str = "") -> list[Body]:
        """Bodies of the resources whose name starts with `prefix`, in the order of creation."""
        rows = self._db.execute(
            "SELECT body FROM resources WHERE kind = ? AND name >= ? AND name < ? ORDER BY seq",
            (kind, prefix, prefix + "\U0010ffff"),
        )
        return [json.loads(row[0]) for row in rows]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes inside are kept, or none (an exception rolls back). Not to be nested."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
