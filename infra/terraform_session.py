"""One run of Terraform over one environment's folder: prepared, initialized, locks lifted.

A run that was killed is repaired by the next one: its lock is lifted, and a state that could not be
stored is stored.
"""

from __future__ import annotations

import hashlib
import json
import socket
from functools import cached_property
from pathlib import Path
from typing import Any

from infra import adopt, state, terraform_choice, terraform_folder
from infra.endpoints import Endpoints
from infra.environment import Environment
from infra.errors import TerraformError
from infra.rest import Rest
from infra.terraform_errors import Refused, StateLock
from infra.terraform_folder import BACKEND, Connection
from infra.terraform_run import Core, Event, Say

INIT_MARK = "initialized"
# What `init` writes about the backend; damaged, it would stop every command.
BACKEND_STATE = Path(".terraform/terraform.tfstate")
# Where Terraform leaves a state that it could not store in the backend.
ERRORED = "errored.tfstate"
DONE = {"create": "created", "update": "changed", "delete": "destroyed", "import": "adopted"}


class Session:
    """Terraform's commands over one stack in one folder."""

    def __init__(
        self, stack_json: Path, workdir: Path, env: Environment, connection: Connection, say: Say
    ) -> None:
        """Starts nothing yet; the arguments are those of `Terraform`."""
        self._stack, self.workdir, self._env = stack_json, workdir, env
        self._connection, self._say = connection, say
        self._core: Core | None = None

    def close(self) -> None:
        """Ends the child process; a running command is cancelled first."""
        if self._core is not None:
            self._core.close()
            self._core = None

    def ready(self) -> Core:
        """The child over a prepared and initialized folder.

        Raises:
            TerraformError: no Terraform may run this, another run holds the folder, or the state's
                bucket cannot be reached.
        """
        if self._core is not None:
            return self._core
        folder, connection = self.workdir, self._connection
        environment = terraform_folder.environment(self._env, connection)
        here = self.place
        writer = state.written_by(self._env, here.endpoints.storage, here.rest)
        program = terraform_choice.choose(self._env, writer, folder)
        with terraform_folder.usable(folder):
            self._core = Core(
                folder, environment, program, self._say, endpoint=connection.platform_endpoint
            )
        try:
            mark = terraform_folder.write(folder, self._stack, connection, program)
            initialized = folder / INIT_MARK
            if _bytes(initialized) != f"{mark} {_digest(folder / BACKEND_STATE)}".encode():
                initialized.unlink(missing_ok=True)
                (folder / BACKEND_STATE).unlink(missing_ok=True)
                options = ("-input=false", "-reconfigure", f"-backend-config={BACKEND}")
                self.run("init", "-json", *options)
                initialized.write_text(f"{mark} {_digest(folder / BACKEND_STATE)}")
            if (folder / ERRORED).is_file():
                self._store_errored_state()
        except BaseException:
            self.close()
            raise
        return self._core

    def _store_errored_state(self) -> None:
        """Stores the state that a run of before could not, as when the platform died under it."""
        path = self.workdir / ERRORED
        self._say("storing the state that the last run could not store")
        try:
            self.run("state", "push", ERRORED)
        except Refused as refusal:
            # A newer state is there: this one is history, and is kept only for a person to look at.
            self._say(f"a newer state is there already ({refusal.what})")
        path.replace(path.with_suffix(".old"))

    def value(self, *command: str) -> dict[str, Any]:
        """The JSON document that a command prints."""
        return _document(self.run(*command))

    def run(self, *command: str) -> list[Event]:
        """Runs one command to its end; a lock that a killed run of ours left is lifted once.

        Raises:
            Refused: it failed.
        """
        try:
            return self._attempt(*command)
        except Refused as refusal:
            if refusal.lock is None:
                raise
            self._lift(refusal.lock)
        return self._attempt(*command)

    def _attempt(self, *command: str) -> list[Event]:
        assert self._core is not None
        events: list[Event] = []
        try:
            for event in self._core.run(command):
                events.append(event)
                self._tell(event)
        except KeyboardInterrupt:
            self.close()
            raise
        ended = events.pop()
        if ended["code"] != 0:
            problems = [e["diagnostic"] for e in events if e["type"] == "diagnostic"]
            problems += _document(events).get("diagnostics", [])
            errors = [problem for problem in problems if problem["severity"] == "error"]
            raise Refused(command[0], errors, ended["errors"])
        return events

    def _lift(self, lock: StateLock) -> None:
        """Lifts the state's lock if the run that took it was ours and is dead.

        It was, when the last run in this folder was killed (we hold the folder, so nothing of ours
        lives), and the lock was taken on this host after that run had begun.
        """
        assert self._core is not None
        broken = self._core.broken
        host = lock.who.rpartition("@")[2]
        ours = broken is not None and lock.created_at >= float(broken["started"]) - 2
        if not ours or host != socket.gethostname():
            raise TerraformError(
                f"the state is locked by {lock.who} ({lock.operation}, since {lock.created})",
                where=lock.path,
                fix="wait until that run has ended; if it is dead, delete the lock object",
            )
        self._say(f"lifting the state's lock of a killed run ({lock.operation}, {lock.created})")
        self._attempt("force-unlock", "-force", lock.id)

    def _tell(self, event: Event) -> None:
        """Reports what was done to a resource, and what takes long."""
        if event["type"] == "apply_complete":
            hook = event["hook"]
            verb = DONE.get(hook["action"], hook["action"])
            self._say(f"{hook['resource']['addr']}: {verb}")
        elif event["type"] == "apply_progress":
            self._say(event["@message"])

    @cached_property
    def place(self) -> adopt.Place:
        """The environment's APIs, as Terraform itself reaches them."""
        base, token = self._connection.platform_endpoint, self._connection.access_token
        if base is None:
            import google.auth

            credentials, _ = google.auth.default(scopes=[adopt.SCOPE])
            return adopt.Place(self._env, Endpoints.google(self._env.region), Rest(credentials))
        from google.oauth2.credentials import Credentials

        return adopt.Place(self._env, Endpoints.at(base), Rest(Credentials(token)))


def _document(events: list[Event]) -> dict[str, Any]:
    """The JSON document among the events of a command that prints one; {} when there is none."""
    try:
        document = json.loads("".join(e["text"] for e in events if e["type"] == "text"))
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _digest(path: Path) -> str:
    return hashlib.sha256(_bytes(path)).hexdigest()
