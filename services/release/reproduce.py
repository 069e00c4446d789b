"""Builds the bundles a second time, in other conditions, to see whether they are the same.

Another path, other file times, another umask, time zone, locale, hash seed and home; what differs
between two machines, as far as one machine can play it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from infra.errors import PackageError
from infra.manifest import FOLDER, AgentManifest

OTHER = {
    "TZ": "Pacific/Kiritimati",
    "LANG": "C",
    "LC_ALL": "C",
    "PYTHONHASHSEED": "271828",
    "PYTHONDONTWRITEBYTECODE": "1",
}
UMASK = 0o077
RUN = "from scripts.main import main; main()"
LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*")


def digests(root: Path, agents: Iterable[AgentManifest]) -> dict[str, str]:
    """The digest of each agent's bundle, built from a copy of the checkout `root`.

    Raises:
        PackageError: it cannot be built there.
    """
    chosen = list(agents)
    with tempfile.TemporaryDirectory(prefix="slipway-check-") as folder:
        copy = Path(folder) / "an other place" / "checkout"
        # Without the files' times, and only what a bundle is built from.
        shutil.copytree(
            root / FOLDER, copy / FOLDER, ignore=LEFT_OUT, copy_function=shutil.copyfile
        )
        (copy / "infra" / "environments").mkdir(parents=True)
        for agent in chosen:
            lock = copy / agent.requirements
            lock.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / agent.requirements, lock)
        command = [sys.executable, "-c", RUN, "-C", str(copy), "package", "--json"]
        done = subprocess.run(
            [*command, *(agent.name for agent in chosen)],
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, **OTHER, "HOME": folder, "SLIPWAY_HOME": f"{folder}/home"},
            umask=UMASK,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise PackageError(
            f"the second build failed: {last}", where=str(FOLDER), fix="slipway package --debug"
        )
    return {name: str(row["digest"]) for name, row in json.loads(done.stdout).items()}
