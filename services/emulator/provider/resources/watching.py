"""What is watched and paid: log-based metrics, alerts, notification channels, budgets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from services.emulator.provider.codec import State
from services.emulator.provider.errors import Problem
from services.emulator.provider.mapping import Body, Field, Fields
from services.emulator.provider.resources.collection import CollectionKind, local
from services.emulator.provider.settings import Provider


class Metric(CollectionKind):
    """google_logging_metric; its import ID is the bare name."""

    type = "google_logging_metric"
    version = "v2"
    collection = "projects/{project}/metrics"
    put = True
    force_new = ("name", "project")
    fields: ClassVar[Fields] = {"metric_descriptor": Field(adopted=False)}

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST; the ID in Terraform is the name alone."""
        super().create(provider, planned, config)
        return {"id": planned["name"]}

    def locate(self, provider: Provider, id_: str) -> State:
        """NAME, which may hold slashes, or PROJECT NAME."""
        project, _, name = id_.rpartition(" ")
        return {"id": name, "name": name, "project": project or provider.project_of({})}

    def path(self, state: State) -> str:
        """Below the project."""
        return super().path({"id": f"projects/{state['project']}/metrics/{state['id']}"})


class AlertPolicy(CollectionKind):
    """google_monitoring_alert_policy; the server makes its name."""

    type = "google_monitoring_alert_policy"
    version = "v3"
    collection = "projects/{project}/alertPolicies"
    key = None
    force_new = ("project",)
    volatile = ("creation_record",)
    fields: ClassVar[Fields] = {"enabled": Field(default=True)}

    def check(self, config: State) -> Iterator[Problem]:
        """Each condition is of one kind."""
        for condition in config.get("conditions") or []:
            kinds = [k for k, v in condition.items() if k.startswith("condition_") and v]
            if len(kinds) != 1:
                told = (
                    f"conditions: exactly one condition_… must be specified, but there are {kinds}"
                )
                yield Problem(told, ("conditions",))


class NotificationChannel(CollectionKind):
    """google_monitoring_notification_channel; its labels are its settings, no one's marks."""

    type = "google_monitoring_notification_channel"
    version = "v3"
    collection = "projects/{project}/notificationChannels"
    key = None
    force_new = ("project",)
    fields: ClassVar[Fields] = {
        **local("force_delete", "sensitive_labels"),
        "labels": Field(("labels",)),
        "enabled": Field(default=True),
    }


class Budget(CollectionKind):
    """google_billing_budget; the server makes its name."""

    type = "google_billing_budget"
    collection = "billingAccounts/{billing_account}/budgets"
    key = None
    force_new = ("billing_account",)
    fields: ClassVar[Fields] = {
        **local("billing_account"),
        "all_updates_rule": Field(("notificationsRule",)),
        "budget_filter": Field(adopted=False),
        "budget_filter.credit_types_treatment": Field(default="INCLUDE_ALL_CREDITS"),
        "threshold_rules.spend_basis": Field(default="CURRENT_SPEND"),
    }

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST; the state has the bare name."""
        made = super().create(provider, planned, config)
        return {**made, "name": str(made["name"]).rpartition("/")[2]}

    def computed(self, provider: Provider, state: State, body: Body) -> State:
        """The bare name."""
        del provider, state
        return {"name": str(body["name"]).rpartition("/")[2]}
