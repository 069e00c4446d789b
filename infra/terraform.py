"""Runs Terraform over one environment's stack and reports it: plan, apply, destroy and the rest.

Plans are saved, and applied as saved. State lies in the stack's `gcs` backend, on the local
platform too. What a killed run had made already is taken over by the next one (infra/adopt.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from infra import adopt
from infra.environment import Environment
from infra.errors import TerraformError
from infra.plan import PlanSummary, changed_fields, drifted, drifted_fields, summarize
from infra.terraform_errors import Refused
from infra.terraform_folder import ADOPT, STACK, Connection
from infra.terraform_run import Say
from infra.terraform_session import Session

__all__ = ["Connection", "Drift", "PlanSummary", "Terraform"]

PLAN = "plan.bin"


@dataclass(frozen=True)
class Drift:
    """A resource that was changed behind Terraform's back; `fields` is ("*",) when it is gone."""

    address: str
    fields: tuple[str, ...]


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
        self._session = Session(stack_json, workdir, env, connection, say)
        self._workdir, self._say = workdir, say

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session.close()

    def init(self) -> None:
        """Prepares the folder and the backend; what is done already is not done again.

        Raises:
            TerraformError: another run holds the folder, or the state's bucket cannot be reached.
        """
        self._session.ready()

    def validate(self) -> None:
        """Lets Terraform and the provider check the stack; nothing is read but their schemas.

        Raises:
            TerraformError: with what is wrong.
        """
        self._session.ready()
        self._session.run("validate", "-json")

    def plan(self) -> PlanSummary:
        """Plans, and saves the plan in the folder.

        After a killed run, what it had made is planned to be adopted instead of created.

        Raises:
            TerraformError: as Terraform says it.
        """
        core = self._session.ready()
        (self._workdir / ADOPT).unlink(missing_ok=True)
        summary = self._plan()
        if core.broken and summary.created:
            return self._adopting(summary)
        if summary.empty:
            core.mended()
        return summary

    def recover(self) -> PlanSummary:
        """Plans after the state was lost: what exists and is provably ours is adopted.

        Raises:
            TerraformError: as Terraform says it, or something of that name is not ours.
        """
        self._session.ready()
        (self._workdir / ADOPT).unlink(missing_ok=True)
        summary = self._plan()
        return self._adopting(summary) if summary.created else summary

    def take_over(self, address: str, id_: str) -> PlanSummary:
        """Plans to take something that exists into the state, at `address`.

        Raises:
            TerraformError: as Terraform says it, or it would have to be made anew.
        """
        self._session.ready()
        return self._importing({address: id_})

    def apply(self, plan: PlanSummary) -> tuple[str, ...]:
        """Applies a saved plan; returns the addresses that were changed.

        What turns out to exist already, and is provably ours, is taken over in a second go.

        Raises:
            TerraformError: as Terraform says it; what was done until then is in the state.
        """
        core = self._session.ready()
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
        self._session.ready()
        return self._change("destroy", "-auto-approve")

    def drift(self) -> tuple[Drift, ...]:
        """What was changed behind Terraform's back since the last apply; changes nothing.

        Raises:
            TerraformError: as Terraform says it.
        """
        self._session.ready()
        self._session.run("plan", "-json", "-input=false", "-refresh-only", f"-out={PLAN}")
        found = self._shown().get("resource_drift", [])
        stack = self._stack()
        each = (Drift(change["address"], drifted_fields(change, stack)) for change in found)
        return tuple(sorted((item for item in each if item.fields), key=lambda item: item.address))

    def output(self) -> dict[str, Any]:
        """The outputs of the last apply, by name."""
        self._session.ready()
        found = self._session.value("output", "-json")
        return {name: entry["value"] for name, entry in found.items()}

    def held(self) -> tuple[str, ...]:
        """Addresses of everything in the state, sorted."""
        self._session.ready()
        values = self._session.value("show", "-json").get("values") or {}
        resources = values.get("root_module", {}).get("resources", [])
        return tuple(sorted(resource["address"] for resource in resources))

    def _plan(self) -> PlanSummary:
        events = self._session.run("plan", "-json", "-input=false", f"-out={PLAN}")
        summary = summarize(self._workdir / PLAN, events)
        if summary.changed or summary.replaced or summary.drifted:
            shown = self._shown()
            summary = replace(summary, fields=changed_fields(shown.get("resource_changes", [])))
            if summary.drifted:
                # Terraform tells of what the server computes anew as well, such as a time.
                drift = drifted(shown.get("resource_drift", []), self._stack())
                summary = replace(summary, drifted=drift)
        return summary

    def _shown(self) -> dict[str, Any]:
        return self._session.value("show", "-json", PLAN)

    def _stack(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = json.loads((self._workdir / STACK).read_text(encoding="utf-8"))
        return found

    def _change(self, command: str, *arguments: str) -> tuple[str, ...]:
        """Runs a command that changes something; returns the addresses as they were completed."""
        events = self._session.run(command, "-json", "-input=false", *arguments)
        done = [e["hook"]["resource"]["addr"] for e in events if e["type"] == "apply_complete"]
        return tuple(dict.fromkeys(done))

    def _adopting(self, summary: PlanSummary) -> PlanSummary:
        """The plan again, with what exists already and is ours imported instead of created."""
        created = [
            adopt.Planned(change["address"], change["type"], change["change"]["after"])
            for change in self._shown()["resource_changes"]
            if change["address"] in summary.created
        ]
        found = adopt.find(created, self._session.place)
        if not found:
            return summary
        for item in found:
            self._say(f"{item.address}: exists already and is ours ({item.proof})")
        return self._importing({item.address: item.id for item in found})

    def _importing(self, ids: Mapping[str, str]) -> PlanSummary:
        """The plan with these imported, by address; nothing of them may be lost by it."""
        imports = [{"to": address, "id": id_} for address, id_ in ids.items()]
        (self._workdir / ADOPT).write_text(json.dumps({"import": imports}, indent=1))
        again = self._plan()
        if lost := set(again.adopted) & {*again.replaced, *again.destroyed}:
            address = min(lost)
            forced = ", ".join(again.fields.get(address, ()))
            raise TerraformError(
                f"it exists already, but would have to be destroyed and made anew ({forced})",
                where=address,
                fix="change its declaration back to what is there, or delete it by hand",
            )
        return again
