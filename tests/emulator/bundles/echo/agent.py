"""A plain object as entry point: says what it was started with, streams, fails when told to."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any


class Echo:
    """Has a method of each kind that the runtime knows."""

    version = "1"

    def set_up(self) -> None:
        """Called once, before it serves."""
        self.ready = True

    def query(self, text: str = "") -> dict[str, Any]:
        """Repeats the text, and tells the version."""
        return {"text": text, "version": self.version, "ready": self.ready}

    async def async_query(self, text: str) -> str:
        """A coroutine."""
        return text.upper()

    def stream_query(self, text: str) -> Iterator[dict[str, str]]:
        """The words, one by one, slowly if the text says so."""
        for word in text.split():
            time.sleep(0.3 if word == "slow" else 0)
            yield {"word": word, "version": self.version}

    async def async_stream_query(self, text: str) -> AsyncIterator[dict[str, str]]:
        """The words; `fail` raises after those before it."""
        for word in text.split():
            if word == "fail":
                raise ValueError("told to")
            yield {"word": word}

    def surroundings(self) -> dict[str, Any]:
        """What the process is given, and whether the kit can be imported."""
        kit = {name: bool(importlib.util.find_spec(name)) for name in ("infra", "services")}
        return {
            "pid": os.getpid(),
            "env": dict(os.environ),
            "cwd": str(Path.cwd()),
            "path": sys.path,
            "kit": kit,
        }

    def token(self) -> dict[str, str]:
        """A token of Application Default Credentials, and the project they name."""
        import google.auth
        import google.auth.transport.requests

        scopes = ["https://www.googleapis.com/auth/cloud-platform"]
        credentials, project = google.auth.default(scopes=scopes)
        credentials.refresh(google.auth.transport.requests.Request())
        email = credentials.service_account_email
        return {"token": credentials.token, "project": project, "email": email}

    def crash(self) -> None:
        """Ends the process at once."""
        os._exit(7)

    def hidden(self) -> str:
        """Not among the class methods."""
        return "must not be reached"


app = Echo()
