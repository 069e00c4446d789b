"""The stacks of OUT as a program on typed bindings; run by infrastructure.py in venvs of its own.

`python typed_program.py CORE BINDINGS STACKS OUT`, such as `cdktn cdktn_provider_google …`. Every
resource of the given Terraform JSON is made by its typed class; a type that the bindings do not
have is left out and counted. Prints JSON: resources made, types left out.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any


def main(core_name: str, bindings: str, stacks: str, out: str) -> None:
    """Synthesizes every stack."""
    core = importlib.import_module(core_name)
    provider = importlib.import_module(f"{bindings}.provider").GoogleProvider
    app = core.App(outdir=out)
    made, left_out = 0, set()
    for path in sorted(Path(stacks).glob("*/cdk.tf.json")):
        document = json.loads(path.read_text())
        stack = core.TerraformStack(app, path.parent.name)
        provider(stack, "google", **document["provider"]["google"][0])
        core.GcsBackend(stack, **document["terraform"]["backend"]["gcs"])
        for type_, bodies in document["resource"].items():
            class_ = typed(bindings, type_)
            if class_ is None:
                left_out.add(type_)
                continue
            for name, body in bodies.items():
                add(class_, stack, f"{type_}-{name}", body)
                made += 1
    app.synth()
    print(json.dumps({"resources": made, "left_out": sorted(left_out)}))
    sys.stdout.flush()
    os._exit(0)  # as infra.main does: without waiting for Node.js to end


def typed(bindings: str, type_: str) -> Any:
    """The class of a type; None where the bindings have none."""
    short = type_.removeprefix("google_")
    try:
        module = importlib.import_module(f"{bindings}.{short}")
    except ImportError:
        return None
    return getattr(module, camel(short), None)


def add(class_: Any, stack: Any, id_: str, body: dict[str, Any]) -> None:
    """One resource; what the class does not take as an argument is an override."""
    known = set(inspect.signature(class_.__init__).parameters) - {"depends_on"}
    module = sys.modules[class_.__module__]
    fields = {
        key: struct(module, class_.__name__ + camel(key), value)
        for key, value in body.items()
        if key in known
    }
    resource = class_(stack, id_, **fields)
    for key in body.keys() - known - {"//"}:
        resource.add_override(key, body[key])


def struct(module: Any, name: str, value: Any) -> Any:
    """The value as the bindings' struct of that name, and what is in it as theirs."""
    if isinstance(value, list):
        return [struct(module, name, item) for item in value]
    if not isinstance(value, dict) or not hasattr(module, name):
        return value
    inner = {key: struct(module, name + camel(key), item) for key, item in value.items()}
    return getattr(module, name)(**inner)


def camel(name: str) -> str:
    """`memory_topics` -> `MemoryTopics`."""
    return "".join(part.title() for part in name.split("_"))


if __name__ == "__main__":
    main(*sys.argv[1:])
