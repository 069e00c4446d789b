"""Writes the golden inventories anew: `python tests/infra/golden/regenerate.py`. Read the diff."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.infra.synth import GOLDEN, inventory, read_stack, run_main


def main() -> int:
    """Synthesizes every environment and writes one file for each."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_main(out=Path(folder))
        sys.stderr.write(done.stderr)
        for line in done.stdout.splitlines():
            name = line.partition(":")[0]
            text = json.dumps(inventory(read_stack(Path(folder), name)), indent=1, sort_keys=True)
            (GOLDEN / f"{name}.json").write_text(f"{text}\n")
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
