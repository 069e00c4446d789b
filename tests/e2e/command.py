"""The `slipway` command as a person would run it, over a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NOTHING: Mapping[str, str] = {}
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Slipway:
    """The command as a person would run it; `home` is where its runtime files go."""

    home: Path
    checkout: Path = ROOT

    def run(
        self, *args: str, seconds: float = 120, text: str = "", env: Mapping[str, str] = NOTHING
    ) -> subprocess.CompletedProcess[str]:
        """Runs `slipway ARGS`, with `text` as its standard input, and returns what it printed."""
        return subprocess.run(
            [str(Path(sys.executable).with_name("slipway")), *args],
            cwd=self.checkout,
            env={**os.environ, "SLIPWAY_HOME": str(self.home), "NO_COLOR": "1", **env},
            input=text,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def json(self, *args: str, env: Mapping[str, str] = NOTHING) -> Any:
        """Runs `slipway ARGS --json`, which must succeed, and returns what it answered."""
        done = self.run(*args, "--json", env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
