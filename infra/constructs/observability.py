"""What is watched: failed deployments, agents' errors, audit findings, reads of memories, money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra import names
from infra.constructs import triggers
from infra.environment import Environment
from infra.resource import Declarations, Resource

METRIC = "google_logging_metric"
POLICY = "google_monitoring_alert_policy"
CHANNEL = "google_monitoring_notification_channel"
AUDIT_CONFIG = "google_project_iam_audit_config"
BUDGET = "google_billing_budget"
THRESHOLDS = (0.5, 0.9, 1.0)


@dataclass(frozen=True)
class Watch:
    """One log-based metric and the alert on it.

    Attributes:
        filter: what Cloud Logging counts.
        more_than: how many within five minutes raise the alert.
        severity: of Cloud Monitoring: CRITICAL, ERROR or WARNING.
    """

    name: str
    title: str
    filter: str
    more_than: int
    severity: str


def watch(stack: Declarations, env: Environment, made: Mapping[str, Resource]) -> None:
    """Adds the metrics, the alerts and the channel that they go to.

    Args:
        made: the triggers by pipeline.
    """
    channel = _channel(stack, env)
    for item in _watches(env, made):
        _alert(stack, env, item, _metric(stack, env, item), channel)
    Resource(
        stack,
        AUDIT_CONFIG,
        "memory-reads",
        origin=env.where("project"),
        project=env.project,
        service="aiplatform.googleapis.com",
        # DATA_READ has reads of memories, DATA_WRITE what was written and deleted.
        audit_log_config=[{"log_type": "DATA_READ"}, {"log_type": "DATA_WRITE"}],
    )
    _budget(stack, env, channel)


def _watches(env: Environment, made: Mapping[str, Resource]) -> list[Watch]:
    def builds(pipeline: str, said: str) -> str:
        trigger = made[pipeline].ref("trigger_id")
        return (
            'resource.type="build" AND '
            f'resource.labels.build_trigger_id="{trigger}" AND textPayload:"{said}"'
        )

    return [
        Watch(
            "failed-deployments",
            "a deployment failed",
            builds(triggers.DEPLOY, "ERROR: build step"),
            0,
            "CRITICAL",
        ),
        Watch(
            "agent-errors",
            "agents log errors",
            'resource.type="aiplatform.googleapis.com/ReasoningEngine" AND severity>=ERROR',
            env.alerts.errors_per_5_minutes,
            "ERROR",
        ),
        Watch(
            "audit-findings",
            "the memory audit found what must not be kept",
            builds(triggers.AUDIT, "step exited with non-zero status: 3"),
            0,
            "WARNING",
        ),
    ]


def _metric(stack: Declarations, env: Environment, item: Watch) -> Resource:
    return Resource(
        stack,
        METRIC,
        item.name,
        origin=env.where("alerts"),
        name=f"{names.KIT}/{env.scope}/{item.name}",
        description=f"{names.KIT} {env.scope}: {item.title}.",
        filter=item.filter,
        metric_descriptor={"metric_kind": "DELTA", "value_type": "INT64", "unit": "1"},
    )


def _alert(
    stack: Declarations, env: Environment, item: Watch, metric: Resource, channel: Resource | None
) -> None:
    runbook = f"{env.alerts.runbooks.rstrip('/')}/{item.name}"
    kind = "build" if item.name != "agent-errors" else "aiplatform.googleapis.com/ReasoningEngine"
    threshold = {
        "filter": f'metric.type="logging.googleapis.com/user/{metric.ref("name")}" AND '
        f'resource.type="{kind}"',
        "comparison": "COMPARISON_GT",
        "threshold_value": item.more_than,
        "duration": "0s",
        "aggregations": [{"alignment_period": "300s", "per_series_aligner": "ALIGN_DELTA"}],
    }
    Resource(
        stack,
        POLICY,
        item.name,
        origin=env.where("alerts"),
        display_name=f"{env.scope}: {item.title}",
        combiner="OR",
        severity=item.severity,
        user_labels=names.labels(env.scope),
        conditions=[{"display_name": item.title, "condition_threshold": threshold}],
        alert_strategy={"auto_close": "86400s"},
        documentation={
            "content": f"{item.title.capitalize()} in {env.scope}. What to do: {runbook}",
            "mime_type": "text/markdown",
            "links": [{"display_name": "Runbook", "url": runbook}],
        },
        notification_channels=[channel.ref("id")] if channel else None,
    )


def _channel(stack: Declarations, env: Environment) -> Resource | None:
    if env.alerts.email is None:
        return None
    return Resource(
        stack,
        CHANNEL,
        "email",
        origin=env.where("alerts", "email"),
        display_name=f"On call for {env.scope}",
        type="email",
        labels={"email_address": env.alerts.email},
        user_labels=names.labels(env.scope),
    )


def _budget(stack: Declarations, env: Environment, channel: Resource | None) -> None:
    if env.budget is None:
        return
    told: dict[str, Any] | None = None
    if channel is not None:
        told = {"monitoring_notification_channels": [channel.ref("id")]}
    Resource(
        stack,
        BUDGET,
        "project",
        origin=env.where("budget"),
        billing_account=env.budget.billing_account,
        display_name=f"{names.KIT} {env.scope}",
        amount={
            "specified_amount": {
                "units": str(env.budget.amount),
                "currency_code": env.budget.currency,
            }
        },
        budget_filter={"projects": [f"projects/{env.project}"]},
        threshold_rules=[{"threshold_percent": percent} for percent in THRESHOLDS],
        all_updates_rule=told,
    )
