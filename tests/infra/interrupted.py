"""Applies a stack and is killed in the middle of it; a program for test_terraform_killed.py.

    python tests/infra/interrupted.py HOW STACK WORKDIR CONNECTION

HOW is what happens when the first resource has been made: `parent` kills this process, `both` also
kills Terraform's, `interrupt` presses Ctrl-C, `platform:PID` kills the local platform.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

from infra import settings
from infra.errors import SlipwayError
from infra.terraform import Connection, Terraform

ROOT = Path(__file__).parents[2]


def main(how: str, stack: str, workdir: str, connection: str) -> int:
    """Runs it; returns 130 after Ctrl-C, 1 after an error."""

    def say(line: str) -> None:
        print(line, flush=True)  # noqa: T201 - read by the test
        # A bucket: an API that is enabled already needs no adoption.
        if not line.startswith("google_storage_bucket.") or said:
            return
        said.append(line)
        core = json.loads((Path(workdir) / "running.json").read_text())["pid"]
        if how == "both":
            os.killpg(core, signal.SIGKILL)  # a terraform program runs in its group
        if how.startswith("platform:"):
            os.kill(int(how.partition(":")[2]), signal.SIGKILL)
        else:
            number = signal.SIGINT if how == "interrupt" else signal.SIGKILL
            os.kill(os.getpid(), number)

    said: list[str] = []
    env = settings.load(ROOT, "local")
    try:
        with Terraform(
            Path(stack), Path(workdir), env, Connection(**json.loads(connection)), say
        ) as run:
            run.apply(run.plan())
    except KeyboardInterrupt:
        return 130
    except SlipwayError as error:
        print(error, flush=True)  # noqa: T201 - read by the test
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
