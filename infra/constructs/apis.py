"""Enables the Google APIs of infra/apis.py in the environment's project."""

from __future__ import annotations

from infra.apis import needed
from infra.environment import Environment
from infra.resource import Declarations, Resource

TYPE = "google_project_service"


def enable(stack: Declarations, env: Environment) -> dict[str, Resource]:
    """Enables each API; returns the resource that each resource type waits for."""
    waits: dict[str, Resource] = {}
    for api, types in needed(env).items():
        enabled = Resource(
            stack,
            TYPE,
            api.partition(".")[0],
            origin=env.where("project"),
            project=env.project,
            service=api,
            # Others may use the same project; what destroys this environment must not break them.
            disable_on_destroy=False,
        )
        waits |= dict.fromkeys(types, enabled)
    return waits
