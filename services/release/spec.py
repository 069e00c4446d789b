"""An engine's `spec` as a mapping in snake_case: what is wanted of it, and how two are compared."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.descriptor import Descriptor
from infra.errors import InputError
from infra.manifest import (
    FILE,
    FOLDER,
    AgentManifest,
    EngineRef,
    MemoryBankRef,
    Scaling,
    SettingRef,
)
from services.release.bundle import Bundle
from services.release.sources import REQUIREMENTS
from services.release.target import Target

# What an engine has but no deployment declares: its source never comes back, its identity is the
# service account seen from the other side.
UNREADABLE = "source_code_spec.inline_source"
OUTPUT_ONLY = "effective_identity"
# What an update changes for every revision of an engine at once; the rest belongs to each
# (Google's documentation of runtime revisions).
UNVERSIONED = ("identity_type", "service_account")
ENV = "deployment_spec.env"
SECRET_ENV = "deployment_spec.secret_env"
LATEST = "latest"


def wanted(
    target: Target,
    descriptor: Descriptor,
    manifest: AgentManifest,
    bundle: Bundle,
    release: str,
    pins: Mapping[str, str],
) -> dict[str, Any]:
    """The whole spec that the agent's engine shall have, without the archive.

    Args:
        pins: the version of each secret that it shall get.

    Raises:
        InputError: the manifest refers to something that the descriptor does not have.
    """
    module, _, name = bundle.entrypoint.partition(":")
    env = kit_env(target, descriptor, bundle, release) | {
        "SLIPWAY_DATA": target.environment.data.get(manifest.name, "sample")
    }
    env |= declared_env(target, descriptor, manifest)
    return {
        "agent_framework": bundle.framework,
        "class_methods": [dict(method) for method in bundle.class_methods],
        "identity_type": "SERVICE_ACCOUNT",
        "service_account": descriptor.engines[manifest.name].service_account,
        "deployment_spec": {
            "env": [{"name": key, "value": env[key]} for key in sorted(env)],
            "secret_env": secret_env(descriptor, manifest, pins),
            **scaling(manifest.scaling),
        },
        "source_code_spec": {
            "python_spec": {
                "entrypoint_module": module,
                "entrypoint_object": name,
                "requirements_file": REQUIREMENTS,
                "version": bundle.python,
            }
        },
    }


def scaling(declared: Scaling) -> dict[str, Any]:
    """The fields of `deployment_spec` that hold instances and limits."""
    return {
        "min_instances": declared.min_instances,
        "max_instances": declared.max_instances,
        "container_concurrency": declared.container_concurrency,
        "resource_limits": {"cpu": declared.cpu, "memory": declared.memory},
    }


def kit_env(target: Target, descriptor: Descriptor, bundle: Bundle, release: str) -> dict[str, str]:
    """What every engine is told."""
    environment = target.environment
    return {
        "AGENT_PLATFORM_ENDPOINT": target.endpoints.agent_runtime,
        "SLIPWAY_MODEL": environment.model,
        "SLIPWAY_MEMORY": environment.memory,
        "SLIPWAY_RELEASE": release,
        "SLIPWAY_BUNDLE": bundle.digest,
        "SLIPWAY_CONTROL_BUCKET": descriptor.buckets.control,
        "SLIPWAY_STORAGE_ENDPOINT": target.endpoints.storage,
        "SLIPWAY_TURNS_PER_MINUTE": str(environment.turns_per_minute),
    } | (
        {"SLIPWAY_ARTIFACTS_BUCKET": artifacts}
        if (artifacts := descriptor.buckets.artifacts)
        else {}
    )


def declared_env(target: Target, descriptor: Descriptor, manifest: AgentManifest) -> dict[str, str]:
    """The manifest's [env] with the IDs filled in; without memory, its variables are left out."""
    env: dict[str, str] = {}
    for name, value in manifest.env.items():
        if isinstance(value, str):
            env[name] = value
        elif isinstance(value, EngineRef):
            if value.engine not in descriptor.engines:
                raise _unknown(target, manifest, f"the engine of {value.engine!r}")
            env[name] = descriptor.engines[value.engine].id
        elif isinstance(value, MemoryBankRef) and target.environment.memory == "bank":
            if (bank := descriptor.memory_bank) is None:
                raise _unknown(target, manifest, "the memory bank")
            env[name] = bank.id if value.memory_bank == "id" else bank.location
        elif isinstance(value, SettingRef) and (found := setting(target, value)) is not None:
            env[name] = found
    return env


def setting(target: Target, reference: SettingRef) -> str | None:
    """A value of the environment's file, or None when it has none."""
    table, key = reference.setting.split(".")
    found = getattr(target.environment, table)
    value = None if found is None else found.model_dump(by_alias=True)[key]
    if reference.setting == "databricks.host" and value == "local":
        return target.endpoints.agent_runtime  # the local platform has one address for all
    return None if value is None else str(value)


def secret_env(
    descriptor: Descriptor, manifest: AgentManifest, pins: Mapping[str, str]
) -> list[dict[str, Any]]:
    """References to the manifest's secrets, each pinned to a version; never their values."""
    for name, secret in manifest.secrets.items():
        if secret not in descriptor.secrets:
            raise InputError(
                f"[secrets] {name} names {secret!r}, which the environment does not have",
                where=str(FOLDER / manifest.name / FILE),
                fix=f"slipway infra apply {descriptor.environment}",
            )
    return [
        {"name": name, "secret_ref": {"secret": _id(descriptor, secret), "version": pins[secret]}}
        for name, secret in sorted(manifest.secrets.items())
    ]


def _id(descriptor: Descriptor, secret: str) -> str:
    """The ID in Secret Manager, which may have the environment's prefix."""
    return descriptor.secrets[secret].rpartition("/")[2]


def from_live(live: Mapping[str, Any], pins: Mapping[str, str]) -> dict[str, Any]:
    """A live engine's spec as it would be sent again, with other versions of some secrets.

    Args:
        live: `spec` as the API gives it, in camelCase.
        pins: by the secret's ID in Secret Manager.
    """
    spec = {snake(key): value for key, value in live.items() if snake(key) != OUTPUT_ONLY}
    for name in ("deployment_spec", "source_code_spec"):
        spec[name] = _snaked(spec.get(name, {}))
    spec["source_code_spec"].pop("inline_source", None)
    for item in spec["deployment_spec"].get("secret_env", []):
        reference = item["secret_ref"]
        reference["version"] = pins.get(reference["secret"], reference.get("version", LATEST))
    return spec


def _snaked(value: Any) -> Any:
    """Keys in snake_case at every depth; keys of a map with free keys have no capitals anyway."""
    if isinstance(value, Mapping):
        return {snake(key): _snaked(item) for key, item in value.items()}
    return [_snaked(item) for item in value] if isinstance(value, list) else value


def _unknown(target: Target, manifest: AgentManifest, what: str) -> InputError:
    return InputError(
        f"[env] refers to {what}, which {target.environment.name} does not have",
        where=str(FOLDER / manifest.name / FILE),
        fix=target.provision,
    )


def flat(spec: Mapping[str, Any]) -> dict[str, str]:
    """Every readable field as `path -> text`; env by its names, secrets as `secret@version`.

    Takes camelCase or snake_case. A field that is empty is one that is not there.
    """
    return dict(_leaves("", spec))


@dataclass(frozen=True)
class Declared:
    """What a spec says of itself, in the variables that every deployment sets."""

    release: str | None
    bundle: str | None


def declared(spec: Mapping[str, Any] | None) -> Declared:
    """The release and bundle that a spec declares. Takes what `flat` takes, or nothing."""
    fields = flat(spec or {})
    return Declared(fields.get("env.SLIPWAY_RELEASE"), fields.get("env.SLIPWAY_BUNDLE"))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if value in (None, "", [], {}) or path in (UNREADABLE, OUTPUT_ONLY):
        return
    if path == "class_methods":
        yield path, _methods(value)
    elif path == ENV:
        yield from ((f"env.{item['name']}", str(item.get("value", ""))) for item in value)
    elif path == SECRET_ENV:
        for item in value:
            ref = {snake(key): text for key, text in item.items()}["secret_ref"]
            yield f"secret_env.{item['name']}", f"{ref['secret']}@{ref.get('version', LATEST)}"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(f"{path}.{snake(key)}" if path else snake(key), item)
    elif isinstance(value, str):
        yield path, value
    else:
        yield path, json.dumps(value, sort_keys=True)


def _methods(methods: Any) -> str:
    """How many methods, and a digest of their whole description."""
    # A Struct has only floats: 5 and 5.0 are one number.
    text = json.dumps(methods, sort_keys=True, separators=(",", ":"))
    text = re.sub(r"(?<=[:,\[])(-?\d+)\.0(?=[,\]}])", r"\1", text)
    return f"{len(methods)} methods ({hashlib.sha256(text.encode()).hexdigest()[:12]})"


def snake(key: str) -> str:
    """A field's name in snake_case, from either spelling."""
    return re.sub(r"(?<!^)([A-Z])", lambda match: f"_{match[1].lower()}", key)
