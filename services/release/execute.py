"""Carries out a plan: all of it, or none of it.

    pin      traffic stays at the revisions that serve, whatever is deployed meanwhile
    update   one PATCH for each engine that differs, side by side, each read back
    verify   each new revision is asked what it runs from, and its smoke question
    move     traffic goes to the new revisions: those that are called first, their callers last

A step that is done already is not done again, so a deployment that was killed is finished by
carrying out the same plan once more. When a step fails, the engines go back to what they served:
traffic at once, then the spec, so that no engine keeps a spec that does not serve.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from infra.errors import RemoteError
from services.release import causes, spec, traffic, verify, waiting
from services.release.bundle import Bundle
from services.release.journal import Journal
from services.release.lease import Held
from services.release.parallel import side_by_side
from services.release.plan import AgentPlan, Plan, compare
from services.release.transport import Transport
from services.release.waiting import wait

AT_ONCE = 8
"""Engines that are worked on side by side."""

Say = Callable[[str], None]
Step = Callable[[AgentPlan], None]


@dataclass(frozen=True)
class Execution:
    """One deployment that runs. `stored` gives a release's bundle of one agent."""

    transport: Transport
    plan: Plan
    journal: Journal
    lease: Held
    stored: Callable[[str, str], Bundle]
    say: Say
    keep_going: bool = False
    canary: int | None = None
    """Percent of the traffic for the new revisions, until somebody finishes it; None: all."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Of each step, once it has ended."""
    _sent: dict[str, float] = field(default_factory=dict)
    """When each agent's update was sent, by the monotonic clock."""

    def run(self) -> None:
        """Does every step; on a failure, goes back first.

        Raises:
            RemoteError: at least one engine failed; all that failed are named.
        """
        going = list(self.plan.changed)
        failures: dict[str, Exception] = {}
        steps: list[tuple[Step, Sequence[AgentPlan]]] = [
            (self._pin, going),
            (self._update, going),
            (self._verify, going),
            *((self._share if self.canary else self._move, wave) for wave in _waves(going)),
        ]
        for step, agents in steps:
            started, name = time.monotonic(), step.__name__.strip("_")
            failures |= self._side_by_side(step, [a for a in agents if a.agent not in failures])
            self.seconds[name] = round(self.seconds.get(name, 0) + time.monotonic() - started, 3)
            if failures and not self.keep_going:
                break
        if not failures:
            return
        back = [a for a in going if not self.keep_going or a.agent in failures]
        self._go_back(back, failures)
        raise _told(failures, self.plan.environment)

    def restore(self) -> None:
        """Brings every engine of the plan back to what it served before.

        Raises:
            RemoteError: an engine could not be brought back.
        """
        self._go_back(list(self.plan.agents), {})

    def _pin(self, agent: AgentPlan) -> None:
        before = agent.before
        if before.spec is None or not agent.spec_changes:
            return
        live = self.transport.engine(agent.engine)
        if agent.kept is not None and self._serve_kept(agent, agent.kept, live):
            return
        if traffic.of(live) or not compare(live.get("spec") or {}, agent.spec):
            return
        serving = self.transport.revisions(agent.engine)
        if serving:
            self._split(agent, {str(serving[0]["name"]): 100})

    def _serve_kept(self, agent: AgentPlan, kept: str, live: Mapping[str, Any]) -> bool:
        """A revision that has all that is wanted serves at once, if it proves whole; whether so."""
        number = kept.rpartition("/")[2]
        try:
            verify.require(agent, verify.facts(self.transport, agent, kept))
        except RemoteError as error:
            self.say(f"{agent.agent}: revision {number} cannot serve meanwhile: {error.what}")
            return False
        if traffic.of(live) != (split := {kept: 100}):
            self._split(agent, split)
        self.say(f"{agent.agent}: revision {number} serves again; the engine's spec follows")
        return True

    def _update(self, agent: AgentPlan) -> None:
        live = self.transport.engine(agent.engine)
        if not compare(live.get("spec") or {}, agent.spec):
            return
        started = time.monotonic()
        self.say(f"{agent.agent}: updating")
        self._deploy(agent, agent.spec, agent.bundle, live.get("etag"))
        self.journal.note(agent.agent, seconds=round(time.monotonic() - started, 3))

    def _verify(self, agent: AgentPlan) -> None:
        started = time.monotonic()
        revision = str(self.transport.revisions(agent.engine)[0]["name"])
        found = verify.facts(self.transport, agent, revision)
        self.journal.note(agent.agent, revision=revision, facts=found)
        verify.require(agent, found)
        known = self.journal.deployment.agents[agent.agent].seconds or 0.0
        self.say(f"{agent.agent}: ready after {known + time.monotonic() - started:.1f} s")

    def _share(self, agent: AgentPlan) -> None:
        """Gives the new revision its part of the traffic; the one that serves keeps the rest."""
        assert self.canary is not None
        new = str(self.journal.deployment.agents[agent.agent].revision)
        serving = traffic.of(self.transport.engine(agent.engine))
        old = next((name for name in serving if name != new), None)
        if old is None:
            raise RemoteError(
                f"{agent.agent} serves nothing beside which a canary could run",
                where=agent.engine,
                fix="deploy it without --canary",
            )
        self._split(agent, {old: 100 - self.canary, new: self.canary})

    def _move(self, agent: AgentPlan) -> None:
        if traffic.of(self.transport.engine(agent.engine)):
            self._split(agent, traffic.LATEST)

    def _split(self, agent: AgentPlan, split: traffic.Split) -> None:
        self.lease.require()
        put_traffic(self.transport, agent.agent, agent.engine, split)

    def _deploy(
        self, agent: AgentPlan, wanted: Mapping[str, Any], bundle: Bundle, etag: str | None
    ) -> None:
        self.lease.require()
        self._sent[agent.agent] = time.monotonic()
        operation = self.transport.patch_spec(agent.engine, wanted, bundle.archive, etag)
        self.journal.note(agent.agent, operation=str(operation["name"]))
        done = wait(self.transport, operation)
        if error := done.get("error"):
            raise _refused(agent.agent, agent.engine, error)
        left = compare(self.transport.engine(agent.engine).get("spec") or {}, wanted)
        if left:
            named = "; ".join(f"{c.field} is {c.live!r}, not {c.wanted!r}" for c in left[:4])
            raise RemoteError(
                f"the update of {agent.agent} succeeded, but the engine differs from what was "
                f"sent: {named}",
                where=agent.engine,
                fix="run the same command again; if it stays, another tool writes this engine",
            )

    def _side_by_side(self, step: Step, agents: Iterable[AgentPlan]) -> dict[str, Exception]:
        calls = {agent.agent: partial(step, agent) for agent in agents}
        results = side_by_side(calls, at_most=AT_ONCE)
        failures = {name: r for name, r in results.items() if isinstance(r, Exception)}
        for name, failure in failures.items():
            self.say(f"{name}: failed")
            self.journal.note(name, error=getattr(failure, "what", repr(failure)))
        return failures

    def _go_back(self, agents: Sequence[AgentPlan], failures: Mapping[str, Exception]) -> None:
        """Callers first, then those they call; what cannot be brought back is said."""
        stuck: dict[str, Exception] = {}
        for wave in reversed(_waves(agents)):
            stuck |= self._side_by_side(self._back, wave)
        if stuck:
            raise _told({**failures, **stuck}, self.plan.environment)

    def _back(self, agent: AgentPlan) -> None:
        # An update that is still under way would land after we looked.
        since = time.monotonic() - self._sent.get(agent.agent, float("-inf"))
        operation = self.journal.deployment.agents[agent.agent].operation
        time_left = max(0.0, waiting.DEADLINE_SECONDS - since)
        waiting.quiet(self.transport, agent.engine, operation, lambda _: time_left)
        before, live = agent.before, self.transport.engine(agent.engine)
        if before.spec is None:
            if live.get("spec"):
                self.say(f"{agent.agent}: served nothing before; what is there stays")
            return
        if compare(live.get("spec") or {}, before.spec):
            self._serve_before(agent, live)
            bundle = self.stored(str(before.release), agent.agent)
            self._deploy(agent, before.spec, bundle, None)
        if traffic.of(self.transport.engine(agent.engine)) != dict(before.traffic):
            self._split(agent, before.traffic)
        self.journal.note(agent.agent, restored=True)
        self.say(f"{agent.agent}: serves again what it served before")

    def _serve_before(self, agent: AgentPlan, live: Mapping[str, Any]) -> None:
        """Traffic goes to the revision of before at once, if it is still there."""
        wanted = agent.before.bundle
        for revision in self.transport.revisions(agent.engine):
            if spec.declared(revision.get("spec")).bundle == wanted:
                split = {str(revision["name"]): 100}
                if traffic.of(live) != split:
                    self._split(agent, split)
                return


def put_traffic(transport: Transport, agent: str, engine: str, split: traffic.Split) -> None:
    """Splits an engine's traffic, and reads it back.

    Raises:
        RemoteError: the API refused, or the engine has another split afterwards.
    """
    done = wait(transport, transport.patch_traffic(engine, split))
    if error := done.get("error"):
        raise _refused(agent, engine, error)
    left = traffic.of(transport.engine(engine))
    if left != dict(split):
        raise RemoteError(
            f"traffic of {agent} is {traffic.text(left)}, not {traffic.text(split)}",
            where=engine,
            fix="run the same command again; if it stays, another tool writes this engine",
        )


def _waves(agents: Sequence[AgentPlan]) -> list[list[AgentPlan]]:
    """The agents by wave, those that are called first."""
    return [[a for a in agents if a.wave == wave] for wave in sorted({a.wave for a in agents})]


def _refused(agent: str, engine: str, error: Mapping[str, Any]) -> RemoteError:
    """The operation's own words, which end with the log's last lines, and the likely cause."""
    words = str(error.get("message"))
    told = f"the update of {agent} failed (code {error.get('code')}): {words}"
    fix = f"correct agents/{agent}, then run the same command again"
    if known := causes.likely(words):
        told, fix = f"{told}\nlikely: {known[0]}", known[1]
    return RemoteError(told, where=engine, fix=f"{fix}; the engine serves what it served before")


def _told(failures: Mapping[str, Exception], environment: str) -> Exception:
    unforeseen = [error for error in failures.values() if not isinstance(error, RemoteError)]
    if unforeseen or len(failures) == 1:
        return next(iter(unforeseen or failures.values()))
    told = [f"{e.where}: {e.what}" for e in failures.values() if isinstance(e, RemoteError)]
    return RemoteError(
        "\n".join([f"{len(failures)} agents failed", *told]),
        where=environment,
        fix="correct what is named above, then run the same command again; "
        "an engine that failed serves what it served before",
    )
