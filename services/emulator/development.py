"""Working trees that answer for an engine, beside the deployed others.

    PUT    /_dev/ENGINE    {"tree": "/path/of/a/checkout"}: from now on it answers for the engine
    DELETE /_dev/ENGINE    what is deployed answers again

The process gets the engine's declared environment, secrets and account. A tree that does not serve
leaves what answered before. Nothing of it is kept: a restart of the platform ends it.
"""

from __future__ import annotations

from pathlib import Path

from starlette.routing import BaseRoute

from services.emulator import deployments, engines
from services.emulator.errors import ApiError, invalid, not_found
from services.emulator.identity import OPERATOR
from services.emulator.platform import Platform
from services.emulator.projects import canonical
from services.emulator.rest import Call, Result, route

PATH = "/_dev/{engine:rest}"


def routes(platform: Platform) -> list[BaseRoute]:
    """The control API."""

    async def put(call: Call) -> Result:
        """`PUT`."""
        name, tree = _engine(platform, call), Path(str(call.json.get("tree", "")))
        if not tree.is_absolute() or not tree.is_dir():
            raise invalid("tree: the absolute path of a folder is expected.")
        await deployments.serve_tree(platform, name, tree)
        return {"engine": name}

    async def delete(call: Call) -> Result:
        """`DELETE`."""
        deployments.drop_tree(platform, _engine(platform, call))
        return {}

    return [route("PUT", PATH, put), route("DELETE", PATH, delete)]


def _engine(platform: Platform, call: Call) -> str:
    """The engine's full name; only the operator may run code here."""
    if call.principal != OPERATOR:
        raise ApiError("PERMISSION_DENIED", "Only the operator may let a working tree answer.")
    name = canonical(platform, call.path["engine"])
    if platform.store.get(engines.KIND, name) is None:
        raise not_found(name)
    return name
