"""The memory bank: an engine without code whose `context_spec` holds the memory topics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from infra import names
from infra.constructs import encryption, engines, labels
from infra.environment import Bank, Environment
from infra.resource import Declarations, Resource, literal
from infra.topics import Topic, Topics


def memory_bank(
    stack: Declarations, env: Environment, topics: Topics, after: Iterable[Resource]
) -> Resource:
    """The memory bank's engine; `after` must be there first."""
    customization = {
        "scope_keys": list(topics.scope_keys),
        "memory_topics": [_block(topic) for topic in topics.topic],
    }
    config = {
        "customization_configs": [customization],
        "disable_memory_revisions": None if env.bank.revisions else True,
        "generation_config": _generation(env),
        "similarity_search_config": env.bank.embedding_model
        and {"embedding_model": _model(env, env.bank.embedding_model)},
        "ttl_config": _lifetimes(env.bank),
    }
    return Resource(
        stack,
        engines.TYPE,
        names.MEMORY_BANK,
        origin=env.where("bank"),
        display_name=f"{names.MEMORY_BANK}-{env.scope}",
        description=f"What the agents of {env.scope} remember about the people they talk with.",
        region=env.region,
        labels=labels.of(env, names.MEMORY_BANK),
        deletion_policy=env.bank.deletion_policy,
        encryption_spec=encryption.spec(env),
        depends_on=after,
        context_spec={"memory_bank_config": _given(config)},
    )


def _block(topic: Topic) -> dict[str, Any]:
    """The topic as a block of `memory_topics`; line breaks in the file carry no meaning."""
    if topic.managed is not None:
        return {"managed_memory_topic": {"managed_topic_enum": topic.managed}}
    words = " ".join((topic.description or "").split())
    return {"custom_memory_topic": {"label": topic.label, "description": literal(words)}}


def _generation(env: Environment) -> dict[str, Any] | None:
    bank = env.bank
    rule = _given(
        {
            "event_count": bank.event_count,
            "fixed_interval": bank.fixed_interval_minutes
            and f"{bank.fixed_interval_minutes * 60}s",
            "idle_duration": bank.idle_minutes and f"{bank.idle_minutes * 60}s",
        }
    )
    if bank.generation_model is None:
        return None
    trigger = {"generation_trigger_config": {"generation_rule": rule}} if rule else {}
    return {"model": _model(env, bank.generation_model), **trigger}


def _lifetimes(bank: Bank) -> dict[str, Any] | None:
    each = {
        "create_ttl": _seconds(bank.created_days),
        "generate_created_ttl": _seconds(bank.generated_days),
        "generate_updated_ttl": _seconds(bank.updated_days),
    }
    config = {
        "granular_ttl_config": _given(each) or None,
        "memory_revision_default_ttl": _seconds(bank.revision_days),
    }
    return _given(config) or None


def _seconds(days: int | None) -> str | None:
    return f"{days * 24 * 3600}s" if days else None


def _model(env: Environment, name: str) -> str:
    """The full name of one of Google's models in the environment's region."""
    return f"projects/{env.project}/locations/{env.region}/publishers/google/models/{name}"


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
