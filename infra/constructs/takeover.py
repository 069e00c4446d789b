"""What exists already: engines made by hand (`adopt`), and renamed agents (`renamed_from`)."""

from __future__ import annotations

from collections.abc import Mapping

from infra import names
from infra.constructs.engines import TYPE
from infra.constructs.identity import Targets
from infra.environment import Environment
from infra.errors import InputError
from infra.manifest import AgentManifest
from infra.resource import Declarations


def engine_id(env: Environment, engine: str) -> str:
    """The import ID of an engine in the environment's project and region."""
    return f"projects/{env.project}/locations/{env.region}/reasoningEngines/{engine}"


def add(
    stack: Declarations,
    env: Environment,
    agents: Mapping[str, AgentManifest],
    targets: Targets,
) -> None:
    """Adds Terraform's `import` and `moved` blocks; nothing where nothing is taken over.

    Raises:
        InputError: what is to be taken over has no place in this environment.
    """
    stack.imports = _imports(env, targets)
    stack.moved = [
        {"from": f"{TYPE}.{agent.renamed_from}", "to": f"{TYPE}.{name}"}
        for name, agent in agents.items()
        if agent.renamed_from
    ]


def _imports(env: Environment, targets: Targets) -> list[dict[str, str]]:
    known = dict(targets.engines)
    if targets.bank is not None:
        known[names.MEMORY_BANK] = targets.bank
    for name in env.adopt:
        if name not in known:
            raise InputError(
                f"there is no engine {name!r} to take over for",
                where=env.where("adopt", name),
                fix=f"known: {', '.join(known)}",
            )
    return [
        {"to": known[name].address, "id": engine_id(env, engine)}
        for name, engine in env.adopt.items()
    ]
