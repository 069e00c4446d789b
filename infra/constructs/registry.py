"""Artifact Registry: where the image of an agent that brings its own container lies."""

from __future__ import annotations

from infra.constructs import labels
from infra.environment import Environment
from infra.resource import Declarations, Resource

TYPE = "google_artifact_registry_repository"


def images(stack: Declarations, env: Environment) -> Resource:
    """A Docker repository whose tags cannot be moved."""
    return Resource(
        stack,
        TYPE,
        "images",
        origin=env.where("project"),
        repository_id=f"agents-{env.scope}",
        location=env.region,
        format="DOCKER",
        description=f"Images of the agents of {env.scope}.",
        labels=labels.of(env),
        docker_config={"immutable_tags": True},
    )
