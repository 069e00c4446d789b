"""google_*_iam_member: one member of one role, changed by reading and writing the whole policy."""

from __future__ import annotations

import random
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import ClassVar

from services.emulator.provider.codec import UNKNOWN, State
from services.emulator.provider.errors import ApiFailure, Problem, ProviderError
from services.emulator.provider.mapping import LOCAL, Body, Fields
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider

ATTEMPTS = 12
"""How often a policy is read and written again when somebody else wrote it in between."""
_PREFIXES = ("user:", "serviceAccount:", "group:", "domain:", "principal:", "principalSet:")
_PUBLIC = ("allUsers", "allAuthenticatedUsers")
_LOCKS: dict[str, threading.Lock] = {}
_OWN = (
    "role",
    "member",
    "condition",
    "project",
    "region",
    "bucket",
    "secret_id",
    "service_account_id",
    "reasoning_engine",
    "location",
    "repository",
    "crypto_key_id",
)
_LOGS = ("ADMIN_READ", "DATA_READ", "DATA_WRITE")
_VERSION = 3  # the first with conditions


class IamMember(Kind):
    """What is told by each type: where the policy lies, and how it is read and written.

    Class attributes:
        resource: the attribute that names what the policy lies on.
    """

    resource: ClassVar[str]
    force_new: ClassVar[tuple[str, ...]] = _OWN
    fields: ClassVar[Fields] = dict.fromkeys(_OWN, LOCAL)

    @abstractmethod
    def name(self, provider: Provider, state: State) -> str:
        """Name of what the policy lies on, as IDs begin with it."""

    def get(self, provider: Provider, name: str) -> Body:
        """Reads the policy."""
        body = {"options": {"requestedPolicyVersion": _VERSION}}
        return provider.client.call("POST", f"/v1/{name}:getIamPolicy", body)

    def set(self, provider: Provider, name: str, policy: Body) -> None:
        """Writes the policy; its etag refuses what was changed in between."""
        provider.client.call("POST", f"/v1/{name}:setIamPolicy", {"policy": policy})

    def check(self, config: State) -> Iterator[Problem]:
        """A member says what it is."""
        member = config.get("member")
        if isinstance(member, str) and not member.startswith(_PREFIXES) and member not in _PUBLIC:
            told = f"member {member!r} must begin with one of {', '.join(_PREFIXES)}"
            yield Problem(told, ("member",))

    def foresee(self, provider: Provider, planned: State, prior: State | None) -> None:
        """The region, where the type has one."""
        del prior
        if planned.get("region") is UNKNOWN:
            planned["region"] = provider.region_of({})

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """Adds the member."""
        del config
        name = self.name(provider, planned)
        self._change(provider, name, lambda policy: _add(policy, planned))
        parts = [name, planned["role"], planned["member"], *_titles(planned)]
        return {"id": "/".join(parts)}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """The policy, if the member is in it."""
        try:
            policy = self.get(provider, self.name(provider, state))
        except ApiFailure as failure:
            if failure.code == 404:
                return None
            raise
        binding = _binding(policy, state)
        return policy if binding and state["member"] in binding["members"] else None

    def remove(self, provider: Provider, state: State) -> None:
        """Takes the member away."""
        name = self.name(provider, state)
        self._change(provider, name, lambda policy: _drop(policy, state))

    def locate(self, provider: Provider, id_: str) -> State:
        """RESOURCE ROLE MEMBER, with blanks between."""
        words = id_.split()
        if len(words) != 3:
            raise ProviderError(
                f"Wrong number of parts to Member id {id_!r}; expected 'resource_name role member'"
            )
        state: State = {**self.owner(provider, words[0]), "role": words[1], "member": words[2]}
        return {**state, "id": f"{self.name(provider, state)}/{words[1]}/{words[2]}"}

    def owner(self, provider: Provider, word: str) -> State:
        """The attributes for the first word of an import ID."""
        del provider
        return {self.resource: word}

    def _change(self, provider: Provider, name: str, change: Callable[[Body], bool]) -> None:
        """Reads, changes and writes the policy until nobody came in between."""
        with _LOCKS.setdefault(name, threading.Lock()):
            for attempt in range(1, ATTEMPTS + 1):
                policy = self.get(provider, name)
                if not change(policy):
                    return
                try:
                    self.set(provider, name, policy)
                    return
                except ApiFailure as failure:
                    if failure.code != 409 or attempt == ATTEMPTS:
                        raise
                time.sleep(min(0.02 * 2**attempt, 1.0) * random.random())


class ProjectMember(IamMember):
    """On a project."""

    type = "google_project_iam_member"
    resource = "project"

    def name(self, provider: Provider, state: State) -> str:
        """The project's ID."""
        del provider
        return str(state["project"]).removeprefix("projects/")

    def get(self, provider: Provider, name: str) -> Body:
        """By the project's full name."""
        return super().get(provider, f"projects/{name}")

    def set(self, provider: Provider, name: str, policy: Body) -> None:
        """With the mask that the google provider sends."""
        body = {"policy": policy, "updateMask": "bindings,etag,auditConfigs"}
        provider.client.call("POST", f"/v1/projects/{name}:setIamPolicy", body)


class SecretMember(IamMember):
    """On a secret, named in full or by its ID."""

    type = "google_secret_manager_secret_iam_member"
    resource = "secret_id"

    def name(self, provider: Provider, state: State) -> str:
        """The secret's full name."""
        secret = str(state["secret_id"])
        if "/" in secret:
            return secret
        return f"projects/{provider.project_of(state)}/secrets/{secret}"

    def get(self, provider: Provider, name: str) -> Body:
        """Secret Manager reads by GET."""
        query = {"options.requestedPolicyVersion": str(_VERSION)}
        return provider.client.call("GET", f"/v1/{name}:getIamPolicy", query=query)

    def owner(self, provider: Provider, word: str) -> State:
        """The secret's full name, or its ID."""
        project = parse(word, "projects/{project}/secrets/{_}", "{_}").get("project")
        return {"secret_id": word, "project": project or provider.project_of({})}


class ServiceAccountMember(IamMember):
    """On a service account, named in full."""

    type = "google_service_account_iam_member"
    resource = "service_account_id"

    def name(self, provider: Provider, state: State) -> str:
        """The account's full name."""
        del provider
        return str(state["service_account_id"])

    def get(self, provider: Provider, name: str) -> Body:
        """A POST with its options in the query."""
        query = {"options.requestedPolicyVersion": str(_VERSION)}
        return provider.client.call("POST", f"/v1/{name}:getIamPolicy", query=query)


class BucketMember(IamMember):
    """On a bucket."""

    type = "google_storage_bucket_iam_member"
    resource = "bucket"

    def name(self, provider: Provider, state: State) -> str:
        """`b/BUCKET`."""
        del provider
        return f"b/{str(state['bucket']).removeprefix('b/')}"

    def get(self, provider: Provider, name: str) -> Body:
        """Cloud Storage has a path of its own."""
        query = {"optionsRequestedPolicyVersion": str(_VERSION)}
        return provider.client.call("GET", f"/storage/v1/{name}/iam", query=query)

    def set(self, provider: Provider, name: str, policy: Body) -> None:
        """PUT of the whole policy."""
        provider.client.call("PUT", f"/storage/v1/{name}/iam", policy)

    def owner(self, provider: Provider, word: str) -> State:
        """The bucket, with or without `b/`."""
        del provider
        return {"bucket": word.removeprefix("b/")}


class EngineMember(IamMember):
    """On an engine, named in full or by its bare ID."""

    type = "google_vertex_ai_reasoning_engine_iam_member"
    resource = "reasoning_engine"

    def name(self, provider: Provider, state: State) -> str:
        """The engine's full name."""
        engine = str(state["reasoning_engine"])
        if "/" in engine:
            return engine
        home = f"projects/{provider.project_of(state)}/locations/{provider.region_of(state)}"
        return f"{home}/reasoningEngines/{engine}"

    def owner(self, provider: Provider, word: str) -> State:
        """The engine's full name, or less of it."""
        found = parse(
            word,
            "projects/{project}/locations/{region}/reasoningEngines/{reasoning_engine}",
            "{project}/{region}/{reasoning_engine}",
            "{region}/{reasoning_engine}",
            "{reasoning_engine}",
        )
        return {"project": provider.project, "region": provider.region, **found}


class RepositoryMember(IamMember):
    """On an Artifact Registry repository, named in full or by its ID."""

    type = "google_artifact_registry_repository_iam_member"
    resource = "repository"

    def foresee(self, provider: Provider, planned: State, prior: State | None) -> None:
        """Its location."""
        super().foresee(provider, planned, prior)
        if planned.get("location") is UNKNOWN:
            planned["location"] = provider.region_of({})

    def name(self, provider: Provider, state: State) -> str:
        """The repository's full name."""
        repository = str(state["repository"])
        if "/" in repository:
            return repository
        home = f"projects/{provider.project_of(state)}/locations/{state['location']}"
        return f"{home}/repositories/{repository}"

    def owner(self, provider: Provider, word: str) -> State:
        """The repository's full name, or less of it."""
        found = parse(
            word,
            "projects/{project}/locations/{location}/repositories/{repository}",
            "{project}/{location}/{repository}",
            "{location}/{repository}",
            "{repository}",
        )
        return {"project": provider.project, "location": provider.region, **found}


class CryptoKeyMember(IamMember):
    """On a key, named in full."""

    type = "google_kms_crypto_key_iam_member"
    resource = "crypto_key_id"

    def name(self, provider: Provider, state: State) -> str:
        """The key's full name."""
        del provider
        return str(state["crypto_key_id"])


class AuditConfig(IamMember):
    """google_project_iam_audit_config: what of one service's calls a project's audit log holds."""

    type = "google_project_iam_audit_config"
    resource = "project"
    force_new = ("project", "service")
    fields: ClassVar[Fields] = {**dict.fromkeys(("project", "service"), LOCAL)}

    def check(self, config: State) -> Iterator[Problem]:
        """Which logs there are."""
        for entry in config.get("audit_log_config") or []:
            kind = entry.get("log_type")
            if isinstance(kind, str) and kind not in _LOGS:
                told = f"log_type must be one of {', '.join(_LOGS)}, but is {kind!r}."
                yield Problem(told, ("audit_log_config",))

    def name(self, provider: Provider, state: State) -> str:
        """The project's ID."""
        del provider
        return f"projects/{str(state['project']).removeprefix('projects/')}"

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """Puts the service's configuration into the policy."""
        del config
        self._put(provider, planned)
        return {"id": f"{planned['project']}/audit_config/{planned['service']}"}

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """The same."""
        del prior
        self._put(provider, planned)

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """The service's entry of the policy."""
        policy = self.get(provider, self.name(provider, state))
        for entry in policy.get("auditConfigs", []):
            if entry["service"] == state["service"]:
                logs = entry.get("auditLogConfigs", [])
                return {"auditLogConfig": logs, "etag": policy.get("etag")}
        return None

    def remove(self, provider: Provider, state: State) -> None:
        """Takes the service's entry out."""
        self._replace(provider, state, [])

    def locate(self, provider: Provider, id_: str) -> State:
        """PROJECT SERVICE, with a blank between."""
        del provider
        words = id_.split()
        if len(words) != 2:
            raise ProviderError(f"Import id {id_!r} must be 'project service'")
        return {
            "project": words[0],
            "service": words[1],
            "id": f"{words[0]}/audit_config/{words[1]}",
        }

    def _put(self, provider: Provider, planned: State) -> None:
        logs = [
            {
                "logType": entry["log_type"],
                **(
                    {"exemptedMembers": sorted(entry["exempted_members"])}
                    if entry.get("exempted_members")
                    else {}
                ),
            }
            for entry in planned["audit_log_config"]
        ]
        self._replace(provider, planned, [{"service": planned["service"], "auditLogConfigs": logs}])

    def _replace(self, provider: Provider, state: State, entries: list[Body]) -> None:
        """The policy with these entries in the place of the service's."""

        def change(policy: Body) -> bool:
            before = policy.get("auditConfigs", [])
            others = [entry for entry in before if entry["service"] != state["service"]]
            policy["auditConfigs"] = [*others, *entries]
            return bool(policy["auditConfigs"] != before)

        self._change(provider, self.name(provider, state), change)

    def set(self, provider: Provider, name: str, policy: Body) -> None:
        """With the mask that the google provider sends."""
        body = {"policy": policy, "updateMask": "bindings,etag,auditConfigs"}
        provider.client.call("POST", f"/v1/{name}:setIamPolicy", body)


def _titles(state: State) -> list[str]:
    return [str(item["title"]) for item in state.get("condition") or []]


def _condition(state: State) -> Body | None:
    """The binding's condition as the API has it."""
    for item in state.get("condition") or []:
        return {key: item[key] for key in ("title", "expression", "description") if item.get(key)}
    return None


def _binding(policy: Body, state: State) -> Body | None:
    wanted = (state["role"], _condition(state))
    for binding in policy.get("bindings", []):
        if (binding["role"], binding.get("condition")) == wanted:
            return dict(binding)
    return None


def _add(policy: Body, state: State) -> bool:
    """Adds the member; whether that changed anything."""
    found = _binding(policy, state)
    if found and state["member"] in found["members"]:
        return False
    members = [*(found["members"] if found else []), state["member"]]
    condition = _condition(state)
    fresh = {"role": state["role"], "members": members}
    policy["bindings"] = [
        *(b for b in policy.get("bindings", []) if not _matches(b, state)),
        {**fresh, "condition": condition} if condition else fresh,
    ]
    policy["version"] = max(int(policy.get("version", 1)), _VERSION if condition else 1)
    return True


def _drop(policy: Body, state: State) -> bool:
    """Takes the member out; whether that changed anything."""
    found = _binding(policy, state)
    if found is None or state["member"] not in found["members"]:
        return False
    left = [member for member in found["members"] if member != state["member"]]
    others = [b for b in policy["bindings"] if not _matches(b, state)]
    policy["bindings"] = [*others, {**found, "members": left}] if left else others
    return True


def _matches(binding: Body, state: State) -> bool:
    return (binding["role"], binding.get("condition")) == (state["role"], _condition(state))
