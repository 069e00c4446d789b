"""The Cloud Build triggers: one for each pipeline, in the environment's region, as its account.

Each holds the steps of `pipelines/NAME.yaml` (infra/pipelines.py says why).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra import names, pipelines
from infra.environment import Environment
from infra.errors import InputError
from infra.pipelines import Build
from infra.resource import Declarations, Resource

TYPE = "google_cloudbuild_trigger"
POOL = "google_cloudbuild_worker_pool"
REPOSITORY = "google_cloudbuildv2_repository"
JOB = "google_cloud_scheduler_job"
# A push that touches nothing of these deploys nothing.
DEPLOYED_FILES = ("agents/**", "infra/**", "pipelines/**", "scripts/**", "services/**",
                  "requirements.lock")  # fmt: skip
DEPLOY, PULL_REQUEST, PROMOTE = "deploy", "pull-request", "promote"
ROLLBACK, AUDIT = "rollback", "memory-audit"


@dataclass(frozen=True)
class Cloudbuild:
    """What every trigger of an environment shares."""

    stack: Declarations
    env: Environment
    accounts: Mapping[str, Resource]
    builds: Mapping[str, Build]
    repository: str
    pool: Resource | None

    def trigger(self, pipeline: str, does: str, **fields: Any) -> Resource:
        """A trigger that runs `pipelines/PIPELINE.yaml` as the pipeline's account."""
        env = self.env
        own = fields.pop("substitutions", {})
        account = self.accounts[names.DEPLOYER if pipeline == DEPLOY else pipeline]
        return Resource(
            self.stack,
            TYPE,
            pipeline,
            origin=env.where("build"),
            name=f"{pipeline}-{env.scope}",
            description=f"{does} {env.name}.",
            location=env.region,
            tags=[names.KIT, env.scope],
            service_account=account.ref("id"),
            substitutions={"_ENV": env.name, **own},
            build=self._build(pipeline),
            **fields,
        )

    def by_hand(self) -> dict[str, Any]:
        """The source of a trigger that no event starts: the branch that deploys."""
        branch = self.env.build.branch.strip("^$")
        source = {"repository": self.repository, "repo_type": "GITHUB"}
        return {"source_to_build": {**source, "ref": f"refs/heads/{branch}"}}

    def _build(self, pipeline: str) -> Build:
        if pipeline not in self.builds:
            raise InputError(
                f"there is no pipeline {pipeline!r}",
                where=str(pipelines.FOLDER),
                fix=f"write {pipelines.FOLDER / pipeline}.yaml",
            )
        build = dict(self.builds[pipeline])
        # The trigger's own substitutions count; the file's are for a build that is sent by hand.
        build.pop("substitutions", None)
        if self.pool is not None:
            build["options"] = {**build["options"], "worker_pool": self.pool.ref("id")}
        return build


def triggers(
    stack: Declarations,
    env: Environment,
    accounts: Mapping[str, Resource],
    builds: Mapping[str, Build],
) -> dict[str, Resource]:
    """Every trigger by its pipeline's name, and the job that starts the audit."""
    build = Cloudbuild(stack, env, accounts, builds, _repository(stack, env), _pool(stack, env))
    made = {
        PULL_REQUEST: build.trigger(
            PULL_REQUEST,
            "Plans what a pull request would change in",
            repository_event_config={
                "repository": build.repository,
                "pull_request": {
                    "branch": env.build.branch,
                    # Strangers' code runs only after somebody of the team has looked at it.
                    "comment_control": "COMMENTS_ENABLED_FOR_EXTERNAL_CONTRIBUTORS_ONLY",
                },
            },
        ),
        DEPLOY: build.trigger(
            DEPLOY,
            "Packages the agents and deploys them to",
            repository_event_config={
                "repository": build.repository,
                "push": {"branch": env.build.branch},
            },
            included_files=list(DEPLOYED_FILES),
        ),
        ROLLBACK: build.trigger(ROLLBACK, "Puts an earlier release back on", **build.by_hand()),
        AUDIT: build.trigger(AUDIT, "Looks through the memories of", **build.by_hand()),
    }
    if env.build.promote_to:
        made[PROMOTE] = build.trigger(
            PROMOTE,
            f"Promotes to {env.build.promote_to} what runs on",
            approval_config={"approval_required": True},
            substitutions={"_TO": env.build.promote_to},
            **build.by_hand(),
        )
    _audit_job(stack, env, accounts[AUDIT], made[AUDIT])
    return made


def _repository(stack: Declarations, env: Environment) -> str:
    """The full name of the 2nd-generation repository; linked here if its address is given."""
    connection, repository = env.build.repository.split("/")
    parent = f"projects/{env.project}/locations/{env.region}/connections/{connection}"
    if env.build.remote_uri is None:
        return f"{parent}/repositories/{repository}"
    linked = Resource(
        stack,
        REPOSITORY,
        "source",
        origin=env.where("build", "remote_uri"),
        name=repository,
        location=env.region,
        parent_connection=parent,
        remote_uri=env.build.remote_uri,
    )
    return linked.ref("id")


def _pool(stack: Declarations, env: Environment) -> Resource | None:
    if env.build.worker_pool == "default":
        return None
    return Resource(
        stack,
        POOL,
        "workers",
        origin=env.where("build", "worker_pool"),
        name=f"agents-{env.scope}",
        location=env.region,
        display_name=f"Builds of {env.scope}",
        worker_config={
            "machine_type": env.build.machine_type,
            "disk_size_gb": env.build.disk_gb,
            "no_external_ip": True,
        },
    )


def _audit_job(stack: Declarations, env: Environment, account: Resource, trigger: Resource) -> None:
    """Starts the audit's trigger by its API: Cloud Build itself has no timetable."""
    home = f"projects/{env.project}/locations/{env.region}"
    Resource(
        stack,
        JOB,
        AUDIT,
        origin=env.where("build", "audit_schedule"),
        name=f"{AUDIT}-{env.scope}",
        region=env.region,
        description=f"Starts the memory audit of {env.scope}.",
        schedule=env.build.audit_schedule,
        time_zone="Etc/UTC",
        attempt_deadline="60s",
        retry_config={"retry_count": 3},
        http_target={
            "uri": f"https://cloudbuild.googleapis.com/v1/{home}/triggers/{trigger.ref('trigger_id')}:run",
            "http_method": "POST",
            "oauth_token": {"service_account_email": account.ref("email")},
        },
    )
