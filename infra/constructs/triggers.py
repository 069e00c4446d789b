"""The Cloud Build trigger that deploys what is merged."""

from __future__ import annotations

from infra import cdk, names
from infra.resource import Resource
from infra.settings import Environment

TYPE = "google_cloudbuild_trigger"
DEPLOY_PIPELINE = "pipelines/deploy.yaml"


def deploy_trigger(stack: cdk.TerraformStack, env: Environment, deployer: Resource) -> Resource:
    """Runs `pipelines/deploy.yaml` as the deployer when what is deployed changes on main."""
    connection, repository = env.repository.split("/")
    home = f"projects/{env.project}/locations/{env.region}"
    return Resource(
        stack,
        TYPE,
        "deploy",
        name=f"deploy-{env.name}",
        description=f"Packages the agents and deploys them to {env.name}.",
        location=env.region,
        tags=[names.KIT, env.name],
        filename=DEPLOY_PIPELINE,
        service_account=deployer.ref("id"),
        repository_event_config={
            "repository": f"{home}/connections/{connection}/repositories/{repository}",
            "push": {"branch": "^main$"},
        },
        included_files=["agents/**", DEPLOY_PIPELINE, "requirements.lock"],
        substitutions={"_ENV": env.name},
    )
