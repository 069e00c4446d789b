"""The life of each plain type under Terraform: made, read back, changed, imported, destroyed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.errors import TerraformError
from services.emulator.provider.resources import KINDS
from tests.emulator.conftest import LOCATION, PROJECT, Local
from tests.emulator.provider_world import Resources, World, world

HOME = f"projects/{PROJECT}/locations/{LOCATION}"


@pytest.fixture
def tf(local: Local, tmp_path: Path) -> Iterator[World]:
    with world(local, tmp_path) as made:
        yield made


@dataclass(frozen=True)
class Life:
    """A type, the arguments of one, a change in place, one that means anew, and an import ID."""

    type: str
    given: dict[str, Any]
    change: dict[str, Any]
    anew: dict[str, Any]
    id: str
    kept: bool = False
    """Whether the API has no deletion of it."""

    @property
    def address(self) -> str:
        return f"{self.type}.x"

    def resources(self, **over: Any) -> Resources:
        return {self.type: {"x": self.given | over}}


THRESHOLD = {"filter": 'metric.type="x"', "comparison": "COMPARISON_GT", "duration": "0s"}
ALERT = {"display_name": "c", "condition_threshold": THRESHOLD}
SUBNETWORK = f"projects/{PROJECT}/regions/{LOCATION}/subnetworks"
LIVES = [
    Life(
        "google_artifact_registry_repository",
        {"repository_id": "life-images", "format": "DOCKER", "location": LOCATION},
        {"description": "words"},
        {"format": "PYTHON"},
        f"{HOME}/repositories/life-images",
    ),
    Life(
        "google_cloudbuild_worker_pool",
        {
            "name": "life-pool",
            "location": LOCATION,
            "worker_config": {"machine_type": "e2-standard-2", "disk_size_gb": 100},
        },
        {"display_name": "words"},
        {"name": "life-pool-2"},
        f"{HOME}/workerPools/life-pool",
    ),
    Life(
        "google_cloud_scheduler_job",
        {
            "name": "life-job",
            "region": LOCATION,
            "schedule": "17 5 * * 1",
            "http_target": {"uri": "https://example.com/run", "http_method": "POST"},
        },
        {"schedule": "18 5 * * 1"},
        {"name": "life-job-2"},
        f"{HOME}/jobs/life-job",
    ),
    Life(
        "google_kms_key_ring",
        {"name": "life-ring", "location": LOCATION},
        {},
        {"name": "life-ring-2"},
        f"{HOME}/keyRings/life-ring",
        kept=True,
    ),
    Life(
        "google_logging_metric",
        {
            "name": "life/metric",
            "filter": "severity>=ERROR",
            "metric_descriptor": {"metric_kind": "DELTA", "value_type": "INT64"},
        },
        {"filter": "severity>=WARNING"},
        {"name": "life/metric-2"},
        "life/metric",
    ),
    Life(
        "google_monitoring_alert_policy",
        {
            "display_name": "life alert",
            "combiner": "OR",
            "severity": "ERROR",
            "conditions": [ALERT],
        },
        {"severity": "WARNING"},
        {},
        "",
    ),
    Life(
        "google_monitoring_notification_channel",
        {"display_name": "life", "type": "email", "labels": {"email_address": "a@b.example"}},
        {"labels": {"email_address": "c@d.example"}},
        {},
        "",
    ),
    Life(
        "google_billing_budget",
        {
            "billing_account": "012345-6789AB-CDEF01",
            "display_name": "life",
            "amount": {"specified_amount": {"units": "100", "currency_code": "EUR"}},
            "threshold_rules": [{"threshold_percent": 0.5}],
        },
        {"display_name": "more life"},
        {"billing_account": "012345-6789AB-CDEF02"},
        "",
    ),
    Life(
        "google_compute_network_attachment",
        {
            "name": "life-attachment",
            "region": LOCATION,
            "connection_preference": "ACCEPT_AUTOMATIC",
            "subnetworks": [f"{SUBNETWORK}/one"],
        },
        {"description": "words"},
        {"name": "life-attachment-2"},
        f"projects/{PROJECT}/regions/{LOCATION}/networkAttachments/life-attachment",
    ),
]


@pytest.mark.parametrize("life", LIVES, ids=[life.type for life in LIVES])
def test_a_life(tf: World, life: Life) -> None:
    tf.resources = life.resources()
    assert tf.apply().created == (life.address,)
    assert tf.plan().empty

    if life.change:
        tf.resources = life.resources(**life.change)
        plan = tf.apply()
        assert plan.changed == (life.address,)
        fields = {field.partition(".")[0] for field in plan.fields[life.address]}
        assert fields - set(KINDS[life.type].volatile) == set(life.change)
        assert tf.plan().empty

    id_ = life.id or str(tf.stored(life.address)["id"])
    tf.removed = [{"from": life.address, "lifecycle": {"destroy": False}}]
    tf.resources = {}
    tf.apply()
    tf.removed, tf.imports = [], [{"to": life.address, "id": id_}]
    tf.resources = life.resources(**life.change)
    plan = tf.apply()
    assert (plan.adopted, plan.created, plan.replaced) == ((life.address,), (), ())
    tf.imports = []
    assert tf.plan().empty

    if life.anew:
        tf.resources = life.resources(**life.change, **life.anew)
        assert tf.plan().replaced == (life.address,)
    tf.destroy()
    gone = [s for s in tf.recorder.changes() if s.method == "DELETE"]
    assert len(gone) == (0 if life.kept else 1)


def test_a_key_is_made_in_its_ring_and_outlives_the_stack(tf: World) -> None:
    ring = {"name": "keys-ring", "location": LOCATION}
    key = {"name": "engines", "key_ring": "${google_kms_key_ring.r.id}"}
    tf.resources = {"google_kms_key_ring": {"r": ring}, "google_kms_crypto_key": {"k": key}}
    tf.apply()
    assert tf.stored("google_kms_crypto_key.k")["id"] == (
        f"{HOME}/keyRings/keys-ring/cryptoKeys/engines"
    )
    assert tf.plan().empty
    tf.resources["google_kms_crypto_key"]["k"] = {**key, "labels": {"team": "data"}}
    assert tf.apply().changed == ("google_kms_crypto_key.k",)
    assert tf.plan().empty
    tf.destroy()
    assert [s for s in tf.recorder.changes() if s.method == "DELETE"] == []


def test_a_linked_repository_lies_in_its_connection(tf: World) -> None:
    tf.resources = {
        "google_cloudbuildv2_connection": {"c": {"name": "github", "location": LOCATION}},
        "google_cloudbuildv2_repository": {
            "r": {
                "name": "agents",
                "location": LOCATION,
                "parent_connection": "${google_cloudbuildv2_connection.c.id}",
                "remote_uri": "https://git.example/acme/agents.git",
            }
        },
    }
    tf.apply()
    stored = tf.stored("google_cloudbuildv2_repository.r")
    assert stored["id"] == f"{HOME}/connections/github/repositories/agents"
    assert tf.plan().empty
    tf.destroy()


@pytest.mark.parametrize(
    ("type_", "given", "said"),
    [
        (
            "google_cloud_scheduler_job",
            {"name": "bad", "region": LOCATION, "schedule": "daily",
             "http_target": {"uri": "https://example.com"}},
            "Schedule or time zone is invalid",
        ),
        (
            "google_cloudbuildv2_repository",
            {"name": "bad", "location": LOCATION, "parent_connection": "none",
             "remote_uri": "https://git.example/x.git"},
            "connections/none was not found",
        ),
        (
            "google_artifact_registry_repository",
            {"repository_id": "Bad", "format": "DOCKER", "location": LOCATION},
            "repository_id must have 1 to 63",
        ),
    ],
)  # fmt: skip
def test_what_the_api_refuses_is_said_in_its_words(
    tf: World, type_: str, given: dict[str, Any], said: str
) -> None:
    tf.resources = {type_: {"x": given}}
    with pytest.raises(TerraformError) as caught:
        tf.apply()
    assert said in str(caught.value)


def test_drift_of_an_alert_is_seen(tf: World, local: Local) -> None:
    life = LIVES[5]
    tf.resources = life.resources()
    tf.apply()
    name = tf.stored(life.address)["id"]
    local.rest(
        "PATCH", f"v3/{name}?updateMask=severity", {"severity": "WARNING"}
    ).raise_for_status()
    assert tf.plan().drifted == (life.address,)
    tf.destroy()
