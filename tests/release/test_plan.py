"""What a deployment would change, from manifests, descriptor and engines as plain data."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra import manifest
from infra.descriptor import Descriptor
from infra.errors import InputError, RemoteError
from infra.manifest import AgentManifest
from services.release import releases, spec
from services.release.bundle import Bundle
from services.release.plan import AgentPlan, Plan, make_plan
from services.release.target import Target
from tests.release.targets import bundle_of, descriptor_of, target_at

Engine = dict[str, Any]


@pytest.fixture
def manifests(checkout: Path) -> dict[str, AgentManifest]:
    return manifest.load_all(checkout)


class World:
    """Everything a plan is made of; `live` answers as the API does, in camelCase."""

    def __init__(self, manifests: dict[str, AgentManifest], **environment: str) -> None:
        self.manifests = manifests
        self.target: Target = target_at("http://127.0.0.1:1", **environment)
        self.descriptor: Descriptor = descriptor_of("router", "supply")
        self.bundles: dict[str, Bundle] = {name: bundle_of(name) for name in manifests}
        self.live: dict[str, Engine] = {
            name: {
                "name": self.descriptor.engines[name].name,
                "labels": {"kit": "slipway", "environment": "local", "agent": name},
            }
            for name in manifests
        }

    def plan(self) -> Plan:
        return make_plan(
            self.target,
            self.descriptor,
            self.manifests,
            self.bundles,
            release=releases.release_id(self.bundles),
            live=self.live,
            pins={"caller-signing-key": "3"},
        )

    def router(self) -> AgentPlan:
        return next(agent for agent in self.plan().agents if agent.agent == "router")

    def carry_out(self) -> None:
        """The engines become what the plan wants, as the API would give them back."""
        for agent in self.plan().agents:
            self.live[agent.agent]["spec"] = answered(agent.spec)


def answered(wanted: Any) -> Engine:
    """A spec as the API gives it back: camelCase, no source, an identity that nobody declared."""
    body = copy.deepcopy(wanted)
    deployment, python = body["deployment_spec"], body["source_code_spec"]["python_spec"]
    return {
        "agentFramework": body["agent_framework"],
        "classMethods": body["class_methods"],
        "identityType": body["identity_type"],
        "serviceAccount": body["service_account"],
        "effectiveIdentity": "agents.global.org-1.system.id.goog/resources/1",
        "deploymentSpec": {
            "env": list(reversed(deployment["env"])),
            "secretEnv": [
                {"name": item["name"], "secretRef": item["secret_ref"]}
                for item in deployment["secret_env"]
            ],
            "minInstances": deployment["min_instances"],
            "maxInstances": deployment["max_instances"],
            "containerConcurrency": deployment["container_concurrency"],
            "resourceLimits": deployment["resource_limits"],
        },
        "sourceCodeSpec": {
            "inlineSource": {},
            "pythonSpec": {
                "entrypointModule": python["entrypoint_module"],
                "entrypointObject": python["entrypoint_object"],
                "requirementsFile": python["requirements_file"],
                "version": python["version"],
            },
        },
    }


def test_an_empty_engine_gets_every_field(manifests: dict[str, AgentManifest]) -> None:
    world = World(manifests)
    fields = {change.field: change.wanted for change in world.router().changes}
    release = releases.release_id(world.bundles)
    assert str(fields.pop("class_methods")).startswith("1 methods (")
    assert fields == {
        "agent_framework": "custom",
        "identity_type": "SERVICE_ACCOUNT",
        "service_account": "router-local@acme-local.iam.gserviceaccount.com",
        "env.AGENT_PLATFORM_ENDPOINT": "http://127.0.0.1:1",
        "env.SLIPWAY_MODEL": "offline",
        "env.SLIPWAY_DATA": "sample",
        "env.SLIPWAY_MEMORY": "bank",
        "env.SLIPWAY_CONTROL_BUCKET": world.descriptor.buckets.control,
        "env.SLIPWAY_STORAGE_ENDPOINT": "http://127.0.0.1:1",
        "env.SLIPWAY_TURNS_PER_MINUTE": "120",
        "env.SLIPWAY_RELEASE": release,
        "env.SLIPWAY_BUNDLE": world.bundles["router"].digest,
        "env.FLAVOUR": "vanilla",
        "env.SUPPLY_ENGINE_ID": "1002",
        "env.MEMORY_BANK_ID": "9000",
        "env.MEMORY_BANK_LOCATION": "us-central1",
        "secret_env.CALLER_SIGNING_KEY": "caller-signing-key@3",
        "deployment_spec.min_instances": "1",
        "deployment_spec.max_instances": "3",
        "deployment_spec.container_concurrency": "9",
        "deployment_spec.resource_limits.cpu": "2",
        "deployment_spec.resource_limits.memory": "4Gi",
        "source_code_spec.python_spec.entrypoint_module": "agents.router.agent",
        "source_code_spec.python_spec.entrypoint_object": "app",
        "source_code_spec.python_spec.requirements_file": "requirements.txt",
        "source_code_spec.python_spec.version": "3.11",
    }
    assert all(change.live is None for change in world.router().changes)


def test_what_was_carried_out_differs_in_nothing(manifests: dict[str, AgentManifest]) -> None:
    world = World(manifests)
    assert [agent.agent for agent in world.plan().changed] == ["router", "supply"]
    world.carry_out()
    assert world.plan().changed == ()


def env(live: Engine) -> list[dict[str, str]]:
    items: list[dict[str, str]] = live["spec"]["deploymentSpec"]["env"]
    return items


def change_env(name: str, value: str) -> Callable[[Engine], None]:
    def change(live: Engine) -> None:
        next(item for item in env(live) if item["name"] == name)["value"] = value

    return change


def drop_env(name: str) -> Callable[[Engine], None]:
    def change(live: Engine) -> None:
        live["spec"]["deploymentSpec"]["env"] = [i for i in env(live) if i["name"] != name]

    return change


def put(path: str, value: Any) -> Callable[[Engine], None]:
    def change(live: Engine) -> None:
        *parents, last = path.split(".")
        for part in parents:
            live = live.setdefault(part, {})
        live[last] = value

    return change


@pytest.mark.parametrize(
    ("drift", "field", "live"),
    [
        (change_env("FLAVOUR", "mint"), "env.FLAVOUR", "mint"),
        (change_env("FLAVOUR", ""), "env.FLAVOUR", ""),
        (drop_env("FLAVOUR"), "env.FLAVOUR", None),
        (lambda live: env(live).append({"name": "EXTRA", "value": "1"}), "env.EXTRA", "1"),
        (lambda live: env(live).append({"name": "EMPTY"}), "env.EMPTY", ""),
        (
            put("spec.deploymentSpec.secretEnv", []),
            "secret_env.CALLER_SIGNING_KEY",
            None,
        ),
        (
            put(
                "spec.deploymentSpec.secretEnv",
                [
                    {
                        "name": "CALLER_SIGNING_KEY",
                        "secretRef": {"secret": "caller-signing-key", "version": "2"},
                    }
                ],
            ),
            "secret_env.CALLER_SIGNING_KEY",
            "caller-signing-key@2",
        ),
        (put("spec.serviceAccount", "x@y"), "service_account", "x@y"),
        (put("spec.agentFramework", "google-adk"), "agent_framework", "google-adk"),
        (put("spec.deploymentSpec.minInstances", 0), "deployment_spec.min_instances", "0"),
        (
            put("spec.deploymentSpec.resourceLimits.cpu", "4"),
            "deployment_spec.resource_limits.cpu",
            "4",
        ),
        (
            put("spec.sourceCodeSpec.pythonSpec.version", "3.12"),
            "source_code_spec.python_spec.version",
            "3.12",
        ),
        (
            put("spec.containerSpec.imageUri", "image@sha256:0"),
            "container_spec.image_uri",
            "image@sha256:0",
        ),
    ],
)
def test_each_readable_field_that_drifted_is_a_change(
    manifests: dict[str, AgentManifest],
    drift: Callable[[Engine], None],
    field: str,
    live: str | None,
) -> None:
    world = World(manifests)
    world.carry_out()
    drift(world.live["router"])
    (change,) = world.router().changes
    assert (change.field, change.live) == (field, live)
    assert change.wanted != live
    assert [agent.agent for agent in world.plan().changed] == ["router"]


@pytest.mark.parametrize("same", [{"a": 1.0, "b": [5.0, -2.0]}, {"b": [5, -2], "a": 1}])
def test_numbers_of_class_methods_may_come_back_as_floats(
    manifests: dict[str, AgentManifest], same: dict[str, Any]
) -> None:
    world = World(manifests)
    methods = [{"name": "query", "api_mode": "", "parameters": {"a": 1, "b": [5, -2]}}]
    world.bundles["router"] = bundle_of("router", class_methods=methods)
    world.carry_out()
    world.live["router"]["spec"]["classMethods"][0]["parameters"] = same
    assert world.plan().changed == ()
    world.live["router"]["spec"]["classMethods"][0]["parameters"] = {"a": 1.5, "b": [5, -2]}
    assert [change.field for change in world.router().changes] == ["class_methods"]


def test_a_new_bundle_changes_every_engine_of_the_release(
    manifests: dict[str, AgentManifest],
) -> None:
    world = World(manifests)
    world.carry_out()
    world.bundles["supply"] = bundle_of("supply", digest="f" * 64)
    changes = {a.agent: [change.field for change in a.changes] for a in world.plan().agents}
    assert changes == {
        "router": ["env.SLIPWAY_RELEASE"],
        "supply": ["env.SLIPWAY_BUNDLE", "env.SLIPWAY_RELEASE"],
    }


def test_without_memory_its_variables_are_left_out(manifests: dict[str, AgentManifest]) -> None:
    names = {change.field for change in World(manifests, memory="none").router().changes}
    assert not {name for name in names if "MEMORY_BANK" in name}
    assert "env.SLIPWAY_MEMORY" in names


def test_no_memory_bank_where_one_is_named_is_an_error(
    manifests: dict[str, AgentManifest],
) -> None:
    world = World(manifests)
    world.descriptor = world.descriptor.model_copy(update={"memory_bank": None})
    with pytest.raises(InputError, match=r"agents/router/agent.toml: .* the memory bank"):
        world.plan()


def test_an_unknown_secret_is_an_error(manifests: dict[str, AgentManifest]) -> None:
    world = World(manifests)
    world.descriptor = world.descriptor.model_copy(update={"secrets": {}})
    with pytest.raises(InputError, match=r"agents/router/agent.toml: .*caller-signing-key"):
        world.plan()


@pytest.mark.parametrize(
    "labels",
    [
        None,
        {},
        {"kit": "slipway", "environment": "prod", "agent": "router"},
        {"kit": "slipway", "environment": "local", "agent": "supply"},
        {"kit": "other", "environment": "local", "agent": "router"},
    ],
)
def test_an_engine_of_another_environment_or_agent_is_refused(
    manifests: dict[str, AgentManifest], labels: dict[str, str] | None
) -> None:
    world = World(manifests)
    world.live["router"]["labels"] = labels
    with pytest.raises(RemoteError, match="nothing was changed") as caught:
        world.plan()
    assert caught.value.where == world.descriptor.engines["router"].name


def test_a_plan_shows_no_secret(manifests: dict[str, AgentManifest]) -> None:
    plan = World(manifests).plan()
    references = [item for a in plan.agents for item in a.spec["deployment_spec"]["secret_env"]]
    assert {tuple(sorted(item)) for item in references} == {("name", "secret_ref")}


def test_flat_takes_both_ways_of_writing_keys() -> None:
    snake = {"deployment_spec": {"min_instances": 1, "resource_limits": {"cpu": "2"}}}
    camel = {"deploymentSpec": {"minInstances": 1, "resourceLimits": {"cpu": "2"}}}
    assert spec.flat(snake) == spec.flat(camel)
