"""The lease: one holder, named to the others; over when its time is, or its process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from infra.errors import RemoteError
from services.release import lease
from services.release.records import Bucket
from tests.release.worlds import World


@pytest.fixture
def bucket(world: World) -> Bucket:
    return world.bucket("control")


def document(bucket: Bucket) -> Any:
    stored = bucket.read(lease.PATH)
    return json.loads(stored.data) if stored else None


def forge(bucket: Bucket, **over: Any) -> None:
    """Changes the lease's document as another machine's would be."""
    stored = bucket.read(lease.PATH)
    assert stored is not None
    data = json.dumps({**json.loads(stored.data), **over}).encode()
    assert bucket.write(lease.PATH, data, "application/json", generation=stored.generation)


def test_it_is_there_while_it_is_held_and_gone_afterwards(bucket: Bucket) -> None:
    with lease.acquire(bucket, "deploy"):
        found = document(bucket)
        assert (found["pid"], found["command"]) == (os.getpid(), "deploy")
    assert document(bucket) is None


def test_another_one_is_told_who_holds_it(bucket: Bucket) -> None:
    with lease.acquire(bucket, "deploy"):
        with pytest.raises(RemoteError) as caught:
            lease.acquire(bucket, "rollback")
        for part in (f"pid {os.getpid()}", "runs deploy here since", "its lease ends at"):
            assert part in caught.value.what
        found = lease.holder(bucket)
        assert found is not None
        assert found.pid == os.getpid()


def test_one_whose_time_is_over_is_taken_over(bucket: Bucket) -> None:
    first = lease.acquire(bucket, "deploy", seconds=0.2)
    forge(bucket, machine="another")
    time.sleep(0.3)
    assert lease.holder(bucket) is None
    with (
        lease.acquire(bucket, "deploy"),
        pytest.raises(RemoteError, match="another one took it"),
    ):
        first.require()


def test_one_of_a_dead_process_of_this_machine_is_taken_over_at_once(bucket: Bucket) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    lease.acquire(bucket, "deploy")
    forge(bucket, pid=dead.pid)
    with lease.acquire(bucket, "deploy"):
        assert document(bucket)["pid"] == os.getpid()


def test_a_dead_process_of_another_machine_is_waited_for(bucket: Bucket) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    lease.acquire(bucket, "deploy")
    forge(bucket, pid=dead.pid, machine="another")
    with pytest.raises(RemoteError, match="runs deploy here"):
        lease.acquire(bucket, "deploy")


def test_it_is_renewed_while_it_is_held(bucket: Bucket) -> None:
    with lease.acquire(bucket, "deploy", seconds=0.4) as held:
        first = held.generation
        time.sleep(1.0)
        held.require()
        assert held.generation > first
        assert lease.holder(bucket) is not None


def test_a_damaged_lease_ends_as_every_other(bucket: Bucket, monkeypatch: Any) -> None:
    assert bucket.write(lease.PATH, b"[", "application/json", generation=0)
    with pytest.raises(RemoteError, match="another run deploys here"):
        lease.acquire(bucket, "deploy")
    monkeypatch.setattr(lease, "SECONDS", 0.0)
    with lease.acquire(bucket, "deploy"):
        pass


def test_of_eight_at_once_one_wins(bucket: Bucket) -> None:
    def attempt(number: int) -> bool:
        try:
            lease.acquire(bucket, f"deploy {number}")
        except RemoteError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1
