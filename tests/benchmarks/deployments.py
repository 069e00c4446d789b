"""Deployments, measured: `python tests/benchmarks/deployments.py [--builds 5,30]`.

Prints one JSON document: a deployment of three agents as a ratio to the slowest single build, with
build times that the local platform simulates; a deployment with nothing to do, and the writes that
the server counted; packaging beside `tar | gzip` of the same files. Uses a platform of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from infra import manifest
from services.release import bundle, sources
from tests.benchmarks.from_nothing import ROOT, slipway, spread

TARGETS = {"ratio": 1.15, "no_change_s": 2.0, "no_change_writes": 0}
WRITES = ("POST", "PATCH", "PUT", "DELETE")


def main() -> None:
    """Runs everything and prints the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--builds", default="5,30", help="seconds of a build, with commas")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        home = Path(folder)
        try:
            slipway(home, "up")
            result = {
                "cores": os.cpu_count(),
                "targets": TARGETS,
                "no_change": no_change(home, given.runs),
                "builds": [build(home, float(s)) for s in given.builds.split(",")],
                "packaging": packaging(given.runs),
            }
        finally:
            slipway(home, "down")
    print(json.dumps(result, indent=1))


def endpoint(home: Path) -> str:
    """The platform's base URL."""
    return str(json.loads((home / "platform" / "platform.json").read_text())["endpoint"])


def order(home: Path, **body: Any) -> None:
    """Orders a fault, or a build's time."""
    httpx.post(f"{endpoint(home)}/_faults", json=body).raise_for_status()


def orders(home: Path) -> list[dict[str, Any]]:
    """The orders, and how often each fired; they are forgotten."""
    found: list[dict[str, Any]] = httpx.get(f"{endpoint(home)}/_faults").json()["faults"]
    httpx.delete(f"{endpoint(home)}/_faults")
    return found


def no_change(home: Path, runs: int) -> dict[str, Any]:
    """Seconds of the whole command, and the writes that reached the server."""
    taken, writes = [], 0
    for _ in range(runs):
        for method in WRITES:
            order(home, method=method, path=".", times=10_000, delay=0.0)
        started = time.perf_counter()
        slipway(home, "deploy", "local")
        taken.append(time.perf_counter() - started)
        writes += sum(int(found["fired"]) for found in orders(home))
    return {"s": spread(taken), "writes": writes}


def build(home: Path, seconds: float) -> dict[str, Any]:
    """A deployment of all three agents whose builds take so long each."""
    name = ROOT / "agents" / "shared" / "semantic.yaml"
    before = name.read_text()
    try:
        name.write_text(before + f"# {time.time()}\n")
        order(home, method="PATCH", path="reasoningEngines/[0-9]+$", times=100, build=seconds)
        started = time.perf_counter()
        done = slipway(home, "deploy", "local", "--json")
        taken = time.perf_counter() - started
    finally:
        name.write_text(before)
        orders(home)
    return {
        "build_s": seconds,
        "deploy_s": round(taken, 3),
        "ratio": round(taken / seconds, 3),
        "steps_s": json.loads(done.stdout)["seconds"],
    }


def packaging(runs: int) -> dict[str, Any]:
    """MB a second of collecting, tar and gzip, beside tar and gzip of the same files alone."""
    agents = manifest.load_all(ROOT)
    ours, plain, size = [], [], 0
    for _ in range(runs * 3):
        started = time.perf_counter()
        collected = {name: sources.collect(ROOT, agent) for name, agent in agents.items()}
        for name, files in collected.items():
            bundle.compress(bundle.canonical_tar(files), files, name)
        ours.append(time.perf_counter() - started)
        size = sum(len(file.data) for files in collected.values() for file in files)
        with tempfile.TemporaryDirectory() as folder:
            for name, files in collected.items():
                for file in files:
                    path = Path(folder) / name / file.path
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(file.data)
            started = time.perf_counter()
            for name in collected:
                command = f"tar -cf - -C {folder}/{name} . | gzip -9 > {folder}/{name}.tgz"
                subprocess.run(["sh", "-c", command], check=True)
            plain.append(time.perf_counter() - started)
    megabytes = size / 1e6
    ours_s, plain_s = spread(ours)["median"], spread(plain)["median"]
    return {
        "mb": round(megabytes, 2),
        "mb_per_s": round(megabytes / ours_s, 1),
        "tar_gzip_mb_per_s": round(megabytes / plain_s, 1),
        "ratio": round(ours_s / plain_s, 2),
    }


if __name__ == "__main__":
    main()
