"""Deployments, rollbacks, kills, expired leases, drift and a second deployer, in any order.

A model says what should be live. A short run by default; a long one by

    SLIPWAY_STEPS=10000 .venv/bin/pytest tests/faults/test_machine.py
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from infra.errors import RemoteError
from services.release import journal, lease, recovery, rollback
from tests.faults.test_deploy_matrix import CALLS, killed, served, turn
from tests.release.checkouts import write_checkout
from tests.release.worlds import World, api, make

STEPS = int(os.environ.get("SLIPWAY_STEPS", "16"))
STEPS_IN_ONE = 50
Pair = tuple[str, str]
# What only a deployment that finds something to do reaches.
DEADLY = sorted(set(CALLS) - {"ask a revision", "list versions of a secret"})


class Deployments(RuleBasedStateMachine):
    """One environment; `live` is what the model says that both agents answer."""

    make_world: Callable[[], World]

    def __init__(self) -> None:
        super().__init__()
        self.world = type(self).make_world()
        self.world.deploy()
        self.live = self.desired = served(self.world)
        self.pairs: dict[str, Pair] = {self.last().release: self.live}
        self.drifted = False

    def last(self) -> journal.Deployment:
        return journal.history(self.world.site.control, 1)[0]

    @property
    def unfinished(self) -> journal.Deployment | None:
        found = recovery.unfinished(self.world.site)
        return found.deployment if found is not None else None

    def deployed(self) -> None:
        self.live, self.drifted = self.desired, False
        # Where nothing differed, the last one on record may be one that was interrupted.
        if (last := self.last()).status == "succeeded":
            self.pairs[last.release] = self.live

    @rule()
    def change_the_checkout(self) -> None:
        self.desired = turn(self.world)

    @rule()
    def deploy(self) -> None:
        self.world.deploy()
        self.deployed()

    @rule()
    def roll_back(self) -> None:
        before = [d for d in journal.history(self.world.site.control) if d.status == "succeeded"]
        if not any(d.release != before[0].release for d in before):
            return
        plan, _ = rollback.rollback(self.world.site, None, lambda line: None)
        self.live, self.drifted = self.pairs[plan.release], False

    @precondition(lambda self: self.unfinished is None and self.desired != self.live)
    @rule(call=st.sampled_from(DEADLY), when=st.sampled_from(["before", "after"]))
    def die(self, call: str, when: str) -> None:
        killed(self.world, call, when)
        found = self.last()
        self.pairs.setdefault(found.release, self.desired)
        if found.status == "succeeded":
            self.live, self.drifted = self.pairs[found.release], False

    @precondition(lambda self: self.unfinished is not None)
    @rule()
    def resume(self) -> None:
        done = recovery.resume(self.world.site, lambda line: None)
        self.live, self.drifted = self.pairs[done.release], False

    @precondition(lambda self: self.unfinished is not None)
    @rule()
    def abort(self) -> None:
        recovery.abort(self.world.site, lambda line: None)

    @rule()
    def drift(self) -> None:
        engine = self.world.descriptor.engines["supply"].name
        spec = self.world.engine("supply")["spec"]
        env = [e for e in spec["deploymentSpec"]["env"] if e["name"] != "BY_HAND"]
        env.append({"name": "BY_HAND", "value": "1"})
        path = f"{engine}?updateMask=spec.deployment_spec.env"
        operation = api(
            self.world.target, "PATCH", path, {"spec": {"deploymentSpec": {"env": env}}}
        )
        api(self.world.target, "GET", operation["name"])
        self.drifted = True

    @rule()
    def somebody_else_deploys(self) -> None:
        differs = self.drifted or self.desired != self.live or self.unfinished is not None
        with lease.acquire(self.world.bucket("control"), "another deploy"):
            if differs:
                with pytest.raises(RemoteError, match="another deploy"):
                    self.world.deploy()

    @rule()
    def a_lease_runs_out(self) -> None:
        held = lease.acquire(self.world.bucket("control"), "deploy", seconds=0.01)
        document = held.lease.model_copy(update={"machine": "another"})
        data = document.model_dump_json().encode()
        control = self.world.bucket("control")
        assert control.write(lease.PATH, data, "application/json", generation=held.generation)

    @invariant()
    def one_of_them_is_whole(self) -> None:
        """Between a kill and its repair, traffic may have moved for one agent alone."""
        if self.unfinished is None:
            assert served(self.world) == self.live
        else:
            assert set(served(self.world)) <= {"vanilla", "cherry", "hello", "hallo"}

    def teardown(self) -> None:
        """Whatever happened, a plain deployment ends it all."""
        self.world.deploy()
        assert served(self.world) == self.desired
        assert self.unfinished is None
        assert self.world.bucket("control").read(lease.PATH) is None


def test_any_order_ends_as_the_model_says(cache: Path, platform: str) -> None:
    def make_world() -> World:
        root = write_checkout(Path(tempfile.mkdtemp(prefix="machine-")) / "checkout")
        return make(root, cache, platform, f"acme-{uuid.uuid4().hex[:12]}")

    machine = type("Machine", (Deployments,), {"make_world": staticmethod(make_world)})
    each = min(STEPS, STEPS_IN_ONE)
    run_machine(
        machine,
        settings=settings(
            max_examples=max(1, STEPS // each),
            stateful_step_count=each,
            deadline=None,
            database=None,
            derandomize=STEPS == 16,
            suppress_health_check=list(HealthCheck),
        ),
    )
