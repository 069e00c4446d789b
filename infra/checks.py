"""Checks of a whole stack before any network: what the provider's schema cannot say.

Each finding names the line of TOML that asked for the resource. The rules are those of the google
provider (conflicts, exactly one of), of the services' own naming, and of IAM.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from infra.errors import InputError

if TYPE_CHECKING:
    from infra.resource import Resource

Fields = Mapping[str, Any]

# (type, dotted path of the block or "", arguments of which at most one may be set)
CONFLICTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "google_vertex_ai_reasoning_engine",
        "spec",
        ("container_spec", "package_spec", "source_code_spec"),
    ),
    (
        "google_vertex_ai_reasoning_engine",
        "context_spec.memory_bank_config.ttl_config",
        ("default_ttl", "granular_ttl_config"),
    ),
    (
        "google_secret_manager_secret_version",
        "",
        ("secret_data", "secret_data_wo"),
    ),
    ("google_cloudbuild_trigger", "", ("filename", "build", "git_file_source")),
    (
        "google_cloudbuild_trigger",
        "",
        ("repository_event_config", "source_to_build", "trigger_template", "github"),
    ),
    ("google_cloudbuild_trigger", "repository_event_config", ("push", "pull_request")),
)
# (type, dotted path, arguments of which exactly one must be set)
EXACTLY_ONE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "google_vertex_ai_reasoning_engine",
        "context_spec.memory_bank_config.customization_configs.memory_topics",
        ("custom_memory_topic", "managed_memory_topic"),
    ),
    (
        "google_cloud_scheduler_job",
        "",
        ("pubsub_target", "http_target", "app_engine_http_target"),
    ),
    ("google_secret_manager_secret", "replication", ("auto", "user_managed")),
    ("google_billing_budget", "amount", ("specified_amount", "last_period_amount")),
    (
        "google_monitoring_alert_policy",
        "conditions",
        (
            "condition_threshold", "condition_absent", "condition_matched_log",
            "condition_monitoring_query_language", "condition_prometheus_query_language",
            "condition_sql",
        ),
    ),
)  # fmt: skip
# (type, argument) -> what the service takes; source: the naming rules of each API.
SHAPES: dict[tuple[str, str], str] = {
    ("google_storage_bucket", "name"): r"[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]",
    ("google_service_account", "account_id"): r"[a-z][a-z0-9-]{4,28}[a-z0-9]",
    ("google_service_account", "display_name"): r".{1,100}",
    ("google_service_account", "description"): r".{1,256}",
    ("google_secret_manager_secret", "secret_id"): r"[A-Za-z0-9_-]{1,255}",
    ("google_vertex_ai_reasoning_engine", "display_name"): r".{1,128}",
    ("google_cloudbuild_trigger", "name"): r"[A-Za-z0-9][A-Za-z0-9-]{0,63}",
    ("google_cloudbuild_trigger", "description"): r".{0,100}",
    ("google_cloudbuild_worker_pool", "name"): r"[a-z][a-z0-9-]{0,61}[a-z0-9]",
    ("google_artifact_registry_repository", "repository_id"): r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
    ("google_cloud_scheduler_job", "name"): r"[A-Za-z0-9_-]{1,500}",
    ("google_logging_metric", "name"): r"[A-Za-z0-9_\-.,+!*',()%/]{1,100}",
    ("google_compute_network_attachment", "name"): r"[a-z]([a-z0-9-]{0,61}[a-z0-9])?",
    ("google_monitoring_alert_policy", "display_name"): r".{1,512}",
    ("google_billing_budget", "display_name"): r".{0,60}",
}
LABEL_KEY, LABEL_VALUE = re.compile(r"[a-z][a-z0-9_-]{0,62}"), re.compile(r"[a-z0-9_-]{0,63}")
MOST_LABELS = 64
MEMBER = re.compile(r"(serviceAccount|group|user|domain):[^\s@]+(@[^\s@]+)?|\$\{[^}]+\}")
PUBLIC = ("allUsers", "allAuthenticatedUsers")
ROLE = re.compile(r"(roles|projects/[^/]+/roles|organizations/\d+/roles)/[A-Za-z0-9_.]+")
REFERENCE = re.compile(r"\b(google_\w+)\.([\w-]+)\.(\w+)")


def check(resources: Sequence[Resource]) -> None:
    """Raises InputError with everything that is wrong in these resources of one stack."""
    found = list(_problems(resources))
    if found:
        raise InputError.of(found)


def _problems(resources: Sequence[Resource]) -> Iterator[InputError]:
    known = {(resource.type, resource.name) for resource in resources}
    seen: dict[str, Resource] = {}
    for resource in resources:
        for what, fix in _wrong(resource, known):
            yield InputError(f"{resource.address}: {what}", where=resource.origin, fix=fix)
        other = seen.setdefault(resource.address, resource)
        if other is not resource:
            told = f"{resource.address} is declared twice; the other one: {other.origin}"
            yield InputError(told, where=resource.origin, fix="give one of them another name")


def _wrong(resource: Resource, known: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """What is wrong with one resource, and what mends it."""
    type_, fields = resource.type, resource.fields
    for of, path, names in CONFLICTS:
        for block in _blocks(fields, path) if of == type_ else ():
            if len(given := _given(block, names)) > 1:
                yield f"{' and '.join(given)} exclude each other", f"keep one of {', '.join(given)}"
    for of, path, names in EXACTLY_ONE:
        for block in _blocks(fields, path) if of == type_ else ():
            if len(given := _given(block, names)) != 1:
                told = f"{path or type_} needs exactly one of {', '.join(names)}; given: {given}"
                yield told, "give exactly one"
    for (of, argument), shape in SHAPES.items():
        value = fields.get(argument)
        plain = of == type_ and isinstance(value, str) and "${" not in value
        if plain and not re.fullmatch(shape, str(value), re.DOTALL):
            yield f"{argument} = {value!r} must match {shape}", "shorten or change the name"
    yield from _labels(fields)
    yield from _iam(fields)
    for kind, name, attribute in REFERENCE.findall(_interpolated(fields)):
        if (kind, name) not in known:
            yield f"refers to {kind}.{name}.{attribute}, which is not in this stack", "declare it"


def _labels(fields: Fields) -> Iterator[tuple[str, str]]:
    for argument in ("labels", "user_labels"):
        labels = fields.get(argument) or {}
        if len(labels) > MOST_LABELS:
            yield f"{len(labels)} labels; at most {MOST_LABELS}", "remove some"
        if "email_address" in labels:  # a notification channel's: no labels in IAM's sense
            continue
        for key, value in labels.items():
            if not LABEL_KEY.fullmatch(key) or not LABEL_VALUE.fullmatch(value):
                yield f"{argument}: {key} = {value!r} is no label", "use 1 to 63 of [a-z0-9_-]"


def _iam(fields: Fields) -> Iterator[tuple[str, str]]:
    member, role = fields.get("member"), fields.get("role")
    if isinstance(member, str):
        if member in PUBLIC:
            yield f"member {member} would make it public", "name a group"
        elif not MEMBER.fullmatch(member) and "${" not in member:
            yield f"member = {member!r} is no IAM member", "write group:NAME@DOMAIN"
    if isinstance(role, str) and not ROLE.fullmatch(role):
        yield f"role = {role!r} is no role", "write roles/…"


def _blocks(fields: Fields, path: str) -> Iterator[Fields]:
    """The blocks at a dotted path; lists on the way are gone through."""
    level: list[Any] = [fields]
    for step in path.split(".") if path else ():
        inner = [item.get(step) for item in level]
        level = [x for item in inner for x in (item if isinstance(item, list) else [item])]
        level = [block for block in level if block is not None]
    yield from level


def _given(block: Fields, names: Iterable[str]) -> list[str]:
    return [name for name in names if block.get(name) is not None]


def _interpolated(fields: Fields) -> str:
    """The texts inside `${…}` of all values."""
    text = json.dumps(fields, default=str).replace("$${", "")
    return " ".join(re.findall(r"\$\{([^}]*)\}", text))
