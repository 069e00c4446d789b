"""Terraform's plugin protocol 6: pyvider's generated messages, without the framework around them.

`import pyvider` runs a whole application framework (about 23 MB and 0.4 s); the generated module
needs nothing but protobuf, so it is loaded by its file's name.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

_MODULE = "pyvider.protocols.tfprotov6.protobuf.tfplugin6_pb2"


def _load() -> ModuleType:
    if _MODULE in sys.modules:
        return sys.modules[_MODULE]
    package, _, rest = _MODULE.partition(".")
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("pyvider is not installed", name=package)
    path = Path(next(iter(found.submodule_search_locations)), *rest.split(".")).with_suffix(".py")
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_MODULE] = module
    spec.loader.exec_module(module)
    return module


pb = _load()
"""The module of messages, such as `pb.PlanResourceChange.Request`."""

SERVICE = "tfplugin6.Provider"
"""Full name of the gRPC service."""
