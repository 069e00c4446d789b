"""Real Terraform core over the real local platform: plan, apply, drift, locks and destroy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.descriptor import Descriptor
from infra.errors import TerraformError
from tests.emulator.conftest import Local
from tests.infra.applied import ENGINES, Site
from tests.infra.synth import stack_path

ROUTER = "google_vertex_ai_reasoning_engine.router"
POLICY = "acme-local-local-policy"
LOCK = (
    "upload/storage/v1/b/acme-local-local-tfstate/o"
    "?uploadType=media&name=terraform%2Flocal%2Fdefault.tflock"
)


@pytest.fixture
def site(tmp_path: Path, synthesized: Path) -> Iterator[Site]:
    """A fresh platform with nothing but the state bucket."""
    platform = Local(tmp_path / "platform")
    platform.state.mkdir()
    platform.start()
    stack = tmp_path / "cdk.tf.json"
    shutil.copy(stack_path(synthesized, "local"), stack)
    site = Site(platform, stack, tmp_path / "work")
    assert site.bootstrap()
    yield site
    platform.stop()


def test_from_nothing_to_everything_and_back(site: Site) -> None:
    assert not site.bootstrap(), "the state bucket is there already"
    with site.terraform() as run:
        first = run.plan()
        assert len(first.created) == first.count == site.declared
        assert set(run.apply(first)) == set(first.created)
        outputs = run.output()
        assert run.plan().empty
    with site.terraform() as run:
        assert run.plan().empty, "another process sees the same state"

    document = site.get(f"storage/v1/b/{POLICY}/o/descriptor.json?alt=media")
    descriptor = Descriptor.model_validate(document)
    assert descriptor.project_number.isdigit()
    assert {name: entry.name for name, entry in descriptor.engines.items()} == outputs["engines"]
    for name, entry in descriptor.engines.items():
        assert entry.name.endswith(f"/reasoningEngines/{entry.id}")
        engine = site.get(f"v1/{entry.name}")
        assert engine["labels"]["agent"] == name
        assert "spec" not in engine
        assert entry.service_account == f"{name}-local@acme-local.iam.gserviceaccount.com"
    assert descriptor.memory_bank is not None
    bank = site.get(f"v1/{descriptor.memory_bank.name}")
    [config] = bank["contextSpec"]["memoryBankConfig"]["customizationConfigs"]
    assert len(config["memoryTopics"]) == 3

    with site.terraform() as run:
        assert len(run.destroy()) == site.declared
        assert len(run.plan().created) == site.declared
    assert site.engines() == {}


def test_a_change_behind_terraforms_back_is_seen_and_undone(site: Site) -> None:
    with site.terraform() as run:
        run.apply(run.plan())
        [name] = site.engines()["router"]
        labels = site.get(f"v1/{name}")["labels"] | {"agent": "somebody"}
        site.platform.rest("PATCH", f"v1/{name}?updateMask=labels", {"labels": labels})
        plan = run.plan()
        assert (plan.drifted, plan.changed) == ((ROUTER,), (ROUTER,))
        run.apply(plan)
        assert run.plan().empty
    assert site.engines()["router"] == [name]


def test_a_wrong_argument_is_refused_in_terraforms_words(site: Site) -> None:
    site.edit({"regoin": "x"}, "resource", *ROUTER.split("."))
    with site.terraform() as run, pytest.raises(TerraformError) as caught:
        run.plan()
    assert "regoin" in str(caught.value)
    assert caught.value.exit_code == 1


def test_a_folder_that_cannot_be_used(site: Site) -> None:
    site.workdir.touch()
    with site.terraform() as run, pytest.raises(TerraformError) as caught:
        run.plan()
    assert caught.value.where == str(site.workdir)
    assert "SLIPWAY_HOME" in (caught.value.fix or "")


def test_a_lock_that_somebody_else_holds_is_named(site: Site) -> None:
    info = {
        "ID": "1",
        "Operation": "OperationTypeApply",
        "Who": "sam@elsewhere",
        "Version": "1.15.5",
        "Created": "2026-01-02T03:04:05Z",
        "Path": "gs://acme-local-local-tfstate/terraform/local/default.tflock",
    }
    assert site.platform.rest("POST", LOCK, info).status_code == 200
    with site.terraform() as run, pytest.raises(TerraformError) as caught:
        run.plan()
    assert "locked by sam@elsewhere (apply, since 2026-01-02" in caught.value.what
    assert caught.value.where == info["Path"]


def test_what_is_not_ours_is_never_taken_over(site: Site) -> None:
    bucket = {"name": POLICY, "location": "US-CENTRAL1", "labels": {"kit": "another"}}
    answer = site.platform.rest("POST", "storage/v1/b?project=acme-local", bucket)
    assert answer.status_code == 200
    with site.terraform() as run:
        plan = run.plan()
        with pytest.raises(TerraformError) as caught:
            run.apply(plan)
    assert f"{POLICY} exists already and is not slipway's" in str(caught.value)


def test_what_is_ours_but_unknown_to_the_state_is_taken_over(site: Site) -> None:
    labels = {"kit": "slipway", "environment": "local"}
    bucket = {"name": POLICY, "location": "US-CENTRAL1", "labels": labels}
    site.platform.rest("POST", "storage/v1/b?project=acme-local", bucket)
    with site.terraform() as run:
        run.apply(run.plan())
        assert run.plan().empty
    assert "google_storage_bucket.policy: exists already and is ours (by its labels)" in site.said


def test_no_address_or_token_outside_the_private_folder(site: Site) -> None:
    with site.terraform() as run:
        run.apply(run.plan())
    for path in site.workdir.iterdir():
        if path.is_file() and path.name not in ("backend.tfvars", "plan.bin"):
            assert b"operator" not in path.read_bytes(), path
    assert site.workdir.stat().st_mode & 0o077 == 0
    listing = site.get("storage/v1/b/acme-local-local-tfstate/o")["items"]
    assert [item["name"] for item in listing] == ["terraform/local/default.tfstate"]
    state = site.get(
        "storage/v1/b/acme-local-local-tfstate/o/terraform%2Flocal%2Fdefault.tfstate?alt=media"
    )
    assert "operator" not in str(state)
    assert site.get(ENGINES)["reasoningEngines"]
