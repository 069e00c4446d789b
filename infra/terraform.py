"""Runs Terraform over one environment's stack and reports it: init, plan, apply, destroy, output.

Plans are saved, and applied as saved. State lies in the stack's `gcs` backend, on the local
platform too. A run that was killed is repaired by the next one: its lock is lifted, a state that
could not be stored is stored, and what it had made already is taken over (infra/adopt.py).
"""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from infra import adopt, terraform_folder
from infra.endpoints import Endpoints
from infra.errors import TerraformError
from infra.plan import PlanSummary, drifted, summarize
from infra.rest import Rest
from infra.settings import Environment
from infra.terraform_errors import Refused, StateLock
from infra.terraform_folder import ADOPT, BACKEND, STACK, Connection
from infra.terraform_run import Core, Event, Say

__all__ = ["Connection", "PlanSummary", "Terraform"]

PLAN, INIT_MARK = "plan.bin", "initialized"
# Where Terraform leaves a state that it could not store in the backend.
ERRORED = "errored.tfstate"
DONE = {"create": "created", "update": "changed", "delete": "destroyed", "import": "adopted"}


class Terraform:
    """Terraform over one stack in one folder. A context manager: leaving it ends the child."""

    def __init__(
        self, stack_json: Path, workdir: Path, env: Environment, connection: Connection, say: Say
    ) -> None:
        """Starts nothing yet.

        Args:
            stack_json: the synthesized stack, `cdk.tf.json`.
            workdir: a folder of this stack's own; made when it is not there.
            say: takes one line of progress.
        """
        self._stack, self._workdir, self._env = stack_json, workdir, env
        self._connection, self._say = connection, say
        self._core: Core | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the child process; a running command is cancelled first."""
        if self._core is not None:
            self._core.close()
            self._core = None

    def init(self) -> None:
        """Prepares the folder and the backend; what is done already is not done again.

        Raises:
            TerraformError: another run holds the folder, or the state's bucket cannot be reached.
        """
        self._ready()

    def plan(self) -> PlanSummary:
        """Plans, and saves the plan in the folder.

        After a killed run, what it had made is planned to be adopted instead of created.

        Raises:
            TerraformError: as Terraform says it.
        """
        core = self._ready()
        (self._workdir / ADOPT).unlink(missing_ok=True)
        summary = self._plan()
        if core.broken and summary.created:
            return self._adopting(summary)
        if summary.empty:
            core.mended()
        return summary

    def apply(self, plan: PlanSummary) -> tuple[str, ...]:
        """Applies a saved plan; returns the addresses that were changed.

        What turns out to exist already, and is provably ours, is taken over in a second go.

        Raises:
            TerraformError: as Terraform says it; what was done until then is in the state.
        """
        core = self._ready()
        try:
            done = self._change("apply", plan.path.name)
        except Refused as refusal:
            if not refusal.conflict:
                raise
            again = self._adopting(self._plan())
            if not again.adopted:
                raise
            done = self._change("apply", again.path.name)
        (self._workdir / ADOPT).unlink(missing_ok=True)
        core.mended()
        return done

    def destroy(self) -> tuple[str, ...]:
        """Destroys everything in the state; returns the addresses.

        Raises:
            TerraformError: as Terraform says it, such as for a resource that must not be deleted.
        """
        self._ready()
        return self._change("destroy", "-auto-approve")

    def output(self) -> dict[str, Any]:
        """The outputs of the last apply, by name."""
        self._ready()
        found = self._value("output", "-json")
        return {name: entry["value"] for name, entry in found.items()}

    def _ready(self) -> Core:
        """The child over a prepared and initialized folder."""
        if self._core is not None:
            return self._core
        folder, connection = self._workdir, self._connection
        environment = terraform_folder.environment(self._env, connection)
        with terraform_folder.usable(folder):
            self._core = Core(folder, environment, self._say, endpoint=connection.platform_endpoint)
        try:
            mark = terraform_folder.write(folder, self._stack, connection)
            initialized = folder / INIT_MARK
            if not (initialized.is_file() and initialized.read_text() == mark):
                initialized.unlink(missing_ok=True)
                options = ("-input=false", "-reconfigure", f"-backend-config={BACKEND}")
                self._run("init", "-json", *options)
                initialized.write_text(mark)
            if (folder / ERRORED).is_file():
                self._store_errored_state()
        except BaseException:
            self.close()
            raise
        return self._core

    def _plan(self) -> PlanSummary:
        events = self._run("plan", "-json", "-input=false", f"-out={PLAN}")
        summary = summarize(self._workdir / PLAN, events)
        if not summary.drifted:
            return summary
        # Terraform tells of what the server computes anew as well, such as the time of an update.
        drift = self._value("show", "-json", PLAN).get("resource_drift", [])
        stack = json.loads((self._workdir / STACK).read_text(encoding="utf-8"))
        return replace(summary, drifted=drifted(drift, stack))

    def _change(self, command: str, *arguments: str) -> tuple[str, ...]:
        """Runs a command that changes something; returns the addresses as they were completed."""
        events = self._run(command, "-json", "-input=false", *arguments)
        done = [e["hook"]["resource"]["addr"] for e in events if e["type"] == "apply_complete"]
        return tuple(dict.fromkeys(done))

    def _adopting(self, summary: PlanSummary) -> PlanSummary:
        """The plan again, with what exists already and is ours imported instead of created."""
        changes = self._value("show", "-json", PLAN)["resource_changes"]
        created = [
            adopt.Planned(change["address"], change["type"], change["change"]["after"])
            for change in changes
            if change["address"] in summary.created
        ]
        found = adopt.find(created, self._place())
        if not found:
            return summary
        for item in found:
            self._say(f"{item.address}: exists already and is ours ({item.proof})")
        imports = [{"to": item.address, "id": item.id} for item in found]
        (self._workdir / ADOPT).write_text(json.dumps({"import": imports}, indent=1))
        again = self._plan()
        if lost := set(again.adopted) & {*again.replaced, *again.destroyed}:
            raise TerraformError(
                "it exists already and is ours, but would have to be destroyed and made anew",
                where=min(lost),
                fix="change its declaration back to what is there, or delete it by hand",
            )
        return again

    def _place(self) -> adopt.Place:
        """The environment's APIs, as Terraform itself reaches them."""
        base, token = self._connection.platform_endpoint, self._connection.access_token
        if base is None:
            import google.auth

            credentials, _ = google.auth.default(scopes=[adopt.SCOPE])
            return adopt.Place(self._env, Endpoints.google(self._env.region), Rest(credentials))
        from google.oauth2.credentials import Credentials

        return adopt.Place(self._env, Endpoints.at(base), Rest(Credentials(token)))

    def _store_errored_state(self) -> None:
        """Stores the state that a run of before could not, as when the platform died under it."""
        path = self._workdir / ERRORED
        self._say("storing the state that the last run could not store")
        try:
            self._run("state", "push", ERRORED)
        except Refused as refusal:
            # A newer state is there: this one is history, and is kept only for a person to look at.
            self._say(f"a newer state is there already ({refusal.what})")
        path.replace(path.with_suffix(".old"))

    def _value(self, *command: str) -> dict[str, Any]:
        """The JSON document that a command prints."""
        events = self._run(*command)
        value: dict[str, Any] = json.loads(
            "".join(e["text"] for e in events if e["type"] == "text")
        )
        return value

    def _run(self, *command: str) -> list[Event]:
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
