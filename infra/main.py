"""Synthesizes environments to Terraform JSON: `python -m infra.main [ENV…]`, by default all.

Writes `OUT/stacks/ENV/cdk.tf.json`, where OUT is CDKTF_OUTDIR or else `cdktf.out`. Same files in,
same bytes out: no machine, path, port or time goes into it. `cdktf synth` runs this very module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from infra.errors import SlipwayError


def synthesize(root: Path, environments: Sequence[str] = ()) -> dict[str, Path]:
    """Synthesizes environments of the checkout `root`; all of them when none is named.

    Returns:
        The path of each environment's Terraform JSON.

    Raises:
        InputError: a file, name or argument is wrong; nothing was written.
        SlipwayError: there is no Node.js, or the folder cannot be written.
    """
    from infra import manifest, settings, topics

    chosen = [settings.load(root, name) for name in environments or settings.names(root)]
    agents = manifest.load_all(root)
    remembered = topics.load(root)
    # Only now: it starts Node.js, and the files above may already be wrong.
    try:
        from infra import cdk
        from infra.stack import EnvironmentStack
    except (OSError, ValueError) as error:
        raise SlipwayError(
            f"Node.js, which the CDK runs on, did not start: {error}",
            where=os.environ.get("JSII_NODE", "node"),
            fix="unset JSII_NODE, or let it name a Node.js 18 or newer",
        ) from None
    out = Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out").resolve()
    try:
        # Without `outdir`: the CDK reads the same variable, and `cdktf synth --output` sets it.
        app = cdk.App()
        for env in chosen:
            EnvironmentStack(app, env, agents, remembered)
        app.synth()
    except RuntimeError as error:
        raise SlipwayError(
            f"the CDK stopped: {str(error).splitlines()[0]}",
            where=str(out),
            fix="check that the folder can be written, or set CDKTF_OUTDIR to another one",
        ) from None
    return {env.name: out / "stacks" / env.name / "cdk.tf.json" for env in chosen}


def main() -> int:
    """Runs the command line; returns 0, 1 (failed) or 2 (bad input)."""
    root = Path.cwd()
    try:
        for name, path in synthesize(root, sys.argv[1:]).items():
            shown = path.relative_to(root) if path.is_relative_to(root) else path
            print(f"{name}: {shown}")  # noqa: T201 - a command line
    except SlipwayError as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201 - a command line
        return error.exit_code
    except KeyboardInterrupt:
        text = "error: interrupted; nothing was changed\n  fix: run the same command again"
        print(text, file=sys.stderr)  # noqa: T201 - a command line
        return 1
    return 0


if __name__ == "__main__":
    code = main()
    if code:
        # Node.js may have been interrupted or never have started; the CDK's own clean-up at exit
        # would complain about that, and it ends by itself without us.
        sys.stderr.flush()
        os._exit(code)
