"""From nothing to an answer, measured: `python tests/benchmarks/from_nothing.py [--runs N]`.

Prints one JSON document: seconds of the first `slipway up` ever, of `slipway up --fresh` and each
of its steps, of `up` with nothing to do, of three parallel updates to serving, of a warm question;
`slipway --help` beside `adk --help` in the same run; memory of the platform and of each agent. Uses
a platform of its own, in a temporary folder, and stops it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform as machine
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent
TARGETS = {
    "up_fresh_s": 12.0,
    "up_again_s": 3.0,
    "three_updates_s": 2.0,
    "warm_question_ms": 150.0,
    "platform_mb": 100.0,
    "agent_mb": 200.0,
}


def main() -> None:
    """Runs everything and prints the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        home = Path(folder)
        try:
            print(json.dumps(measure(home, runs), indent=1))
        finally:
            slipway(home, "down")


def measure(home: Path, runs: int) -> dict[str, Any]:
    """All figures; each is the median of `runs`, with what was seen beside it."""
    cold = timed_up(home)
    fresh = [timed_up(home, "--fresh") for _ in range(runs)]
    again = [timed_up(home) for _ in range(runs)]
    first = fresh[0][1]
    memory = resident(home)
    return {
        "machine": {"cores": os.cpu_count(), "python": machine.python_version()},
        "targets": TARGETS,
        "up_first_s": round(cold[0], 3),
        "up_first_steps_s": cold[1]["steps"],
        "up_fresh_s": spread([seconds for seconds, _ in fresh]),
        "up_fresh_steps_s": {
            step: spread([document["steps"][step] for _, document in fresh])
            for step in first["steps"]
        },
        "up_again_s": spread([seconds for seconds, _ in again]),
        "up_again_steps_s": {
            step: spread([document["steps"][step] for _, document in again])
            for step in again[0][1]["steps"]
        },
        "three_updates_s": spread([document["update_seconds"] for _, document in fresh]),
        "warm_question_ms": warm_questions(home, first),
        "help_ms": {
            name: spread([1000 * seconds(BIN / name, "--help") for _ in range(5 * runs)])
            for name in ("slipway", "adk")
        },
        "memory_mb": memory,
    }


def timed_up(home: Path, *options: str) -> tuple[float, dict[str, Any]]:
    """Seconds of the whole command, and what it answered."""
    started = time.perf_counter()
    done = slipway(home, "up", "--json", *options)
    return time.perf_counter() - started, json.loads(done.stdout)


def slipway(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """The command over `home`."""
    return subprocess.run(
        [str(BIN / "slipway"), *args],
        cwd=ROOT,
        env={**os.environ, "SLIPWAY_HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )


def seconds(program: Path, *args: str) -> float:
    """Seconds of one whole process."""
    started = time.perf_counter()
    subprocess.run([str(program), *args], capture_output=True, check=True)
    return time.perf_counter() - started


def warm_questions(home: Path, document: dict[str, Any]) -> dict[str, float]:
    """Milliseconds of a question in a conversation of its own, from the SDK's side, once warm."""
    from infra import manifest, settings
    from services.connection import connect
    from services.conversation import Conversation
    from services.release.target import read_descriptor

    os.environ["SLIPWAY_HOME"] = str(home)
    target = connect(ROOT, settings.load(ROOT, "local"))
    front = manifest.front(manifest.load_all(ROOT))
    taken = []
    with Conversation(target, read_descriptor(target), front) as conversation:
        for _ in range(25):
            started = time.perf_counter()
            answer = conversation.ask("What did we spend on Acme Pure?", user="maria")
            taken.append(1000 * (time.perf_counter() - started))
            assert "€436,449" in answer.text, answer.text
    return spread(taken[5:])


def resident(home: Path) -> dict[str, float]:
    """MB in memory (RSS) of the platform and of each engine's process, by its entry point."""
    found: dict[str, float] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode().split("\0")
            place = str(Path(entry / "cwd").resolve())
            size = re.search(r"VmRSS:\s+(\d+)", (entry / "status").read_text())
        except OSError:
            continue
        name = None
        if "services.emulator" in command and str(home / "platform") in command:
            name = "platform"
        elif place.startswith(str(home)) and "--module" in command:
            name = command[command.index("--module") + 1]
        if name and size:
            found[name] = round(int(size[1]) / 1024, 1)
    return found


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and greatest."""
    return {
        "median": round(statistics.median(values), 3),
        "min": round(min(values), 3),
        "max": round(max(values), 3),
    }


if __name__ == "__main__":
    main()
