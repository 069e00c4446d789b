"""What a plan says was changed behind Terraform's back."""

from __future__ import annotations

from typing import Any

from infra.plan import drifted

ENGINE = "google_vertex_ai_reasoning_engine"
STACK = {"resource": {ENGINE: {"router": {"lifecycle": {"ignore_changes": ["spec"]}}}}}


def change(before: dict[str, Any], after: dict[str, Any] | None) -> dict[str, Any]:
    """One entry of `resource_drift`, as `terraform show -json` prints it."""
    return {
        "address": f"{ENGINE}.router",
        "type": ENGINE,
        "name": "router",
        "change": {"before": before, "after": after},
    }


def test_an_argument_that_differs_is_drift() -> None:
    seen = change({"labels": {"kit": "slipway"}}, {"labels": {}})
    assert drifted([seen], STACK) == (f"{ENGINE}.router",)


def test_a_resource_that_is_gone_is_drift() -> None:
    assert drifted([change({"display_name": "router-local"}, None)], STACK)


def test_what_the_server_computes_is_no_drift() -> None:
    assert not drifted([change({"update_time": "1"}, {"update_time": "2"})], STACK)


def test_what_the_deploy_tool_owns_is_no_drift() -> None:
    seen = change({"spec": []}, {"spec": [{"service_account": "router"}]})
    assert not drifted([seen], STACK)
    assert drifted([seen], {"resource": {}})
