"""An environment on a local platform, made without Terraform: what a deployment finds there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from google.cloud import secretmanager_v1 as secretmanager

from infra import names
from infra.descriptor import OBJECT_NAME, SCHEMA_VERSION, Descriptor
from infra.manifest import AgentManifest, load_all
from services.release import preflight
from services.release.deploy import DeployResult, Wanted, deploy
from services.release.packaging import package_all
from services.release.records import Bucket
from services.release.secrets import Vault
from services.release.site import Site
from services.release.target import Target
from tests.release.targets import target_at

SECRET = "caller-signing-key"


@dataclass
class World:
    """A checkout, and an environment of a project of its own that it is deployed to."""

    root: Path
    cache: Path
    target: Target
    descriptor: Descriptor

    @property
    def manifests(self) -> dict[str, AgentManifest]:
        return load_all(self.root)

    def deploy(self, said: list[str] | None = None, *, keep_going: bool = False) -> DeployResult:
        """What `slipway up` does with the agents."""
        Vault(self.target, self.descriptor).ensure_generated(SECRET)
        bundles = package_all(self.root, self.manifests, self.cache, lambda line: None)
        say = (said if said is not None else []).append
        wanted = Wanted(self.manifests, bundles)
        return deploy(self.root, self.site, wanted, say, keep_going=keep_going)

    @property
    def site(self) -> Site:
        """The environment, with clients of its own."""
        return Site(self.target, self.descriptor)

    def bucket(self, use: str) -> Bucket:
        return Bucket(self.target, getattr(self.descriptor.buckets, use))

    def document(self, number: int) -> Any:
        """A deployment's document."""
        stored = self.bucket("control").read(f"deployments/{number:04}.json")
        assert stored is not None
        return json.loads(stored.data)

    def query(self, agent: str, message: str) -> Any:
        """Asks an engine by REST."""
        body = {"classMethod": "query", "input": {"message": message}}
        return api(self.target, "POST", f"{self.descriptor.engines[agent].name}:query", body)

    def engine(self, agent: str) -> Any:
        return api(self.target, "GET", self.descriptor.engines[agent].name)


def api(target: Target, method: str, path: str, body: Any = None) -> Any:
    """One call of Agent Runtime as the operator."""
    return rest(target, method, f"v1beta1/{path}", body)


def rest(target: Target, method: str, path: str, body: Any = None) -> Any:
    """One call of the platform's as the operator."""
    answer = httpx.request(
        method,
        f"{target.endpoints.agent_runtime}/{path}",
        json=body,
        headers={"Authorization": "Bearer operator"},
        timeout=60,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def make(root: Path, cache: Path, endpoint: str, project: str) -> World:
    """Buckets, an empty engine for each agent, a memory bank, a secret and the descriptor."""
    target = target_at(endpoint, project=project)
    parent = f"projects/{project}/locations/us-central1"
    buckets = {
        use: names.bucket(project, "local", use) for use in ("releases", "control", "policy")
    }
    for bucket in buckets.values():
        made = target.storage.bucket(bucket)
        made.versioning_enabled = True
        made.create(location="us-central1")
    engines, labels = {}, {}
    for agent in [*load_all(root), names.MEMORY_BANK]:
        labels = names.labels("local", agent)
        body = {"displayName": f"{agent}-local", "labels": labels}
        operation = api(target, "POST", f"{parent}/reasoningEngines", body)
        operation = api(target, "GET", operation["name"])
        engines[agent] = str(operation["response"]["name"])
    bank = engines.pop(names.MEMORY_BANK)
    for agent in engines:
        _account(target, agent, project)
    apis = {"serviceIds": list(preflight.APIS)}
    rest(target, "POST", f"v1/projects/{project}/services:batchEnable", apis)
    members = [f"serviceAccount:{account(agent, project)}" for agent in engines]
    policy = {"bindings": [{"role": "roles/aiplatform.user", "members": members}]}
    api(target, "POST", f"projects/{project}:setIamPolicy", {"policy": policy})
    secret = _secret(target, [account(agent, project) for agent in engines])
    document = {
        "schema_version": SCHEMA_VERSION,
        "environment": "local",
        "project": project,
        "project_number": bank.split("/")[1],
        "region": "us-central1",
        "engines": {
            agent: {
                "id": name.rpartition("/")[2],
                "name": name,
                "service_account": account(agent, project),
            }
            for agent, name in engines.items()
        },
        "memory_bank": {"id": bank.rpartition("/")[2], "name": bank, "location": "us-central1"},
        "secrets": {SECRET: secret},
        "buckets": buckets,
    }
    descriptor = Descriptor.model_validate(document)
    policy = target.storage.bucket(buckets["policy"])
    policy.blob(OBJECT_NAME).upload_from_string(descriptor.model_dump_json())
    return World(root, cache, target, descriptor)


def _account(target: Target, agent: str, project: str) -> None:
    body = {"accountId": names.account_id(agent, "local")}
    rest(target, "POST", f"v1/projects/{project}/serviceAccounts", body)


def account(agent: str, project: str) -> str:
    """The agent's service account."""
    return f"{names.account_id(agent, 'local')}@{project}.iam.gserviceaccount.com"


def _secret(target: Target, readers: list[str]) -> str:
    """A secret without a version that the agents' accounts may read."""
    client = secretmanager.SecretManagerServiceClient(
        transport="rest",
        credentials=target.credentials,
        client_options={"api_endpoint": target.endpoints.secret_manager},
    )
    project = target.environment.project
    made = client.create_secret(
        request={
            "parent": f"projects/{project}",
            "secret_id": SECRET,
            "secret": {"replication": {"automatic": {}}},
        }
    )
    members = [f"serviceAccount:{email}" for email in readers]
    role = {"role": "roles/secretmanager.secretAccessor", "members": members}
    client.set_iam_policy(request={"resource": made.name, "policy": {"bindings": [role]}})
    return str(made.name)
