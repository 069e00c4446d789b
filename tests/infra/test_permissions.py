"""Each account can do what the table says, and is refused by the platform what it does not."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.descriptor import Descriptor
from tests.emulator.conftest import Local
from tests.infra.applied import Site
from tests.infra.synth import stack_path

MASK = "?updateMask=displayName"
# Each call is harmless where it is allowed: it reads, or its body is refused.
CALLS: dict[str, tuple[str, str, Any]] = {
    "read an engine": ("GET", "v1beta1/{router}", None),
    "change an engine": ("PATCH", "v1beta1/{router}?updateMask=nothing", {"displayName": "x"}),
    "make an engine": ("POST", "v1beta1/{location}/reasoningEngines", {"spec": {"nothing": 1}}),
    "delete an engine": ("DELETE", "v1beta1/{location}/reasoningEngines/1{missing}", None),
    "ask marketing": ("POST", "v1beta1/{marketing}:query", {"classMethod": "nothing"}),
    "ask the router": ("POST", "v1beta1/{router}:query", {"classMethod": "nothing"}),
    "keep a conversation": ("POST", "v1beta1/{router}/sessions", {"nothing": "x"}),
    "list memories": ("GET", "v1beta1/{bank}/memories", None),
    "make memories": ("POST", "v1beta1/{bank}/memories:generate", {}),
    "purge memories": ("POST", "v1beta1/{bank}/memories:purge", {}),
    "list versions": ("GET", "v1/{secret}/versions", None),
    "read a secret": ("GET", "v1/{secret}/versions/1:access", None),
    "add a version": ("POST", "v1/{secret}:addVersion", {"payload": {"data": "%"}}),
    "read a release": ("GET", "storage/v1/b/{releases}/o/none", None),
    "write a release": ("POST", "upload/storage/v1/b/{releases}/o?uploadType=media", None),
    "read a record": ("GET", "storage/v1/b/{control}/o/none", None),
    "delete a record": ("DELETE", "storage/v1/b/{control}/o/none", None),
    "read the descriptor": ("GET", "storage/v1/b/{policy}/o/descriptor.json", None),
    "write the descriptor": ("POST", "upload/storage/v1/b/{policy}/o?uploadType=media", None),
    "change IAM": ("POST", "v1/projects/acme-local:setIamPolicy", {"policy": 1}),
    "list APIs": ("GET", "v1/projects/acme-local/services", None),
    "change a trigger": ("PATCH", "v1/{location}/triggers/none", {}),
}  # fmt: skip
DEPLOYER = {
    "read an engine", "change an engine", "ask marketing", "ask the router",
    "keep a conversation", "list versions", "read a release", "write a release", "read a record",
    "delete a record", "read the descriptor", "list APIs",
}  # fmt: skip
MAY = {
    "router": {
        "read an engine", "ask marketing", "keep a conversation", "list memories",
        "make memories", "purge memories", "read a secret", "read a record",
    },
    "marketing": {"read a secret", "read a record"},
    "supply": {"read a secret", "read a record"},
    "deployer": DEPLOYER,
    "promote": DEPLOYER,
    "rollback": DEPLOYER,
    "pull-request": {
        "read an engine", "list memories", "list versions", "read a record",
        "read the descriptor", "list APIs",
    },
    "memory-audit": {"list memories", "read the descriptor", "change a trigger"},
}  # fmt: skip


@dataclass(frozen=True)
class Applied:
    """The local stack on a platform, and what its calls are about."""

    platform: Local
    names: dict[str, str]

    def token(self, account: str) -> str:
        """A token of the account, as whoever may impersonate it gets one."""
        email = f"{account}-local@acme-local.iam.gserviceaccount.com"
        path = f"v1/projects/-/serviceAccounts/{email}:generateAccessToken"
        answer = self.platform.rest("POST", path, {"scope": []})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["accessToken"])

    def status(self, call: str, account: str) -> int:
        method, path, body = CALLS[call]
        answer = self.platform.rest(
            method, path.format(**self.names), body, token=self.token(account)
        )
        return answer.status_code


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory, synthesized: Path) -> Iterator[Applied]:
    folder = tmp_path_factory.mktemp("permissions")
    platform = Local(folder / "platform")
    platform.state.mkdir()
    platform.start()
    stack = folder / "cdk.tf.json"
    shutil.copy(stack_path(synthesized, "local"), stack)
    site = Site(platform, stack, folder / "work")
    site.bootstrap()
    with site.terraform() as run:
        run.apply(run.plan())
    document = site.get("storage/v1/b/acme-local-local-policy/o/descriptor.json?alt=media")
    descriptor = Descriptor.model_validate(document)
    assert descriptor.memory_bank is not None
    names = {agent: entry.name for agent, entry in descriptor.engines.items()}
    names |= {"bank": descriptor.memory_bank.name, "missing": "2345"}
    names |= {"secret": descriptor.secrets["caller-signing-key"]}
    names |= {use: getattr(descriptor.buckets, use) for use in ("releases", "control", "policy")}
    names["location"] = "projects/acme-local/locations/us-central1"
    yield Applied(platform, names)
    platform.stop()


@pytest.mark.parametrize("account", MAY)
def test_each_account_may_do_what_the_table_says_and_nothing_else(
    applied: Applied, account: str
) -> None:
    allowed = {call for call in CALLS if applied.status(call, account) != 403}
    assert allowed == MAY[account]


def test_the_operator_is_refused_nothing(applied: Applied) -> None:
    for method, path, body in CALLS.values():
        answer = applied.platform.rest(method, path.format(**applied.names), body)
        assert answer.status_code not in (401, 403), answer.text


def test_a_refusal_says_who_lacks_what_on_what(applied: Applied) -> None:
    path = f"v1beta1/{applied.names['router']}?updateMask=displayName"
    answer = applied.platform.rest("PATCH", path, {}, token=applied.token("marketing"))
    error = answer.json()["error"]
    assert (answer.status_code, error["status"]) == (403, "PERMISSION_DENIED")
    assert "'aiplatform.reasoningEngines.update' denied" in error["message"]
    assert "marketing-local@acme-local.iam.gserviceaccount.com" in error["message"]


def test_an_engine_gets_only_an_account_that_its_deployer_may_act_as(applied: Applied) -> None:
    path = f"v1beta1/{applied.names['router']}?updateMask=spec"
    emails = {
        "router-local@acme-local.iam.gserviceaccount.com": 501,  # containers are the cloud's
        "deployer-local@acme-local.iam.gserviceaccount.com": 403,
    }
    for email, status in emails.items():
        sent = {"spec": {"serviceAccount": email, "containerSpec": {}}}
        answer = applied.platform.rest("PATCH", path, sent, token=applied.token("deployer"))
        assert answer.status_code == status, answer.text


def test_permissions_can_be_asked_for(applied: Applied) -> None:
    wanted = ["aiplatform.reasoningEngines.update", "aiplatform.memories.delete"]
    path = f"v1/{applied.names['router']}:testIamPermissions"
    for account, held in (("deployer", wanted), ("router", []), ("memory-audit", [])):
        sent = {"permissions": wanted}
        answer = applied.platform.rest("POST", path, sent, token=applied.token(account))
        assert answer.json().get("permissions", []) == held, account
