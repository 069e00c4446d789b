"""What must be true before a deployment writes anything; all that is wrong is said at once.

What was checked already is not asked again: manifests and their limits when they are read, the
entry point and the credentials in files when a bundle is built, labels and secrets' versions when
the plan is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from infra.errors import RemoteError, SlipwayError
from infra.rest import Rest
from services.release import interface, lease
from services.release.parallel import side_by_side
from services.release.plan import AgentPlan, Plan
from services.release.site import Site

AT_ONCE = 8
APIS = ("aiplatform.googleapis.com", "secretmanager.googleapis.com", "storage.googleapis.com")
ON_ENGINE = (
    "aiplatform.reasoningEngines.get",
    "aiplatform.reasoningEngines.query",
    "aiplatform.reasoningEngines.update",
)
ON_ACCOUNT = ("iam.serviceAccounts.actAs",)
ON_BUCKET = ("storage.buckets.get", "storage.objects.create", "storage.objects.get")
_GET = "storage.buckets.get"
ACCESSOR = "roles/secretmanager.secretAccessor"

Found = Iterator[RemoteError]


def require(site: Site, plan: Plan, *, allow_incompatible: bool = False) -> None:
    """Checks everything that can be known before the first write.

    Args:
        allow_incompatible: an agent may lose what others could ask it until now.

    Raises:
        RemoteError: with everything that is wrong, each with its fix.
    """
    # Generators: nothing is asked before a thread goes through them.
    checks = {"lease": _lease(site), "apis": _apis(site), "buckets": _buckets(site)}
    for agent in plan.changed:
        checks[f"engine {agent.agent}"] = _engine(site, agent)
        checks[f"account {agent.agent}"] = _account(site, agent)
        checks[f"secrets {agent.agent}"] = _secrets(site, agent)
        if not allow_incompatible:
            checks[f"interface {agent.agent}"] = _interface(agent)
    calls = {name: partial(list[RemoteError], check) for name, check in checks.items()}
    problems: list[RemoteError] = []
    for result in side_by_side(calls, at_most=AT_ONCE).values():
        if isinstance(result, RemoteError):
            problems.append(result)
        elif isinstance(result, Exception):
            raise result
        else:
            problems += result
    if problems:
        raise RemoteError.of(problems)


def _lease(site: Site) -> Found:
    held = lease.holder(site.control)
    if held is not None:
        yield lease.busy(site.control, str(held))


def _apis(site: Site) -> Found:
    rest = Rest(site.target.credentials)
    base = f"{site.target.endpoints.service_usage}/v1/projects/{site.descriptor.project}/services"
    for api in APIS:
        state = (rest.get(f"{base}/{api}") or {}).get("state")
        if state != "ENABLED":
            yield RemoteError(
                f"the API {api} is not enabled",
                where=f"projects/{site.descriptor.project}",
                fix=f"slipway infra bootstrap {site.target.named}",
            )


def _buckets(site: Site) -> Found:
    """Whether the records can be written, and keep what is overwritten."""
    rest, base = Rest(site.target.credentials), f"{site.target.endpoints.storage}/storage/v1/b"
    asked = "&".join(f"permissions={permission}" for permission in ON_BUCKET)
    for name in (site.descriptor.buckets.control, site.descriptor.buckets.releases):
        found = rest.get(f"{base}/{name}/iam/testPermissions?{asked}")
        if found is None:
            yield RemoteError("there is no such bucket", where=name, fix=site.target.provision)
            continue
        yield from _missing(site, ON_BUCKET, found, f"gs://{name}")
        bucket = rest.get(f"{base}/{name}") if _GET in found.get("permissions", []) else None
        if bucket is not None and not (bucket.get("versioning") or {}).get("enabled"):
            yield RemoteError(
                "the bucket keeps no versions: what is overwritten there would be lost",
                where=f"gs://{name}",
                fix=site.target.provision,
            )


def _engine(site: Site, agent: AgentPlan) -> Found:
    url = f"{site.target.endpoints.agent_runtime}/v1beta1/{agent.engine}:testIamPermissions"
    yield from _tested(site, url, ON_ENGINE, agent.engine)


def _account(site: Site, agent: AgentPlan) -> Found:
    email = str(agent.spec["service_account"])
    name = f"projects/-/serviceAccounts/{email}"
    url = f"{site.target.endpoints.iam}/v1/{name}:testIamPermissions"
    yield from _tested(site, url, ON_ACCOUNT, name)


def _secrets(site: Site, agent: AgentPlan) -> Found:
    """Whether the agent's account may read each secret, as far as the secret's own policy says."""
    rest, email = Rest(site.target.credentials), str(agent.spec["service_account"])
    named = {name.rpartition("/")[2]: name for name in site.descriptor.secrets.values()}
    for item in agent.spec["deployment_spec"]["secret_env"]:
        name = named[item["secret_ref"]["secret"]]
        policy = rest.get(f"{site.target.endpoints.secret_manager}/v1/{name}:getIamPolicy") or {}
        members = [
            member
            for binding in policy.get("bindings", [])
            if binding["role"] == ACCESSOR
            for member in binding["members"]
        ]
        if f"serviceAccount:{email}" not in members:
            yield RemoteError(
                f"{email} may not read the secret of {item['name']}",
                where=name,
                fix=site.target.provision,
            )


def _interface(agent: AgentPlan) -> Found:
    """Whether those who call the agent can go on while they serve what they serve now."""
    if not agent.called_by or agent.before.spec is None:
        return
    before = agent.before.spec.get("class_methods") or []
    if broken := interface.breaks(before, agent.bundle.class_methods):
        callers = ", ".join(agent.called_by)
        yield RemoteError(
            f"{callers} would lose what it can ask of {agent.agent} now: {'; '.join(broken)}",
            where=f"agents/{agent.agent}",
            fix="keep it for one more release, and remove it when nobody calls it any more; "
            "if nobody does: --allow-incompatible",
        )


def _tested(site: Site, url: str, wanted: tuple[str, ...], where: str) -> Found:
    try:
        found = Rest(site.target.credentials).post(url, {"permissions": list(wanted)})
    except SlipwayError as error:
        yield RemoteError(error.what, where=where, fix=site.target.provision)
        return
    yield from _missing(site, wanted, found, where)


def _missing(site: Site, wanted: tuple[str, ...], found: Mapping[str, Any], where: str) -> Found:
    if missing := [p for p in wanted if p not in found.get("permissions", [])]:
        yield RemoteError(
            f"you may not: {', '.join(missing)}",
            where=where,
            fix=f"ask for the deployer's roles (infra/constructs/identity.py), or "
            f"{site.target.provision}",
        )
