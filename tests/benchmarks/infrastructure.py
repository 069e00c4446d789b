"""Synthesis and planning, measured: `python tests/benchmarks/infrastructure.py [--typed]`.

Prints one JSON document: seconds of the synthesis of all environments as a whole process, beside a
bare `App().synth()` and, with `--typed`, beside the same stacks on the typed cdktf and cdktn
bindings (installed into venvs of their own, kept in --venvs); what an agent costs, from 3 to 100;
a plan of `local` with nothing to do, beside Terraform's own time for the same JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.benchmarks.from_nothing import BIN, ROOT, slipway, spread

TARGETS = {
    "synth_s": 0.9,
    "synth_to_bare": 1.6,
    "synth_to_typed_cdktf": 0.1,
    "synth_to_typed_cdktn": 0.25,
    "plan_to_terraform": 1.5,
}
BARE = "import os; from infra import cdk; cdk.App().synth(); os._exit(0)"
# The core, its typed bindings, and their module.
TYPED = {
    "cdktf": ("0.21.0", "cdktf-cdktf-provider-google==16.12.1", "cdktf_cdktf_provider_google"),
    "cdktn": ("0.24.0", "cdktn-provider-google==21.1.0", "cdktn_provider_google"),
}


def main() -> None:
    """Runs everything and prints the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--typed", action="store_true", help="download the typed bindings too")
    parser.add_argument("--venvs", type=Path, help="where their venvs are kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as folder:
        place = Path(folder)
        result = {
            "cores": os.cpu_count(),
            "targets": TARGETS,
            **synthesis(place, given.runs),
            "agents_s": agents(place, given.runs),
            **planning(place / "home", given.runs),
        }
        if given.typed:
            result |= typed(place, given.venvs or place, given.runs, result["synth_s"]["median"])
        print(json.dumps(result, indent=1))


def synthesis(place: Path, runs: int) -> dict[str, Any]:
    """All environments, and an app without a stack."""
    out = place / "out"
    run(ROOT, out, "-m", "infra.main")
    whole = spread([run(ROOT, out, "-m", "infra.main") for _ in range(runs)])
    bare = spread([run(ROOT, place / "bare", "-c", BARE) for _ in range(runs)])
    ratio = round(whole["median"] / bare["median"], 2)
    check = [timed([str(BIN / "slipway"), "env", "check"], ROOT) for _ in range(runs)]
    return {
        "synth_s": whole,
        "bare_app_s": bare,
        "synth_to_bare": ratio,
        "env_check_s": spread(check),
    }


def agents(place: Path, runs: int) -> dict[str, Any]:
    """`local` with so many agents."""
    root = place / "many"
    for folder in ("infra", "pipelines"):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copytree(ROOT / "agents", root / "agents")
    found = {}
    for count in (3, 10, 30, 100):
        for number in range(3, count):
            path = root / "agents" / f"agent_{number}"
            path.mkdir(exist_ok=True)
            (path / "agent.toml").write_text(
                f'name = "agent_{number}"\ndescription = "d"\n'
                f'entrypoint = "agents.agent_{number}.agent:app"\n'
                '[secrets]\nCALLER_SIGNING_KEY = "caller-signing-key"\n'
            )
        each = [run(root, place / "many-out", "-m", "infra.main", "local") for _ in range(runs)]
        found[str(count)] = spread(each)
    return found


def planning(home: Path, runs: int) -> dict[str, Any]:
    """Our plan with nothing to do, and `terraform plan` of the same JSON, in the same folder."""
    from infra import settings, terraform_folder
    from infra.terraform import Terraform
    from services.connection import terraform_connection
    from services.provision import synthesize

    os.environ["SLIPWAY_HOME"] = str(home)
    slipway(home, "up", "--no-deploy")
    try:
        env = settings.load(ROOT, "local")
        stack, workdir = synthesize(ROOT, env), home / "terraform" / "local"
        connection = terraform_connection(ROOT, env)
        ours, own = [], []
        program = shutil.which("terraform") or shutil.which("tofu")
        variables = terraform_folder.environment(env, connection)
        for _ in range(runs):
            started = time.perf_counter()
            with Terraform(stack, workdir, env, connection, lambda line: None) as terraform:
                assert terraform.plan().empty
            ours.append(time.perf_counter() - started)
            if program:
                command = [program, "plan", "-input=false", "-out=bench.bin"]
                own.append(timed(command, workdir, variables))
    finally:
        slipway(home, "down")
    if not own:
        return {"plan_s": spread(ours), "plan_to_terraform": "no terraform program on PATH"}
    ratio = round(spread(ours)["median"] / spread(own)["median"], 2)
    return {"plan_s": spread(ours), "terraform_plan_s": spread(own), "plan_to_terraform": ratio}


def typed(place: Path, venvs: Path, runs: int, ours: float) -> dict[str, Any]:
    """The same stacks on typed bindings."""
    found: dict[str, Any] = {}
    for core, (version, bindings, module) in TYPED.items():
        venv = venvs / core
        if not (venv / "done").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
            pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
            subprocess.run([*pip, f"{core}=={version}", bindings], check=True)
            (venv / "done").touch()
        program = str(Path(__file__).with_name("typed_program.py"))
        arguments = [core, module, str(place / "out" / "stacks"), str(place / f"typed-{core}")]
        command = [str(venv / "bin" / "python"), program, *arguments]
        # The same Node.js as ours runs on.
        node = {**os.environ, **node_settings()}
        timed(command, place, node)
        each = [timed(command, place, node) for _ in range(min(runs, 3))]
        said = subprocess.run(command, env=node, capture_output=True, text=True, check=True)
        found[f"typed_{core}"] = {"s": spread(each), **json.loads(said.stdout)}
        found[f"synth_to_typed_{core}"] = round(ours / spread(each)["median"], 3)
    return found


def node_settings() -> dict[str, str]:
    """Where Node.js is, as infra.cdk would set it."""
    from infra import node

    return dict(node.settings(os.environ))


def run(root: Path, out: Path, *args: str) -> float:
    """Seconds of one Python process in a checkout, with the CDK's output folder."""
    environment = {**os.environ, "PYTHONPATH": str(root), "CDKTF_OUTDIR": str(out)}
    return timed([sys.executable, *args], root, environment)


def timed(command: list[str], cwd: Path, env: dict[str, str] | None = None) -> float:
    """Seconds of one whole process, which must succeed."""
    started = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=env, capture_output=True, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
