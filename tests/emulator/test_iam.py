"""Service accounts and policies, as Terraform's provider calls them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.emulator.conftest import PROJECT, Local

ACCOUNTS = f"v1/projects/{PROJECT}/serviceAccounts"


def create(local: Local, account: str) -> dict[str, Any]:
    sent = {"accountId": account, "serviceAccount": {"displayName": account}}
    answer = local.rest("POST", ACCOUNTS, sent)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_account_by_email_unique_id_and_any_project(local: Local) -> None:
    made = create(local, "router-local")
    assert made["email"] == f"router-local@{PROJECT}.iam.gserviceaccount.com"
    assert made["name"] == f"projects/{PROJECT}/serviceAccounts/{made['email']}"
    number = local.rest("GET", f"v1/projects/{PROJECT}").json()["projectNumber"]
    for path in (
        f"{ACCOUNTS}/{made['email']}",
        f"{ACCOUNTS}/{made['uniqueId']}",
        f"v1/projects/-/serviceAccounts/{made['email']}",
        f"v1/projects/{number}/serviceAccounts/{made['email']}",
    ):
        assert local.rest("GET", path).json() == made
    listed = local.rest("GET", f"{ACCOUNTS}?pageSize=1000").json()["accounts"]
    assert made in listed


def test_account_patch_and_delete(local: Local) -> None:
    made = create(local, "patched-local")
    sent = {"serviceAccount": {"description": "The agent"}, "updateMask": "description"}
    patched = local.rest("PATCH", f"{ACCOUNTS}/{made['email']}", sent).json()
    assert (patched["description"], patched["displayName"]) == ("The agent", "patched-local")
    assert patched["etag"] != made["etag"]
    local.rest("POST", f"{ACCOUNTS}/{made['email']}:disable", {})
    assert local.rest("GET", f"{ACCOUNTS}/{made['email']}").json()["disabled"] is True
    assert local.rest("DELETE", f"{ACCOUNTS}/{made['email']}").status_code == 200
    gone = local.rest("GET", f"{ACCOUNTS}/{made['email']}")
    assert (gone.status_code, gone.json()["error"]["status"]) == (404, "NOT_FOUND")


def test_account_id_is_checked(local: Local) -> None:
    create(local, "twice-local")
    again = local.rest("POST", ACCOUNTS, {"accountId": "twice-local"})
    assert (again.status_code, again.json()["error"]["status"]) == (409, "ALREADY_EXISTS")
    for bad in ("short", "Upper-case", "x" * 31, "ends-with-"):
        assert local.rest("POST", ACCOUNTS, {"accountId": bad}).status_code == 400


def resource(local: Local, kind: str) -> str:
    """A resource that has a policy, of this kind."""
    if kind == "account":
        return str(create(local, "policy-local")["name"])
    if kind == "secret":
        path = f"projects/{PROJECT}/secrets"
        local.rest(
            "POST", f"v1/{path}?secretId=with-policy", {"replication": {"automatic": {}}}
        ).raise_for_status()
        return f"{path}/with-policy"
    return f"projects/{PROJECT}"


@pytest.mark.parametrize("kind", ["project", "account", "secret"])
def test_policy_etag_makes_changes_safe(local: Local, kind: str) -> None:
    name = resource(local, kind)
    first = local.rest("GET", f"v1/{name}:getIamPolicy?options.requestedPolicyVersion=3").json()
    by_post = local.rest("POST", f"v1/{name}:getIamPolicy", {"options": {}}).json()
    assert by_post == first
    binding = {"role": "roles/viewer", "members": ["user:maria@acme.example"]}
    policy = {**first, "bindings": [binding]}
    done = local.rest("POST", f"v1/{name}:setIamPolicy", {"policy": policy})
    assert done.json()["bindings"] == [binding]
    stale = local.rest("POST", f"v1/{name}:setIamPolicy", {"policy": policy})
    assert (stale.status_code, stale.json()["error"]["status"]) == (409, "ABORTED")
    assert local.rest("GET", f"v1/{name}:getIamPolicy").json() == done.json()


def test_policy_needs_roles_and_typed_members(local: Local) -> None:
    for binding in (
        {"members": ["user:a@b.example"]},
        {"role": "roles/viewer", "members": ["a@b"]},
    ):
        sent = {"policy": {"bindings": [binding]}}
        assert local.rest("POST", "v1/projects/other:setIamPolicy", sent).status_code == 400


def test_policy_by_project_id_and_number_is_one(local: Local) -> None:
    number = local.rest("GET", "v1/projects/two-names").json()["projectNumber"]
    binding = {"role": "roles/viewer", "members": ["allUsers"]}
    local.rest("POST", "v1/projects/two-names:setIamPolicy", {"policy": {"bindings": [binding]}})
    got = local.rest("GET", f"v1/projects/{number}:getIamPolicy").json()
    assert got["bindings"] == [binding]


def test_missing_resources_have_no_policy(local: Local) -> None:
    for name in (
        f"projects/{PROJECT}/secrets/none",
        f"projects/{PROJECT}/serviceAccounts/none@{PROJECT}.iam.gserviceaccount.com",
    ):
        assert local.rest("GET", f"v1/{name}:getIamPolicy").status_code == 404


def test_concurrent_members_all_arrive(local: Local) -> None:
    """Eight writers each add a member, reading again when they lose: none is overwritten."""
    path = "v1/projects/crowd"

    def add(number: int) -> None:
        for _ in range(100):
            policy = local.rest("GET", f"{path}:getIamPolicy").json()
            held = policy.get("bindings") or [{"role": "roles/viewer", "members": []}]
            held[0]["members"].append(f"user:{number}@acme.example")
            sent = {"policy": {**policy, "bindings": held}}
            if local.rest("POST", f"{path}:setIamPolicy", sent).status_code == 200:
                return
        pytest.fail("never got its turn")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    members = local.rest("GET", f"{path}:getIamPolicy").json()["bindings"][0]["members"]
    assert sorted(members) == [f"user:{number}@acme.example" for number in range(8)]
