"""Field trees, checks and update masks."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pydantic
import pytest

from services.emulator import masks
from services.emulator.errors import ApiError
from services.emulator.rest import camel_key
from services.sdk import import_guarded


def models(annotation: Any) -> list[type[pydantic.BaseModel]]:
    """The models within a type."""
    if isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in models(part)]


def missing(model: type[pydantic.BaseModel], tree: Mapping[str, Any], at: str) -> Iterator[str]:
    """Paths that Google's model has and the tree has not."""
    for field, info in model.model_fields.items():
        key, path = camel_key(field), f"{at}.{field}"
        if key not in tree:
            yield path
            continue
        node = tree[key][0] if isinstance(tree[key], list) else tree[key]
        inner = models(info.annotation)
        if isinstance(node, Mapping) and inner:
            yield from missing(inner[0], node, path)


@pytest.mark.parametrize(
    ("name", "tree"),
    [
        ("ReasoningEngine", masks.ENGINE),
        ("Session", masks.SESSION),
        ("Memory", masks.MEMORY),
    ],
)
def test_the_trees_have_every_field_of_googles_types(name: str, tree: Mapping[str, Any]) -> None:
    import_guarded()
    from agentplatform import types

    assert list(missing(getattr(types, name), tree, name)) == []


def test_merging_leaves_both_as_they_were() -> None:
    current = {"spec": {"deploymentSpec": {"env": [1], "minInstances": 1}}, "labels": {"a": "b"}}
    body = {"spec": {"deploymentSpec": {"minInstances": 2}}}
    result = masks.merge(current, body, "spec.deployment_spec.min_instances", masks.ENGINE)
    assert result["spec"]["deploymentSpec"] == {"env": [1], "minInstances": 2}
    assert current["spec"] == {"deploymentSpec": {"env": [1], "minInstances": 1}}
    assert body == {"spec": {"deploymentSpec": {"minInstances": 2}}}


@pytest.mark.parametrize("mask", [None, "", "*", "labels,description"])
def test_output_fields_do_not_change(mask: str | None) -> None:
    current = {"name": "n", "labels": {"a": "b"}, "displayName": "d"}
    body = {"name": "other", "labels": {}, "description": "e", "etag": "1"}
    assert masks.merge(current, body, mask, masks.ENGINE) == {
        "name": "n",
        "labels": {},
        "description": "e",
        "displayName": "d",
    }


def test_what_the_body_does_not_have_is_cleared() -> None:
    current = {"labels": {"a": "b"}, "spec": {"serviceAccount": "x", "identityType": "y"}}
    result = masks.merge(current, {}, "labels,spec.service_account", masks.ENGINE)
    assert result == {"spec": {"identityType": "y"}}


@pytest.mark.parametrize("mask", ["nope", "spec.nope", "labels.a", "spec.deployment_spec.env.name"])
def test_paths_that_do_not_exist(mask: str) -> None:
    with pytest.raises(ApiError, match=mask.replace(".", r"\.")):
        masks.merge({}, {}, mask, masks.ENGINE)


def test_nulls_are_fields_that_are_not_there() -> None:
    body = {"displayName": None, "spec": {"agentFramework": None, "serviceAccount": "x"}}
    assert masks.check(body, masks.ENGINE, "e") == {"spec": {"serviceAccount": "x"}}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"spec": []}, "e.spec"),
        ({"spec": {"deploymentSpec": {"env": {}}}}, "e.spec.deploymentSpec.env"),
        ({"spec": {"deploymentSpec": {"env": [{"x": 1}]}}}, r"e.spec.deploymentSpec.env\[0\]"),
    ],
)
def test_the_wrong_kind_of_value_is_named(body: dict[str, Any], where: str) -> None:
    with pytest.raises(ApiError, match=where):
        masks.check(body, masks.ENGINE, "e")
