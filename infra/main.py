"""Synthesizes environments to Terraform JSON: `python -m infra.main [ENV…]`, by default all.

Writes `OUT/stacks/ENV/cdk.tf.json`, where OUT is CDKTF_OUTDIR or else `cdktf.out`. Same files in,
same bytes out: no machine, path, port or time goes into it. `cdktf synth` runs this very module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from infra.errors import SlipwayError

if TYPE_CHECKING:
    from infra.environment import Environment
    from infra.resource import Declarations


def synthesize(
    root: Path, environments: Sequence[str] = (), platform: Literal["local"] | None = None
) -> dict[str, Path]:
    """Synthesizes environments of the checkout `root`; all of them when none is named.

    Args:
        platform: `local` to lay the local platform over them (`settings.load`).

    Returns:
        The path of each environment's Terraform JSON.

    Raises:
        InputError: a file, name or argument is wrong; nothing was written.
        SlipwayError: there is no Node.js, or the folder cannot be written.
    """
    # The CDK's import waits for Node.js to start; what is read meanwhile may turn out wrong.
    with ThreadPoolExecutor(1) as beside:
        importing = beside.submit(import_module, "infra.cdk_stack")
        declared = declare(root, environments, platform)
        try:
            cdk_stack = importing.result()
        except (OSError, ValueError, RuntimeError) as error:
            raise SlipwayError(
                f"Node.js, which the CDK runs on, did not start: {error}",
                where=os.environ.get("JSII_NODE", "node"),
                fix="let TMPDIR be a folder that can be written; unset JSII_NODE, or let it name a "
                "Node.js 18 or newer",
            ) from None
    out = Path(os.environ.get("CDKTF_OUTDIR") or "cdktf.out").resolve()
    try:
        # Without `outdir`: the CDK reads the same variable, and `cdktf synth --output` sets it.
        app = cdk_stack.cdk.App()
        for env, stack in declared:
            cdk_stack.EnvironmentStack(app, env, stack)
        app.synth()
    except RuntimeError as error:
        raise SlipwayError(
            f"the CDK stopped: {str(error).splitlines()[0]}",
            where=str(out),
            fix="check that the folder can be written, or set CDKTF_OUTDIR to another one",
        ) from None
    return {env.name: out / "stacks" / env.name / "cdk.tf.json" for env, _ in declared}


def declare(
    root: Path, environments: Sequence[str], platform: Literal["local"] | None
) -> list[tuple[Environment, Declarations]]:
    """What the environments' stacks hold, checked; needs no Node.js.

    Raises:
        InputError: a file or argument is wrong.
    """
    from infra import manifest, pipelines, settings, topics
    from infra.stack import declare as declare_stack

    chosen = settings.load_all(root, list(environments) or settings.names(root), platform)
    agents = manifest.load_all(root)
    remembered = topics.load(root)
    builds = pipelines.load_all(root)
    return [(env, declare_stack(env, agents, remembered, builds)) for env in chosen]


def _arguments(given: list[str]) -> tuple[list[str], Literal["local"] | None]:
    """The environments, and whether `--platform local` is laid over them."""
    if given[:2] == ["--platform", "local"]:
        return given[2:], "local"
    return given, None


def main() -> int:
    """Runs the command line; returns 0, 1 (failed) or 2 (bad input)."""
    root = Path.cwd()
    try:
        for name, path in synthesize(root, *_arguments(sys.argv[1:])).items():
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
    # Everything is written. The CDK's own clean-up at exit would wait for Node.js, which ends by
    # itself without us, and would complain where it was interrupted or never started.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
