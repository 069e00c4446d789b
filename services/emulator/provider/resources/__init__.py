"""The resource types that the stand-in provider implements."""

from __future__ import annotations

from services.emulator.provider.resources.accounts import ProjectService, ServiceAccount
from services.emulator.provider.resources.base import Resource
from services.emulator.provider.resources.buckets import Bucket, BucketObject
from services.emulator.provider.resources.engines import ReasoningEngine
from services.emulator.provider.resources.iam_members import PLACES, IamMember
from services.emulator.provider.resources.secrets import Secret, SecretVersion
from services.emulator.provider.resources.triggers import Trigger
from services.emulator.provider.schema import Schema

TYPES: dict[str, type[Resource]] = {
    "google_cloudbuild_trigger": Trigger,
    "google_project_service": ProjectService,
    "google_secret_manager_secret": Secret,
    "google_secret_manager_secret_version": SecretVersion,
    "google_service_account": ServiceAccount,
    "google_storage_bucket": Bucket,
    "google_storage_bucket_object": BucketObject,
    "google_vertex_ai_reasoning_engine": ReasoningEngine,
}


def registry(schema: Schema) -> dict[str, Resource]:
    """Every implemented type over its schema."""
    found: dict[str, Resource] = {
        name: type_(schema.resources[name]) for name, type_ in TYPES.items()
    }
    for name, place in PLACES.items():
        found[name] = IamMember(schema.resources[name], place)
    return found
