"""Service accounts, and the one table of who may do what.

Every binding names the API call that needs it. It lies on the resource wherever the provider can
put it there; on the project only where the API checks nothing smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra import cdk, names
from infra.manifest import AgentManifest
from infra.resource import Resource
from infra.settings import Environment

ACCOUNT = "google_service_account"


@dataclass(frozen=True)
class Targets:
    """The resources that bindings lie on, by their key; `bank` is None where there is no memory."""

    accounts: Mapping[str, Resource]
    engines: Mapping[str, Resource]
    secrets: Mapping[str, Resource]
    buckets: Mapping[str, Resource]
    bank: Resource | None


@dataclass(frozen=True)
class Binding:
    """One row: `who` (a key of the accounts) gets `role` on `on`, as it makes the call `needs`.

    `on` is `project`, or a kind of target and its key: `engine/marketing`, `bucket/policy`.
    """

    who: str
    role: str
    on: str
    needs: str


def accounts(
    stack: cdk.TerraformStack, env: Environment, agents: Mapping[str, AgentManifest]
) -> dict[str, Resource]:
    """A service account for each agent, and the deployer's."""
    purpose = {agent: f"The agent {agent}" for agent in agents}
    purpose[names.DEPLOYER] = "The deploy pipeline"
    return {
        who: Resource(
            stack,
            ACCOUNT,
            who,
            account_id=names.account_id(who, env.name),
            display_name=f"{who} ({env.name})",
            description=f"{text} of {env.name}. Made by {names.KIT}.",
        )
        for who, text in purpose.items()
    }


def table(agents: Mapping[str, AgentManifest], *, memory: bool) -> list[Binding]:
    """Every binding of an environment, in a fixed order."""
    return [
        *(row for agent in agents.values() for row in _agent(agent, memory=memory)),
        *_deployer(agents),
    ]


def _agent(agent: AgentManifest, *, memory: bool) -> Iterator[Binding]:
    who = agent.name
    yield Binding(
        who, "roles/aiplatform.user", "project", "sessions.create, models.generateContent"
    )
    for other in agent.calls:
        needs = "reasoningEngines.query, reasoningEngines.a2a"
        yield Binding(who, "roles/aiplatform.user", f"engine/{other}", needs)
    if memory and agent.uses_memory:
        needs = "memories.retrieve, memories.generate, memories.ingestEvents"
        yield Binding(who, "roles/aiplatform.memoryUser", "bank", needs)
    for secret in sorted(set(agent.secrets.values())):
        needs = "secrets.versions.access, when the runtime fills secret_env"
        yield Binding(who, "roles/secretmanager.secretAccessor", f"secret/{secret}", needs)


def _deployer(agents: Mapping[str, AgentManifest]) -> Iterator[Binding]:
    who = names.DEPLOYER
    yield Binding(who, "roles/aiplatform.user", "project", "reasoningEngines.patch, operations.get")
    yield Binding(who, "roles/logging.logWriter", "project", "entries.write, by Cloud Build")
    yield Binding(who, "roles/storage.objectUser", "bucket/releases", "objects.insert, objects.get")
    yield Binding(who, "roles/storage.objectUser", "bucket/control", "objects.insert, .delete")
    yield Binding(who, "roles/storage.objectViewer", "bucket/policy", "objects.get")
    for agent in agents:
        needs = "reasoningEngines.patch of spec.serviceAccount (actAs)"
        yield Binding(who, "roles/iam.serviceAccountUser", f"account/{agent}", needs)


def bind(
    stack: cdk.TerraformStack, env: Environment, rows: list[Binding], targets: Targets
) -> list[Resource]:
    """Puts every row of the table on its target as one `…_iam_member`."""
    return [_bind(stack, env, row, targets) for row in rows]


def _bind(stack: cdk.TerraformStack, env: Environment, row: Binding, targets: Targets) -> Resource:
    kind, _, key = row.on.partition("/")
    name = "-".join(filter(None, (row.who, row.role.split(".")[-1], kind, key)))
    member = targets.accounts[row.who].ref("member")
    if kind == "project":
        type_, place = "google_project_iam_member", {"project": env.project}
    elif kind == "secret":
        type_ = "google_secret_manager_secret_iam_member"
        place = {"secret_id": targets.secrets[key].ref("id")}
    elif kind == "bucket":
        type_, place = (
            "google_storage_bucket_iam_member",
            {"bucket": targets.buckets[key].ref("name")},
        )
    elif kind == "account":
        type_ = "google_service_account_iam_member"
        place = {"service_account_id": targets.accounts[key].ref("name")}
    else:
        engine = targets.bank if kind == "bank" else targets.engines[key]
        assert engine is not None, "the table grants nothing on a bank that is not there"
        type_ = "google_vertex_ai_reasoning_engine_iam_member"
        place = {"region": env.region, "reasoning_engine": engine.ref("name")}
    fields: dict[str, Any] = {"role": row.role, "member": member, **place}
    return Resource(stack, type_, name, **fields)
