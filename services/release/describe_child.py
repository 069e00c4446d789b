"""Describes a bundle's entry point: run in a process of its own, in the unpacked bundle's folder.

    python -P describe_child.py MODULE:OBJECT    (working directory: the unpacked bundle)

Prints one JSON object: `framework` and `class_methods`, or `error` and `where`. The description is
made by the SDK's own generator, and `set_up` is never called: what is described must not depend on
an environment, so a connection that is opened during the import is refused.
"""

from __future__ import annotations

import gc
import importlib
import json
import logging
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

KIT = Path(__file__).resolve().parents[2]
FRAMEWORKS = frozenset({"ag2", "google-adk", "langchain", "langgraph", "llama-index"})
"""What the API takes beside "custom"; A2aAgent calls itself "a2a", which is none of them."""
KIT_PACKAGES = ("agents", "infra", "scripts", "services")


def isolate(folder: Path) -> None:
    """Imports the SDK, then makes `folder` the only place where the kit's packages are found."""
    sys.path.insert(0, str(KIT))
    from services.sdk import import_guarded

    import_guarded()
    sys.path[:] = [str(folder), *(p for p in sys.path if Path(p or ".").resolve() != KIT)]
    for name in [name for name in sys.modules if name.partition(".")[0] in KIT_PACKAGES]:
        del sys.modules[name]
    sys.addaudithook(refuse_connections)


def refuse_connections(event: str, arguments: tuple[object, ...]) -> None:
    """An audit hook: an agent that connects while it is imported cannot be packaged offline."""
    if event == "socket.connect":
        raise ConnectionRefusedError(f"no network while packaging (it connected to {arguments[1]})")


def describe(entrypoint: str) -> dict[str, Any]:
    """Imports the object and describes it.

    Raises:
        ValueError: it has nothing that could be called, or a method that cannot be described.
    """
    module, _, name = entrypoint.partition(":")
    agent = getattr(importlib.import_module(module), name)
    # Private names of google-cloud-aiplatform 2.7, used nowhere else; a test pins what they give.
    from agentplatform._genai import _runtimes_utils as sdk

    operations = sdk._get_registered_operations(agent=agent)
    methods = sdk._generate_class_methods_spec_or_raise(agent=agent, operations=operations)
    registered = {method for names in operations.values() for method in names}
    described = [sdk._to_dict(method) for method in methods]
    if not registered:
        raise ValueError(f"{name} has no method that Agent Runtime can call; wrap it in an AdkApp")
    if missing := registered - {method["name"] for method in described}:
        raise ValueError(
            f"{name}.{min(missing)} cannot be described: its parameters have no schema"
        )
    framework = getattr(agent, "agent_framework", None)
    if framework not in FRAMEWORKS:
        framework = "custom"
    return {"framework": framework, "class_methods": described}


def blame(error: BaseException, folder: Path) -> str | None:
    """`FILE:LINE` of the innermost frame that lies in the bundle."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        # "<frozen os>" is no path.
        if path.is_absolute() and path.resolve().is_relative_to(folder):
            return f"{path.resolve().relative_to(folder).as_posix()}:{frame.lineno}"
    return None


def main() -> int:
    """Prints the description of `sys.argv[1]`; whatever the agent prints goes to standard error."""
    out, sys.stdout = sys.stdout, sys.stderr
    folder = Path.cwd().resolve()
    warnings.simplefilter("ignore")
    gc.disable()  # a tenth of the time: nothing that an import makes is garbage
    logging.disable(logging.WARNING)
    try:
        isolate(folder)
        result = describe(sys.argv[1])
    except BaseException as error:  # noqa: BLE001 - an agent may raise anything, SystemExit included
        first = (str(error).strip().splitlines() or [""])[0]
        result = {"error": f"{type(error).__name__}: {first}", "where": blame(error, folder)}
    # The generator goes through a protobuf map, which has no order.
    out.write(json.dumps(result, sort_keys=True) + "\n")
    return 1 if "error" in result else 0


if __name__ == "__main__":
    sys.exit(main())
