"""What those who call an agent rely on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from infra.errors import RemoteError
from services.release.deploy import Wanted, deploy
from services.release.interface import breaks, card
from services.release.packaging import package_all
from tests.release.test_deploy import edit
from tests.release.worlds import World


def method(name: str, *required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    known = {parameter: {"type": "string"} for parameter in (*required, *optional)}
    return {"name": name, "parameters": {"properties": known, "required": list(required)}}


def with_card(skills: tuple[str, ...], *versions: str) -> dict[str, Any]:
    interfaces = [{"protocolBinding": "HTTP+JSON", "protocolVersion": v} for v in versions]
    found = {"skills": [{"id": skill} for skill in skills], "supportedInterfaces": interfaces}
    return method("on_message_send", "request") | {"a2a_agent_card": json.dumps(found)}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (method("ask", "text"), method("ask", "text", optional=("limit",)), []),
        (method("ask", "text", "limit"), method("ask", "text", optional=("limit",)), []),
        (method("ask", "text"), method("answer", "text"), ["the method ask is gone"]),
        (method("ask", "text"), method("ask", "text", "user"), ["ask now needs user"]),
        (
            method("ask", "text", optional=("limit",)),
            method("ask", "text"),
            ["ask no longer takes limit"],
        ),
        (with_card(("stock",), "1.0"), with_card(("stock", "orders"), "1.0", "0.3"), []),
        (
            with_card(("stock", "orders"), "1.0", "0.3"),
            with_card(("stock",), "1.0"),
            [
                "the A2A interface HTTP+JSON 0.3 is gone from its card",
                "the skill orders is gone from its card",
            ],
        ),
        (
            with_card(("stock",), "1.0"),
            method("on_message_send", "request"),
            ["it has no A2A card any more"],
        ),
    ],
)
def test_what_a_caller_would_miss(
    before: Mapping[str, Any], after: Mapping[str, Any], told: list[str]
) -> None:
    assert breaks([before], [after]) == told


@pytest.mark.parametrize("text", ["", "{", "[]", None])
def test_what_is_no_card_is_none(text: Any) -> None:
    assert card([{"name": "on_message_send", "a2a_agent_card": text}]) is None


def second(world: World) -> Wanted:
    """Takes away a parameter that the router could give."""
    edit(world.root, "agents/supply/agent.py", ", limit: int = 3", "")
    bundles = package_all(world.root, world.manifests, world.cache, lambda line: None)
    return Wanted(world.manifests, bundles)


def test_a_specialist_that_the_live_router_could_not_ask_any_more_is_refused(world: World) -> None:
    world.deploy()
    with pytest.raises(RemoteError) as caught:
        deploy(world.root, world.site, second(world), lambda line: None)
    assert "router would lose what it can ask of supply now: query no longer takes limit" in str(
        caught.value
    )
    assert world.bucket("control").read("deployments/0002.json") is None


def test_unless_that_is_meant(world: World) -> None:
    world.deploy()
    wanted = second(world)
    done = deploy(world.root, world.site, wanted, lambda line: None, allow_incompatible=True)
    assert "supply" in done.changed
