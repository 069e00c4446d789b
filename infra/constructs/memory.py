"""The memory bank: an engine without code whose `context_spec` holds the memory topics."""

from __future__ import annotations

from typing import Any

from infra import cdk, names
from infra.constructs import engines
from infra.resource import Resource, literal
from infra.settings import Environment
from infra.topics import Topic, Topics


def memory_bank(stack: cdk.TerraformStack, env: Environment, topics: Topics) -> Resource:
    """The memory bank's engine."""
    customization = {
        "scope_keys": list(topics.scope_keys),
        "memory_topics": [_block(topic) for topic in topics.topic],
    }
    return Resource(
        stack,
        engines.TYPE,
        names.MEMORY_BANK,
        display_name=f"{names.MEMORY_BANK}-{env.name}",
        description=f"What the agents of {env.name} remember about the people they talk with.",
        region=env.region,
        labels=names.labels(env.name, names.MEMORY_BANK),
        deletion_policy=env.deletion_policy,
        context_spec={"memory_bank_config": {"customization_configs": [customization]}},
    )


def _block(topic: Topic) -> dict[str, Any]:
    """The topic as a block of `memory_topics`; line breaks in the file carry no meaning."""
    if topic.managed is not None:
        return {"managed_memory_topic": {"managed_topic_enum": topic.managed}}
    words = " ".join((topic.description or "").split())
    return {"custom_memory_topic": {"label": topic.label, "description": literal(words)}}
