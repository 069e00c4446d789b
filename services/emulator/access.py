"""Who may make which call: IAM's bindings, enforced for service accounts.

The operator may do everything. A call that the table below does not know needs no permission here.
A role counts where it is bound: on the resource, on what holds it, or on its project.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from services.emulator import policies, roles
from services.emulator.errors import ApiError
from services.emulator.identity import OPERATOR
from services.emulator.platform import Platform
from services.emulator.projects import canonical

ACT_AS = "iam.serviceAccounts.actAs"
# Google's own service agents work with whatever they were set up on.
_AGENTS = re.compile(r"serviceAccount:[^@]+@gcp-sa-[a-z0-9-]+\.iam\.gserviceaccount\.com")

_V = r"/(?:v1|v1beta1)/"
_PROJECT = r"projects/[^/:]+"
_ENGINE = rf"(?P<on>{_PROJECT}/locations/[^/:]+/reasoningEngines/[^/:]+)"
_ENGINES = rf"(?P<on>{_PROJECT})/locations/[^/:]+/reasoningEngines"
_SECRET = rf"(?P<on>{_PROJECT}/secrets/[^/:]+)"
_ACCOUNT = rf"(?P<on>{_PROJECT}/serviceAccounts/[^/:]+)"
_BUCKET = r"/storage/v1/b/(?P<on>[^/:]+)"
_TRIGGERS = rf"(?P<on>{_PROJECT})/(?:locations/[^/:]+/)?(?:triggers|builds)(?:/[^/:]+)?"
_VERBS = {"GET": "get", "POST": "create", "PATCH": "update", "PUT": "update", "DELETE": "delete"}

# (path, what it is of, verb; None: by the HTTP method, "get/list": GET of a collection)
_TABLE: tuple[tuple[str, str, str | None], ...] = (
    (_V + _ENGINE + r"/operations(/.+)?", "aiplatform.reasoningEngines", "get"),
    (_V + _ENGINE + r"/memories/[^/:]+/revisions(/.+)?", "aiplatform.memoryRevisions", "get"),
    (_V + _ENGINE + r"/memories/[^/:]+", "aiplatform.memories", None),
    (_V + _ENGINE + r"/memories:(generate|ingestEvents)", "aiplatform.memories", "generate"),
    (_V + _ENGINE + r"/memories:(retrieve|retrieveProfiles)", "aiplatform.memories", "retrieve"),
    (_V + _ENGINE + r"/memories:purge", "aiplatform.memories", "delete"),
    (_V + _ENGINE + r"/memories", "aiplatform.memories", "list"),
    (_V + _ENGINE + r"/sessions/[^/:]+:appendEvent", "aiplatform.sessionEvents", "append"),
    (_V + _ENGINE + r"/sessions/[^/:]+/events", "aiplatform.sessionEvents", "list"),
    (_V + _ENGINE + r"/sessions/[^/:]+", "aiplatform.sessions", None),
    (_V + _ENGINE + r"/sessions", "aiplatform.sessions", "list"),
    (_V + _ENGINE + r"(:query|:streamQuery|/a2a/.+)", "aiplatform.reasoningEngines", "query"),
    (_V + _ENGINE + r"/runtimeRevisions/[^/:]+:(query|streamQuery)",
     "aiplatform.reasoningEngines", "query"),
    (_V + _ENGINE + r"/runtimeRevisions(/[^/:]+)?", "aiplatform.reasoningEngines", "get"),
    (_V + _ENGINE + r":(?P<verb>[gs]etIamPolicy)", "aiplatform.reasoningEngines", None),
    (_V + _ENGINE, "aiplatform.reasoningEngines", None),
    (_V + _ENGINES, "aiplatform.reasoningEngines", "list"),
    (_V + _SECRET + r"/versions/[^/:]+:(?P<verb>[a-z]+)", "secretmanager.versions", None),
    (_V + _SECRET + r"/versions/[^/:]+", "secretmanager.versions", None),
    (_V + _SECRET + r"/versions", "secretmanager.versions", "list"),
    (_V + _SECRET + r":addVersion", "secretmanager.versions", "add"),
    (_V + _SECRET + r":(?P<verb>[gs]etIamPolicy)", "secretmanager.secrets", None),
    (_V + _SECRET, "secretmanager.secrets", None),
    (_V + rf"(?P<on>{_PROJECT})/secrets", "secretmanager.secrets", "list"),
    (_V + _ACCOUNT + r":(?P<verb>[gs]etIamPolicy)", "iam.serviceAccounts", None),
    (_V + _ACCOUNT + r":generateAccessToken", "iam.serviceAccounts", "getAccessToken"),
    (_V + _ACCOUNT, "iam.serviceAccounts", None),
    (_V + rf"(?P<on>{_PROJECT})/serviceAccounts", "iam.serviceAccounts", "list"),
    (_V + rf"(?P<on>{_PROJECT})/services(/[^/:]+)?", "serviceusage.services", "get"),
    (_V + rf"(?P<on>{_PROJECT})/services.*:.*", "serviceusage.services", "enable"),
    (_V + rf"(?P<on>{_PROJECT}):(?P<verb>[gs]etIamPolicy)", "resourcemanager.projects", None),
    (_V + rf"(?P<on>{_PROJECT})", "resourcemanager.projects", "get"),
    (_V + _TRIGGERS + ":run", "cloudbuild.builds", "create"),
    (_V + _TRIGGERS + ":approve", "cloudbuild.builds", "approve"),
    (_V + _TRIGGERS, "cloudbuild.builds", None),
    (r"(?:/download)?" + _BUCKET + r"/o/.+", "storage.objects", None),
    (r"/v2/entries:list", "", None),
    (_BUCKET + r"/o", "storage.objects", "list"),
    (r"/(?:resumable/)?upload" + _BUCKET + r"/o", "storage.objects", "create"),
    (_BUCKET + r"/iam", "storage.buckets", "IamPolicy"),
    (_BUCKET + r"/iam/testPermissions", "", None),
    (_BUCKET, "storage.buckets", None),
    (r"/storage/v1/b", "storage.buckets", "list"),
    # Storage's XML API, by which the client downloads.
    (r"/(?!v1/|v1beta1/|v2/|v3/|storage/|upload/|compute/|_)(?P<on>[^/:]+)/.+", "storage.objects",
     None),
)  # fmt: skip
_RULES = tuple((re.compile(path), of, verb) for path, of, verb in _TABLE)


@dataclass(frozen=True)
class Needed:
    """What a call needs: a permission on a resource, named as policies are."""

    permission: str
    resource: str


class Access:
    """Answers by the platform's policies."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform

    def check_call(self, principal: str, method: str, path: str, query: str = "") -> None:
        """Refuses a call in IAM's words.

        Args:
            query: the query string; Storage names the project of a new bucket there.

        Raises:
            ApiError: PERMISSION_DENIED.
        """
        if self._free(principal):
            return
        needed = self._needed(method, path, query)
        if needed is not None:
            self.require(principal, needed.permission, needed.resource)

    def require(self, principal: str, permission: str, resource: str) -> None:
        """Refuses a principal that lacks a permission on a resource, named as policies are.

        Raises:
            ApiError: PERMISSION_DENIED.
        """
        if not self.held(principal, resource, [permission]):
            raise ApiError(
                "PERMISSION_DENIED",
                f"Permission '{permission}' denied on resource '{resource}' (or it may not exist) "
                f"for {principal}.",
            )

    def held(self, principal: str, resource: str, permissions: Iterable[str]) -> list[str]:
        """Which of these permissions a principal has on a resource, in the given order."""
        if self._free(principal):
            return list(permissions)
        store, granted = self._platform.store, []
        for place in self._lineage(resource):
            for binding in policies.read(store, place).get("bindings", []):
                if principal in binding["members"]:
                    granted.append(binding["role"])
        return [p for p in permissions if any(roles.holds(role, p) for role in granted)]

    def _free(self, principal: str) -> bool:
        return principal == OPERATOR or bool(_AGENTS.fullmatch(principal))

    def _needed(self, method: str, path: str, query: str) -> Needed | None:
        for rule, of, verb in _RULES:
            match = rule.fullmatch(path)
            if match is None:
                continue
            if not of:
                return None
            found = match.groupdict()
            permission = f"{of}.{found.get('verb') or _verb(verb, method)}"
            resource = found.get("on") or f"projects/{_project(query)}"
            return Needed(permission, self._resource(of, resource))
        return None

    def _resource(self, of: str, name: str) -> str:
        if of.startswith("storage.") and not name.startswith("projects/"):
            return f"projects/_/buckets/{name}"
        head, project, *rest = name.split("/")
        if project == "-" and rest:  # an account's e-mail says where it lies
            name = "/".join([head, rest[-1].partition("@")[2].partition(".")[0], *rest])
        return canonical(self._platform, name)

    def _lineage(self, resource: str) -> Iterator[str]:
        """The resource and what it lies in, up to its project."""
        yield resource
        parts = resource.split("/")
        if resource.startswith("projects/_/buckets/"):
            bucket = self._platform.store.get("bucket", parts[3])
            if bucket is not None:
                yield f"projects/{bucket['projectNumber']}"
        elif len(parts) > 2:
            yield "/".join(parts[:2])


def _verb(listed: str | None, method: str) -> str:
    if listed == "IamPolicy":
        return "getIamPolicy" if method == "GET" else "setIamPolicy"
    if listed in ("list", "get") and method == "POST":
        return "create"
    return listed or _VERBS.get(method, "get")


def _project(query: str) -> str:
    found = re.search(r"(?:^|&)project=([^&]+)", query)
    return found[1] if found else "-"
