"""`slipway up`: from nothing to an answer on this machine, and again without changing anything."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infra.errors import SlipwayError

if TYPE_CHECKING:
    from infra.descriptor import Descriptor
    from infra.manifest import AgentManifest
    from infra.plan import PlanSummary
    from infra.settings import Environment
    from scripts.progress import Progress
    from services.conversation import Answer
    from services.platform import RunningPlatform
    from services.release.bundle import Bundle
    from services.release.target import Target

ENVIRONMENT = "local"
USER = "maria"
FIRST = "I work on Western Europe. Always show me euros."
SECOND = "What did we spend on Acme Pure?"
MEMORY_SECONDS = 10.0
NEXT = f"""  slipway ask local "Acme Pure spend by region" --user {USER}
  slipway ask local "How much Acme Bold is in stock in the Nordics?" --user sam
  slipway status        what runs, and where
  slipway down          stops it; what it holds stays"""
NEXT_PARTIAL = "  slipway up            goes on to the end"


@click.command(
    "up", short_help="From nothing to an answer: provision, deploy and ask, on this machine."
)
@click.option(
    "--fresh", is_flag=True, help="Start from an empty platform: what the old one held is removed."
)
@click.option("--no-apply", is_flag=True, help="Stop before the infrastructure is applied.")
@click.option("--no-deploy", is_flag=True, help="Stop before the agents are packaged and deployed.")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Loopback port of the platform (default: a free one).",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the result as JSON, with the seconds of each step.",
)
@click.pass_obj
def command(
    root: Path, fresh: bool, no_apply: bool, no_deploy: bool, port: int | None, as_json: bool
) -> None:
    """Start the local platform, apply the local environment's infrastructure, deploy the agents and
    ask the router two questions.

    Run again, it changes only what differs from what is declared, and says so.
    """
    from infra import manifest, settings
    from scripts.progress import Progress

    run = Run(root, settings.load(root, ENVIRONMENT), manifest.load_all(root))
    with alone(root), Progress(quiet=as_json) as progress:
        try:
            run.platform_step(progress, fresh=fresh, port=port)
            if not no_apply:
                run.provision_and_deploy(progress, deploy=not no_deploy)
        except KeyboardInterrupt:
            raise SlipwayError(
                "interrupted; nothing is lost",
                where=f"slipway up, at {progress.last}",
                fix="slipway up goes on where it stopped",
            ) from None
    if as_json:
        click.echo(json.dumps(run.result([(s.name, s.seconds) for s in progress.steps]), indent=1))
    else:
        run.show()


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """Holds the checkout's `up` lock: two runs at once would undo each other's work."""
    from services.platform import home

    path = home(root) / "up.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.open("a+")
    except OSError as error:
        raise SlipwayError(
            f"cannot be written: {error.strerror}",
            where=str(error.filename or path),
            fix="make the folder writable, or set SLIPWAY_HOME to another one",
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise SlipwayError(
                f"another slipway up (pid {lock.read().strip() or 'unknown'}) works here",
                where=str(path),
                fix="wait until it has ended",
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def summary(plan: PlanSummary) -> str:
    """What a plan does, in a few words."""
    groups = {
        "created": plan.created,
        "adopted": plan.adopted,
        "changed": plan.changed,
        "replaced": plan.replaced,
        "destroyed": plan.destroyed,
    }
    said = [f"{len(addresses)} {what}" for what, addresses in groups.items() if addresses]
    return ", ".join(said) or "nothing to change"


@dataclass
class Run:
    """One `slipway up`: its steps in order, and what each of them found or changed."""

    root: Path
    env: Environment
    agents: dict[str, AgentManifest]
    platform: RunningPlatform | None = None
    started: bool = False
    applied: int | None = None
    release: str | None = None
    deployment: int | None = None
    deployed: tuple[str, ...] = ()
    update_seconds: float | None = None
    remembered: list[str] = field(default_factory=list)
    answers: list[tuple[str, Answer]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Whether anything was created, changed or asked."""
        return bool(self.started or self.applied or self.deployed or self.answers)

    @property
    def _answered(self) -> Path:
        """Marks that this very state of the platform has answered the two questions."""
        from services.platform import home

        return home(self.root) / "platform" / "answered"

    def platform_step(self, progress: Progress, *, fresh: bool, port: int | None) -> None:
        """Starts the platform, or finds the one that runs."""
        from services import platform

        with progress.step("platform") as step:
            if fresh:
                platform.stop(self.root)
                platform.wipe(self.root)
            self.platform, self.started = platform.start(self.root, progress.note, port=port)
            step.detail = f"{self.platform.endpoint} ({'started' if self.started else 'running'})"

    def provision_and_deploy(self, progress: Progress, *, deploy: bool) -> None:
        """Applies the infrastructure while the agents are packaged, then deploys and asks."""
        from services.connection import connect
        from services.release.target import read_descriptor
        from services.sdk import preload

        if deploy and not self._answered.exists():
            # The SDK takes a second to import and is needed to ask; the waiting below is enough.
            threading.Thread(target=preload, daemon=True).start()
        with ThreadPoolExecutor(max_workers=1) as pool:
            packing = pool.submit(self._package, progress) if deploy else None
            self._apply(progress)
            if packing is None:
                return
            target = connect(self.root, self.env)
            descriptor = read_descriptor(target)
            self._secrets(target, descriptor, progress)
            self._deploy(progress, target, descriptor, packing)
        self._ask(target, descriptor, progress)

    def _apply(self, progress: Progress) -> None:
        from services.provision import terraform

        with progress.step("infra") as step:
            step.say("synthesizing")
            with terraform(self.root, self.env, step.say) as run:
                step.say("planning")
                plan = run.plan()
                self.applied = plan.count
                if not plan.empty:
                    run.apply(plan)
                step.detail = summary(plan)

    def _package(self, progress: Progress) -> dict[str, Bundle]:
        from services.platform import home
        from services.release.packaging import package_all

        with progress.step("package") as step:
            bundles = package_all(self.root, self.agents, home(self.root) / "cache", step.say)
            step.detail = ", ".join(f"{name} {b.digest[:8]}" for name, b in bundles.items())
            return bundles

    def _secrets(self, target: Target, descriptor: Descriptor, progress: Progress) -> None:
        """Gives each declared secret a random first value: locally nobody has to know one."""
        from services.release.secrets import Vault

        ids = sorted(
            {secret for agent in self.agents.values() for secret in agent.secrets.values()}
        )
        with progress.step("secrets") as step:
            vault = Vault(target, descriptor)
            made = [secret for secret in ids if vault.ensure_generated(secret)]
            step.detail = (
                f"{', '.join(made)}: first value made" if made else "every one has a value"
            )

    def _deploy(
        self,
        progress: Progress,
        target: Target,
        descriptor: Descriptor,
        packing: Future[dict[str, Bundle]],
    ) -> None:
        from services.release.deploy import Wanted, deploy
        from services.release.site import Site

        wanted = Wanted(self.agents, packing.result())
        with progress.step("deploy") as step:
            done = deploy(self.root, Site(target, descriptor), wanted, step.say)
            self.release, self.deployment, self.deployed = done.release, done.number, done.changed
            self.update_seconds = done.seconds.get("update")
            step.detail = f"release {done.release} " + (
                f"on {', '.join(done.changed)} (deployment {done.number})"
                if done.changed
                else "is live on every engine"
            )

    def _ask(self, target: Target, descriptor: Descriptor, progress: Progress) -> None:
        """The two questions, unless this very state of the platform has answered them already."""
        from infra import manifest
        from services.conversation import Conversation

        if self._answered.exists() and not self.deployed:
            return
        front = manifest.front(self.agents)
        with progress.step("ask") as step, Conversation(target, descriptor, front) as conversation:
            step.say(FIRST)
            self.answers.append((FIRST, conversation.ask(FIRST, user=USER)))
            self.remembered = conversation.wait_for_memories(USER, MEMORY_SECONDS)
            step.say(SECOND)
            self.answers.append((SECOND, conversation.ask(SECOND, user=USER)))
            step.detail = f"{front.name}, as {USER}, in two conversations"
        self._answered.touch()

    def result(self, steps: list[tuple[str, float]]) -> dict[str, Any]:
        """What was done, as a JSON document."""
        return {
            "endpoint": self.platform.endpoint if self.platform else None,
            "changed": self.changed,
            "resources": self.applied,
            "release": self.release,
            "deployment": self.deployment,
            "deployed": list(self.deployed),
            "update_seconds": self.update_seconds,
            "remembered": self.remembered,
            "answers": [
                {
                    "question": question,
                    "answer": a.text,
                    "session": a.session,
                    "findings": list(a.findings),
                }
                for question, a in self.answers
            ],
            "steps": {name: round(seconds, 3) for name, seconds in steps},
        }

    def show(self) -> None:
        """Prints the conversations and what to try next."""
        from scripts import answers

        if not self.changed:
            click.echo("Everything is as declared; nothing was changed.")
        for number, (question, answer) in enumerate(self.answers):
            place = "in a new conversation " if number else ""
            click.secho(f"\n{USER} {place}› {question}", bold=True)
            answers.show(answer.text, answer.findings)
            if not number and self.remembered:
                click.secho(f"  remembered: {' · '.join(self.remembered)}", dim=True)
        click.echo("\nTry next:")
        if shutil.which("slipway") is None:
            activate = Path(sys.executable).with_name("activate")
            click.echo(f"  . {os.path.relpath(activate)}   puts slipway on your path")
        click.echo(NEXT if self.release else NEXT_PARTIAL)
