"""Terraform core over the provider: what it sends, what it sees again, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.errors import TerraformError
from tests.emulator.conftest import LOCATION, PROJECT, Local
from tests.emulator.provider_world import Resources, Sent, World, world

HOME = f"projects/{PROJECT}/locations/{LOCATION}"
DOMAIN = f"{PROJECT}.iam.gserviceaccount.com"


@pytest.fixture
def tf(local: Local, tmp_path: Path) -> Iterator[World]:
    with world(local, tmp_path) as made:
        yield made


def everything(tag: str) -> Resources:
    """One of each type but engines; `tag` keeps tests apart."""
    member = "${google_service_account.sa.member}"
    return {
        "google_project_service": {"api": {"service": f"{tag}.googleapis.com"}},
        "google_service_account": {"sa": {"account_id": f"{tag}-account", "display_name": "One"}},
        "google_service_account_iam_member": {
            "sa": {
                "service_account_id": "${google_service_account.sa.name}",
                "role": "roles/iam.serviceAccountUser",
                "member": member,
            }
        },
        "google_project_iam_member": {
            "sa": {
                "project": PROJECT,
                "role": "roles/viewer",
                "member": member,
                "condition": {"title": "soon", "expression": "true"},
            }
        },
        "google_secret_manager_secret": {
            "key": {"secret_id": f"{tag}-key", "labels": {"kit": "a"}, "replication": {"auto": {}}}
        },
        "google_secret_manager_secret_version": {
            "key": {
                "secret": "${google_secret_manager_secret.key.id}",
                "secret_data_wo": "never-in-the-state",
                "secret_data_wo_version": "1",
            }
        },
        "google_secret_manager_secret_iam_member": {
            "key": {
                "secret_id": "${google_secret_manager_secret.key.id}",
                "role": "roles/secretmanager.secretAccessor",
                "member": member,
            }
        },
        "google_storage_bucket": {
            "data": {
                "name": f"{tag}-data",
                "location": LOCATION,
                "labels": {"kit": "a", "old": "x"},
                "uniform_bucket_level_access": True,
                "public_access_prevention": "enforced",
                "force_destroy": True,
                "versioning": {"enabled": True},
                "soft_delete_policy": {"retention_duration_seconds": 604800},
                "lifecycle_rule": [
                    {
                        "action": {"type": "Delete"},
                        "condition": {"age": 3, "with_state": "ARCHIVED", "matches_prefix": ["a/"]},
                    }
                ],
            },
            "plain": {"name": f"{tag}-plain", "location": "US"},
        },
        "google_storage_bucket_iam_member": {
            "data": {
                "bucket": "${google_storage_bucket.data.name}",
                "role": "roles/storage.objectUser",
                "member": member,
            }
        },
        "google_storage_bucket_object": {
            "doc": {
                "bucket": "${google_storage_bucket.data.name}",
                "name": "folder/doc.json",
                "content": '${jsonencode({"account": google_service_account.sa.unique_id})}',
                "content_type": "application/json",
            }
        },
        "google_cloudbuild_trigger": {
            "deploy": {
                "name": f"{tag}-deploy",
                "location": LOCATION,
                "filename": "pipelines/deploy.yaml",
                "service_account": "${google_service_account.sa.id}",
                "substitutions": {"_ENV": tag},
                "included_files": ["agents/**"],
                "tags": ["a", "b"],
                "repository_event_config": {
                    "repository": f"{HOME}/connections/c/repositories/r",
                    "push": {"branch": "^main$"},
                },
            }
        },
    }


def refusal(tf: World, verb: str = "apply") -> str:
    with pytest.raises(TerraformError) as caught:
        getattr(tf, verb)()
    return str(caught.value)


def test_life_of_everything(tf: World, local: Local) -> None:
    tf.resources = everything("life")
    assert len(tf.apply().created) == 12

    again = tf.plan()
    assert again.empty
    # Only etags of policies that several members share may differ by now.
    assert all("_iam_member." in address for address in again.drifted)

    tf.destroy()
    gone = {
        f"v1/projects/{PROJECT}/secrets/life-key": 404,
        "storage/v1/b/life-data": 404,
        "storage/v1/b/life-plain": 404,
        f"v1/projects/{PROJECT}/serviceAccounts/life-account@{DOMAIN}": 404,
    }
    assert {path: local.rest("GET", path).status_code for path in gone} == gone
    triggers = local.rest("GET", f"v1/{local.parent}/triggers").json().get("triggers", [])
    assert "life-deploy" not in [trigger["name"] for trigger in triggers]
    policy = local.rest("POST", f"v1/projects/{PROJECT}:getIamPolicy", {}).json()
    assert "life-account" not in str(policy)


def test_a_changed_label_changes_only_labels(tf: World, local: Local) -> None:
    own = everything("label")
    tf.resources = {
        name: own[name] for name in ("google_storage_bucket", "google_secret_manager_secret")
    }
    tf.apply()
    tf.resources["google_secret_manager_secret"]["key"]["labels"]["kit"] = "b"
    tf.resources["google_storage_bucket"]["data"]["labels"] = {"kit": "b"}

    assert tf.apply().changed == (
        "google_secret_manager_secret.key",
        "google_storage_bucket.data",
    )

    marked = {"kit": "b", "goog-terraform-provisioned": "true"}
    changes = {sent.path: sent for sent in tf.recorder.changes() if "label-" in sent.path}
    secret = changes.pop(f"/v1/projects/{PROJECT}/secrets/label-key")
    assert (secret.method, secret.query["updateMask"]) == ("PATCH", "labels")
    assert secret.json == {"labels": marked}
    # Cloud Storage merges what is sent: only null removes a label.
    bucket = changes.pop("/storage/v1/b/label-data")
    assert (bucket.method, bucket.json) == ("PATCH", {"labels": {**marked, "old": None}})
    assert changes == {}
    assert local.rest("GET", "storage/v1/b/label-data").json()["labels"] == marked
    assert tf.plan().empty


def test_default_labels_and_labels_of_others(tf: World, local: Local) -> None:
    tf.provider = {"default_labels": {"team": "data"}}
    tf.resources = {
        "google_storage_bucket": {
            "b": {"name": "defaults-b", "location": "US", "labels": {"kit": "a"}}
        }
    }
    tf.apply()
    ours = {"kit": "a", "team": "data", "goog-terraform-provisioned": "true"}
    path = "storage/v1/b/defaults-b"
    assert local.rest("GET", path).json()["labels"] == ours
    stored = tf.stored("google_storage_bucket.b")
    assert stored["labels"] == {"kit": "a"}
    assert stored["terraform_labels"] == stored["effective_labels"] == ours

    local.rest("PATCH", path, {"labels": {"cost-center": "7"}})
    assert tf.plan().empty

    tf.resources["google_storage_bucket"]["b"]["labels"] = {"kit": "b"}
    tf.apply()
    assert local.rest("GET", path).json()["labels"] == {**ours, "kit": "b", "cost-center": "7"}


def test_drift_shows_and_is_repaired(tf: World, local: Local) -> None:
    tf.resources = everything("drift")
    tf.apply()
    bucket, secret = "storage/v1/b/drift-data", f"v1/projects/{PROJECT}/secrets/drift-key"
    account = f"v1/projects/{PROJECT}/serviceAccounts/drift-account@{DOMAIN}"
    local.rest("PATCH", bucket, {"versioning": {"enabled": False}, "labels": {"kit": "other"}})
    local.rest("PATCH", f"{secret}?updateMask=labels", {"labels": {}})
    body = {"serviceAccount": {"displayName": "Two"}, "updateMask": "displayName"}
    local.rest("PATCH", account, body)
    local.rest("PUT", "storage/v1/b/drift-data/iam", {"bindings": []})
    upload = "upload/storage/v1/b/drift-data/o?uploadType=media&name=folder/doc.json"
    local.rest("POST", upload, {"account": "another"})

    plan = tf.apply()

    assert plan.changed == (
        "google_secret_manager_secret.key",
        "google_service_account.sa",
        "google_storage_bucket.data",
        "google_storage_bucket_object.doc",
    )
    assert plan.created == ("google_storage_bucket_iam_member.data",)
    now = local.rest("GET", bucket).json()
    assert (now["versioning"]["enabled"], now["labels"]["kit"]) == (True, "a")
    assert local.rest("GET", account).json()["displayName"] == "One"
    object_ = local.rest("GET", f"{bucket}/o/folder%2Fdoc.json?alt=media").json()
    assert object_ == {"account": tf.stored("google_service_account.sa")["unique_id"]}
    assert tf.plan().empty


def test_what_was_deleted_behind_terraform_is_made_again(tf: World, local: Local) -> None:
    tf.resources = {"google_storage_bucket": {"b": {"name": "gone-b", "location": "US"}}}
    tf.apply()
    assert local.rest("DELETE", "storage/v1/b/gone-b").status_code == 204

    assert tf.apply().created == ("google_storage_bucket.b",)
    assert local.rest("GET", "storage/v1/b/gone-b").status_code == 200


def test_a_write_only_value_is_sent_and_never_kept(tf: World, local: Local) -> None:
    own = everything("writeonly")
    names = ("google_secret_manager_secret", "google_secret_manager_secret_version")
    tf.resources = {name: own[name] for name in names}
    tf.apply()

    assert "never-in-the-state" not in tf.state()
    assert tf.stored("google_secret_manager_secret_version.key")["secret_data_wo"] is None
    path = f"v1/projects/{PROJECT}/secrets/writeonly-key/versions/latest:access"
    # base64 of the value that the configuration sends
    assert local.rest("GET", path).json()["payload"]["data"] == "bmV2ZXItaW4tdGhlLXN0YXRl"

    # A new value alone is not seen; with a new version of it there is a new secret version.
    version = tf.resources["google_secret_manager_secret_version"]["key"]
    version["secret_data_wo"] = "second"
    assert tf.plan().empty
    version["secret_data_wo_version"] = "2"
    assert tf.apply().replaced == ("google_secret_manager_secret_version.key",)
    assert local.rest("GET", path).json()["payload"]["data"] == "c2Vjb25k"


def test_what_cannot_change_in_place_is_replaced(tf: World) -> None:
    tf.resources = {
        "google_service_account": {"a": {"account_id": "replace-one"}},
        "google_storage_bucket": {"b": {"name": "replace-b", "location": "US"}},
    }
    tf.apply()
    tf.resources["google_service_account"]["a"]["account_id"] = "replace-two"
    tf.resources["google_storage_bucket"]["b"]["location"] = "EU"

    plan = tf.apply()

    assert plan.replaced == ("google_service_account.a", "google_storage_bucket.b")
    assert tf.stored("google_service_account.a")["email"].startswith("replace-two@")
    # The same place in other letters is no change.
    tf.resources["google_storage_bucket"]["b"]["location"] = "eu"
    assert tf.plan().empty


def test_a_policy_written_in_between_is_read_again(tf: World, local: Local) -> None:
    name = f"v1/projects/{PROJECT}"
    others = [f"user:other{number}@example.com" for number in range(3)]
    waiting = list(others)

    def interfere(sent: Sent) -> None:
        if sent.path.endswith(":setIamPolicy") and waiting:
            policy = local.rest("POST", f"{name}:getIamPolicy", {}).json()
            binding = {"role": "roles/between", "members": [waiting.pop()]}
            policy["bindings"] = [*policy.get("bindings", []), binding]
            local.rest("POST", f"{name}:setIamPolicy", {"policy": policy})

    tf.recorder.before = interfere
    tf.resources = {
        "google_project_iam_member": {
            f"m{n}": {"project": PROJECT, "role": "roles/mine", "member": f"user:m{n}@example.com"}
            for n in range(8)
        }
    }
    tf.apply()

    policy = local.rest("POST", f"{name}:getIamPolicy", {}).json()
    held: dict[str, set[str]] = {}
    for binding in policy["bindings"]:
        held.setdefault(binding["role"], set()).update(binding["members"])
    assert held["roles/mine"] == {f"user:m{n}@example.com" for n in range(8)}
    assert held["roles/between"] == set(others)


def test_an_api_refusal_is_told_in_its_words(tf: World) -> None:
    missing = f"projects/{PROJECT}/secrets/nowhere"
    tf.resources = {
        "google_secret_manager_secret_version": {
            "v": {"secret": missing, "secret_data_wo": "x", "secret_data_wo_version": "1"}
        }
    }

    told = refusal(tf)

    assert "Error creating google_secret_manager_secret_version" in told
    assert "googleapi: Error 404: " in told
    assert f"POST /v1/{missing}:addVersion" in told


@pytest.mark.parametrize(
    ("type_", "arguments", "words"),
    [
        (
            "google_pubsub_topic",
            {"name": "t"},
            "google_pubsub_topic is not supported by the local platform",
        ),
        ("google_service_account", {"account_id": "short"}, "must have 6 to 30"),
        (
            "google_storage_bucket",
            {"name": "b", "location": "US", "deletion_policy": "FORCE"},
            "deletion_policy must be one of DELETE, PREVENT, ABANDON, but is 'FORCE'",
        ),
        (
            "google_project_iam_member",
            {"project": "p", "role": "r", "member": "someone@example.com"},
            "must begin with one of user:",
        ),
        (
            "google_secret_manager_secret_version",
            {"secret": "s"},
            "Exactly one of secret_data and secret_data_wo",
        ),
    ],
)
def test_a_bad_configuration_is_refused_before_anything_is_sent(
    tf: World, type_: str, arguments: dict[str, Any], words: str
) -> None:
    tf.resources = {type_: {"x": arguments}}
    assert words in refusal(tf, "plan")
    assert tf.recorder.changes() == []


def test_another_platform_is_refused(tf: World) -> None:
    tf.provider = {"vertex_ai_custom_endpoint": "https://us-central1-aiplatform.googleapis.com/v1/"}
    tf.resources = {"google_service_account": {"a": {"account_id": "elsewhere"}}}
    assert "serves the platform at" in refusal(tf, "plan")


def test_deletion_policies(tf: World, local: Local) -> None:
    tf.resources = {
        "google_storage_bucket": {
            "kept": {"name": "policy-kept", "location": "US", "deletion_policy": "PREVENT"}
        }
    }
    tf.apply()
    assert "its deletion_policy is PREVENT" in refusal(tf, "destroy")
    assert local.rest("GET", "storage/v1/b/policy-kept").status_code == 200

    tf.resources["google_storage_bucket"]["kept"]["deletion_policy"] = "ABANDON"
    tf.apply()
    assert tf.recorder.changes() == []  # nothing of it lies in the API
    tf.destroy()
    assert local.rest("GET", "storage/v1/b/policy-kept").status_code == 200


def test_a_bucket_with_objects_needs_force_destroy(tf: World, local: Local) -> None:
    tf.resources = {"google_storage_bucket": {"b": {"name": "full-b", "location": "US"}}}
    tf.apply()
    for _ in range(2):
        local.rest("POST", "upload/storage/v1/b/full-b/o?uploadType=media&name=a/b", {})
    assert "containing objects without `force_destroy`" in refusal(tf, "destroy")
    tf.resources["google_storage_bucket"]["b"]["force_destroy"] = True
    tf.apply()
    tf.destroy()
    assert local.rest("GET", "storage/v1/b/full-b").status_code == 404


def test_import(tf: World, local: Local) -> None:
    tf.resources = everything("import")
    tf.apply()
    email = f"import-account@{DOMAIN}"
    secret = f"projects/{PROJECT}/secrets/import-key"
    trigger = tf.stored("google_cloudbuild_trigger.deploy")["id"]
    ids = {
        "google_project_service": {"api": f"{PROJECT}/import.googleapis.com"},
        "google_service_account": {"sa": f"projects/{PROJECT}/serviceAccounts/{email}"},
        "google_service_account_iam_member": {
            "sa": f"projects/{PROJECT}/serviceAccounts/{email} roles/iam.serviceAccountUser "
            f"serviceAccount:{email}"
        },
        "google_secret_manager_secret": {"key": secret},
        "google_secret_manager_secret_iam_member": {
            "key": f"{secret} roles/secretmanager.secretAccessor serviceAccount:{email}"
        },
        "google_storage_bucket": {"data": "import-data", "plain": "import-plain"},
        "google_storage_bucket_iam_member": {
            "data": f"b/import-data roles/storage.objectUser serviceAccount:{email}"
        },
        "google_cloudbuild_trigger": {"deploy": trigger},
    }
    state = f"{tf.folder.name}%2Fdefault.tfstate"
    local.rest("DELETE", f"storage/v1/b/provider-tests-state/o/{state}")
    wanted = tf.resources
    tf.resources = {
        type_: {name: wanted[type_][name] for name in names} for type_, names in ids.items()
    }
    tf.imports = [
        {"to": f"{type_}.{name}", "id": id_}
        for type_, names in ids.items()
        for name, id_ in names.items()
    ]

    plan = tf.apply()

    assert len(plan.adopted) == 9
    assert plan.created == plan.replaced == plan.destroyed == ()
    # Labels are never read at import, so that they look new, as in the google provider.
    assert set(plan.changed) <= {
        "google_secret_manager_secret.key",
        "google_storage_bucket.data",
        "google_storage_bucket.plain",
    }
    tf.imports = []
    assert tf.plan().empty
