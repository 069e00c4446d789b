"""Service accounts, and the one table of who may do what.

Every binding names the API call that needs it. It lies on the resource wherever the provider can
put it there; on the project only where the API checks nothing smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra import names
from infra.environment import Environment, Groups
from infra.errors import InputError
from infra.manifest import AgentManifest
from infra.resource import Declarations, Resource

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
    """One row: `who` gets `role` on `on`, as it makes the call `needs`.

    `who` is a key of the accounts, or what a group of people does.
    `on` is `project`, or a kind of target and its key: `engine/marketing`, `bucket/policy`.
    """

    who: str
    role: str
    on: str
    needs: str
    member: str | None = None
    """The IAM member, where it is no service account of this environment."""


def accounts(
    stack: Declarations, env: Environment, agents: Mapping[str, AgentManifest]
) -> dict[str, Resource]:
    """A service account for each agent, the deployer's, and one for each other pipeline."""
    purpose = {name: (f"The agent {name}", agent.where("name")) for name, agent in agents.items()}
    for pipeline in (names.DEPLOYER, *names.PIPELINES):
        purpose[pipeline] = (f"The pipeline {pipeline}", env.where("name"))
    return {
        who: Resource(
            stack,
            ACCOUNT,
            who,
            origin=origin,
            account_id=names.account_id(who, env.scope),
            display_name=f"{who} ({env.scope})",
            description=f"{text} of {env.scope}. Made by {names.KIT}.",
        )
        for who, (text, origin) in purpose.items()
    }


def table(agents: Mapping[str, AgentManifest], env: Environment) -> list[Binding]:
    """Every binding of an environment, in a fixed order.

    Raises:
        InputError: its file names an agent that there is not.
    """
    memory = env.memory == "bank"
    return [
        *(row for agent in agents.values() for row in _agent(agent, memory=memory)),
        *_data(agents, env),
        *_deployer(agents, names.DEPLOYER),
        *_deployer(agents, "promote"),
        *_deployer(agents, "rollback"),
        *_pull_request(),
        *_audit(memory=memory),
        *_people(env.groups, memory=memory),
    ]


def _agent(agent: AgentManifest, *, memory: bool) -> Iterator[Binding]:
    who = agent.name
    yield Binding(who, "roles/aiplatform.endpointUser", "project", "models.generateContent")
    needs = "objects.get of the kill switch"
    yield Binding(who, "roles/storage.objectViewer", "bucket/control", needs)
    if agent.app_name:
        needs = "sessions.create, sessions.get, sessions.appendEvent"
        yield Binding(who, "roles/aiplatform.sessionUser", f"engine/{who}", needs)
        needs = "objects.insert, objects.get, objects.list of files that people asked for"
        yield Binding(who, "roles/storage.objectUser", "bucket/artifacts", needs)
    for other in agent.calls:
        needs = "reasoningEngines.query, reasoningEngines.a2a"
        yield Binding(who, "roles/aiplatform.user", f"engine/{other}", needs)
    if memory and agent.uses_memory:
        needs = "memories.retrieve, memories.generate, memories.ingestEvents"
        yield Binding(who, "roles/aiplatform.memoryUser", "bank", needs)
    for secret in sorted(set(agent.secrets.values())):
        needs = "secrets.versions.access, when the runtime fills secret_env"
        yield Binding(who, "roles/secretmanager.secretAccessor", f"secret/{secret}", needs)


def _data(agents: Mapping[str, AgentManifest], env: Environment) -> Iterator[Binding]:
    for agent, kind in env.data.items():
        if agent not in agents:
            raise InputError(
                f"there is no agent {agent!r} whose data could be named",
                where=env.where("data", agent),
                fix=f"known: {', '.join(agents)}",
            )
        if kind == "bigquery":
            yield Binding(agent, "roles/bigquery.jobUser", "project", "jobs.query")


def _deployer(agents: Mapping[str, AgentManifest], who: str) -> Iterator[Binding]:
    for agent in agents:
        needs = "reasoningEngines.patch, operations.get, reasoningEngines.query"
        yield Binding(who, "roles/aiplatform.user", f"engine/{agent}", needs)
    needs = "services.list, before a deployment"
    yield Binding(who, "roles/serviceusage.serviceUsageConsumer", "project", needs)
    yield Binding(who, "roles/logging.logWriter", "project", "entries.write, by Cloud Build")
    yield Binding(who, "roles/storage.objectUser", "bucket/releases", "objects.insert, objects.get")
    yield Binding(who, "roles/storage.objectUser", "bucket/control", "objects.insert, .delete")
    yield Binding(who, "roles/storage.objectViewer", "bucket/policy", "objects.get")
    for use in ("releases", "control"):
        needs = "buckets.get: whether versions are kept"
        yield Binding(who, "roles/storage.legacyBucketReader", f"bucket/{use}", needs)
    for agent in agents:
        needs = "reasoningEngines.patch of spec.serviceAccount (actAs)"
        yield Binding(who, "roles/iam.serviceAccountUser", f"account/{agent}", needs)
    for secret in sorted({s for agent in agents.values() for s in agent.secrets.values()}):
        needs = "secrets.versions.list, to pin the newest; no values"
        yield Binding(who, "roles/secretmanager.viewer", f"secret/{secret}", needs)


def _pull_request() -> Iterator[Binding]:
    who = "pull-request"
    yield Binding(who, "roles/logging.logWriter", "project", "entries.write, by Cloud Build")
    yield Binding(who, "roles/viewer", "project", "get and list of what a plan reads")
    yield Binding(who, "roles/iam.securityReviewer", "project", "getIamPolicy of what a plan reads")
    yield Binding(who, "roles/storage.objectViewer", "bucket/policy", "objects.get")
    yield Binding(who, "roles/storage.objectViewer", "bucket/control", "objects.get")


def _audit(*, memory: bool) -> Iterator[Binding]:
    who = "memory-audit"
    yield Binding(who, "roles/logging.logWriter", "project", "entries.write, by Cloud Build")
    yield Binding(who, "roles/cloudbuild.builds.editor", "project", "triggers.run, by the schedule")
    yield Binding(
        who, "roles/iam.serviceAccountUser", f"account/{who}", "triggers.run as itself (actAs)"
    )
    yield Binding(who, "roles/storage.objectViewer", "bucket/policy", "objects.get")
    if memory:
        yield Binding(who, "roles/aiplatform.memoryViewer", "bank", "memories.list, memories.get")


def _people(groups: Groups, *, memory: bool) -> Iterator[Binding]:
    """Rows of groups that the environment names; the others are not there."""
    rows = [
        ("viewer", "roles/aiplatform.viewer", "project", "reasoningEngines.get, .list"),
        ("viewer", "roles/logging.viewer", "project", "entries.list"),
        ("viewer", "roles/monitoring.viewer", "project", "timeSeries.list"),
        ("viewer", "roles/cloudbuild.builds.viewer", "project", "builds.list"),
        ("viewer", "roles/storage.objectViewer", "bucket/control", "objects.get: the history"),
        ("viewer", "roles/storage.objectViewer", "bucket/policy", "objects.get: the descriptor"),
        ("releaser", "roles/cloudbuild.builds.editor", "project", "triggers.run"),
        ("releaser", "roles/iam.serviceAccountUser", "account/deployer", "triggers.run (actAs)"),
        ("releaser", "roles/iam.serviceAccountUser", "account/promote", "triggers.run (actAs)"),
        ("releaser", "roles/iam.serviceAccountUser", "account/rollback", "triggers.run (actAs)"),
        ("approver", "roles/cloudbuild.builds.approver", "project", "builds.approve"),
        ("break_glass", "roles/aiplatform.admin", "project", "reasoningEngines.*"),
        ("break_glass", "roles/storage.objectAdmin", "bucket/control", "objects.delete: the lease"),
    ]
    if memory:
        needs = "memories.list, .get, .delete, .purge"
        rows.append(("memory_officer", "roles/aiplatform.memoryUser", "bank", needs))
    for group, role, on, needs in rows:
        if address := getattr(groups, group):
            yield Binding(group, role, on, needs, member=f"group:{address}")


def bind(
    stack: Declarations, env: Environment, rows: list[Binding], targets: Targets
) -> list[Resource]:
    """Puts every row of the table on its target as one `…_iam_member`."""
    return [_bind(stack, env, row, targets) for row in rows]


def _bind(stack: Declarations, env: Environment, row: Binding, targets: Targets) -> Resource:
    kind, _, key = row.on.partition("/")
    name = "-".join(filter(None, (row.who, row.role.split("/")[-1], kind, key)))
    type_, place = _place(env, kind, key, targets)
    fields: dict[str, Any] = {
        "role": row.role,
        "member": row.member or targets.accounts[row.who].ref("member"),
        **place,
    }
    origin = env.where("groups", row.who) if row.member else env.where("name")
    return Resource(stack, type_, name.replace(".", "-"), origin=origin, **fields)


def _place(
    env: Environment, kind: str, key: str, targets: Targets
) -> tuple[str, Mapping[str, Any]]:
    """The resource type of a binding on a target, and the arguments that name the target."""
    if kind == "project":
        return "google_project_iam_member", {"project": env.project}
    if kind == "secret":
        secret = targets.secrets[key].ref("id")
        return "google_secret_manager_secret_iam_member", {"secret_id": secret}
    if kind == "bucket":
        bucket = targets.buckets[key].ref("name")
        return "google_storage_bucket_iam_member", {"bucket": bucket}
    if kind == "account":
        account = targets.accounts[key].ref("name")
        return "google_service_account_iam_member", {"service_account_id": account}
    engine = targets.bank if kind == "bank" else targets.engines[key]
    assert engine is not None, "the table grants nothing on a bank that is not there"
    place = {"region": env.region, "reasoning_engine": engine.ref("name")}
    return "google_vertex_ai_reasoning_engine_iam_member", place
