"""Deployments in a process of their own, which dies before they end.

`python -m tests.release.killing WORLD` deploys a World, given as JSON.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from infra.descriptor import Descriptor
from tests.release.targets import target_at
from tests.release.worlds import World


def told(world: World) -> str:
    """A World as JSON, for another process."""
    return json.dumps(
        {
            "endpoint": world.target.endpoints.agent_runtime,
            "project": world.target.environment.project,
            "descriptor": world.descriptor.model_dump(),
            "root": str(world.root),
            "cache": str(world.cache),
        }
    )


def heard(text: str) -> World:
    """The World that another process told."""
    found = json.loads(text)
    target = target_at(found["endpoint"], project=found["project"])
    descriptor = Descriptor.model_validate(found["descriptor"])
    return World(Path(found["root"]), Path(found["cache"]), target, descriptor)


def kill_at_operation(world: World, number: int, agent: str) -> None:
    """Deploys, and kills the process once the agent's operation is on record."""
    process = subprocess.Popen([sys.executable, "-m", "tests.release.killing", told(world)])
    control, end = world.bucket("control"), time.monotonic() + 30
    while time.monotonic() < end:
        stored = control.read(f"deployments/{number:04}.json")
        if stored and json.loads(stored.data)["agents"][agent]["operation"]:
            break
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    heard(sys.argv[1]).deploy()
