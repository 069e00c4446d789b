"""Which fields a resource has, and how a PATCH with an update mask changes it.

Field names are camelCase here, as they are kept. In a tree, None is a value (or a map) that is
replaced as a whole, a dict a message, and a list with one dict a repeated message. A mask's path
goes through messages only, as in google.protobuf.FieldMask.

The trees are those of google-cloud-aiplatform 2.7.0; a test compares them with its types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from services.emulator.errors import invalid
from services.emulator.rest import camel_key
from services.emulator.state import Body

Tree = Mapping[str, Any]

# What the server sets. A client that sends it back is not refused; it changes nothing.
OUTPUT = frozenset({"name", "createTime", "updateTime", "etag"})
_OUTPUT_TREE: Tree = dict.fromkeys(OUTPUT)
_ARCHIVE: Tree = {"inlineSource": {"sourceArchive": None}}
_RULE: Tree = dict.fromkeys(("eventCount", "fixedInterval", "idleDuration", "overlapEventCount"))
_TOPIC: Tree = {
    "customMemoryTopic": {"label": None, "description": None},
    "managedMemoryTopic": {"managedTopicEnum": None},
}
_CUSTOMIZATION: Tree = {
    "enableThirdPersonMemories": None,
    "generateMemoriesExamples": None,
    "memoryTopics": [_TOPIC],
    "scopeKeys": None,
    "consolidationConfig": {"revisionsPerCandidateCount": None},
    "disableNaturalLanguageMemories": None,
}
_MEMORY_BANK: Tree = {
    "customizationConfigs": [_CUSTOMIZATION],
    "disableMemoryRevisions": None,
    "generationConfig": {"model": None, "generationTriggerConfig": {"generationRule": _RULE}},
    "similaritySearchConfig": {"embeddingModel": None},
    "ttlConfig": {
        "defaultTtl": None,
        "granularTtlConfig": dict.fromkeys(
            ("createTtl", "generateCreatedTtl", "generateUpdatedTtl")
        ),
        "memoryRevisionDefaultTtl": None,
    },
    "structuredMemoryConfigs": None,
}
_DEPLOYMENT: Tree = {
    "agentServerMode": None,
    "containerConcurrency": None,
    "env": [{"name": None, "value": None}],
    "maxInstances": None,
    "minInstances": None,
    "pscInterfaceConfig": {
        "dnsPeeringConfigs": [dict.fromkeys(("domain", "targetNetwork", "targetProject"))],
        "networkAttachment": None,
    },
    "resourceLimits": None,
    "secretEnv": [{"name": None, "secretRef": {"secret": None, "version": None}}],
    "agentGatewayConfig": {
        "agentToAnywhereConfig": {"agentGateway": None},
        "clientToAgentConfig": {"agentGateway": None},
    },
    "keepAliveProbe": {"httpGet": {"path": None, "port": None}, "maxSeconds": None},
}
_SOURCE: Tree = {
    "agentConfigSource": {"adkConfig": {"jsonConfig": None}, **_ARCHIVE},
    "developerConnectSource": {"config": dict.fromkeys(("gitRepositoryLink", "dir", "revision"))},
    "imageSpec": {"buildArgs": None},
    **_ARCHIVE,
    "pythonSpec": dict.fromkeys(
        ("entrypointModule", "entrypointObject", "requirementsFile", "version")
    ),
}
_SPEC: Tree = {
    "agentCard": None,
    "agentFramework": None,
    "classMethods": None,
    "deploymentSpec": _DEPLOYMENT,
    "effectiveIdentity": None,
    "identityType": None,
    "packageSpec": dict.fromkeys(
        ("dependencyFilesGcsUri", "pickleObjectGcsUri", "pythonVersion", "requirementsGcsUri")
    ),
    "serviceAccount": None,
    "sourceCodeSpec": _SOURCE,
    "containerSpec": {"imageUri": None, "port": None},
    "buildSpec": {"serviceAccount": None, "workerPool": None},
}
ENGINE: Tree = {
    **_OUTPUT_TREE,
    "displayName": None,
    "description": None,
    "labels": None,
    "encryptionSpec": {"kmsKeyName": None},
    "contextSpec": {"memoryBankConfig": _MEMORY_BANK},
    "spec": _SPEC,
    "trafficConfig": {
        "trafficSplitAlwaysLatest": {},
        "trafficSplitManual": {"targets": [{"percent": None, "runtimeRevisionName": None}]},
    },
    "revisionGarbageCollectionStrategy": {"keepNLatest": {"maxRevisions": None}},
}
SESSION: Tree = {
    **_OUTPUT_TREE,
    **dict.fromkeys(("displayName", "labels", "sessionState", "expireTime", "ttl", "userId")),
}
MEMORY: Tree = {
    **_OUTPUT_TREE,
    **dict.fromkeys(
        ("displayName", "description", "fact", "scope", "topics", "metadata", "expireTime", "ttl",
         "disableMemoryRevisions", "revisionExpireTime", "revisionTtl", "revisionLabels",
         "memoryType", "structuredContent", "context")
    ),
}  # fmt: skip


def check(body: Body, tree: Tree, what: str) -> Body:
    """The body without null fields, after checking that the resource has every field in it.

    Args:
        what: how an error names the resource, such as `reasoning_engine`.

    Raises:
        ApiError: INVALID_ARGUMENT, naming the field.
    """
    clean: Body = {}
    for key, value in body.items():
        if key not in tree:
            raise invalid(f"Invalid JSON payload received. Unknown name \"{key}\" at '{what}'.")
        if value is not None:
            clean[key] = _checked(value, tree[key], f"{what}.{key}")
    return clean


def _checked(value: Any, kind: Any, what: str) -> Any:
    if isinstance(kind, Mapping):
        if not isinstance(value, dict):
            raise invalid(f"Invalid value at '{what}': an object is expected.")
        return check(value, kind, what)
    if isinstance(kind, list):
        if not isinstance(value, list):
            raise invalid(f"Invalid value at '{what}': a list is expected.")
        return [_checked(item, kind[0], f"{what}[{n}]") for n, item in enumerate(value)]
    return value


def merge(current: Body, body: Body, mask: str | None, tree: Tree) -> Body:
    """What `current` becomes by a PATCH with `body` and `mask`; neither is changed.

    Args:
        mask: comma-separated paths in snake_case or camelCase; `*` or nothing stands for every
            top-level field of `body`. A path that `body` does not have is cleared.

    Raises:
        ApiError: INVALID_ARGUMENT, a path that the resource does not have.
    """
    result = dict(current)
    for path in _paths(mask, body, tree):
        if path[0] not in OUTPUT:
            _set(result, path, _value(body, path))
    return result


def touches(mask: str | None, body: Body, tree: Tree, field: str) -> bool:
    """Whether a PATCH changes the top-level field or something in it."""
    return any(path[0] == field for path in _paths(mask, body, tree))


def _paths(mask: str | None, body: Body, tree: Tree) -> Iterator[tuple[str, ...]]:
    if not mask or mask == "*":
        yield from ((key,) for key in body)
        return
    for text in mask.split(","):
        path = tuple(camel_key(part) for part in text.strip().split("."))
        node: Any = tree
        for part in path:
            if not isinstance(node, Mapping) or part not in node:
                raise invalid(f"Invalid update mask: the resource has no field {text.strip()!r}.")
            node = node[part]
        yield path


def _value(body: Body, path: tuple[str, ...]) -> Any:
    node: Any = body
    for part in path:
        node = node.get(part) if isinstance(node, dict) else None
    return node


def _set(target: Body, path: tuple[str, ...], value: Any) -> None:
    *parents, last = path
    for part in parents:
        # Messages on the way are copied, so that the resource as it was stays whole.
        target[part] = dict(target.get(part) or {})
        target = target[part]
    if value is None:
        target.pop(last, None)
    else:
        target[last] = value


def copy_path(path: str, source: Body, target: Body) -> None:
    """Sets what a mask's path names in `target` as it is in `source`; absent there: removed."""
    *parents, last = [camel_key(part) for part in path.split(".")]
    value: Any = source
    for key in parents:
        value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(target.get(key), dict):
            target[key] = {}
        target = target[key]
    if isinstance(value, dict) and last in value:
        target[last] = value[last]
    else:
        target.pop(last, None)
