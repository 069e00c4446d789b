"""The deployed front agent, asked through Google's SDK."""

from __future__ import annotations

import pytest

from infra.errors import RemoteError
from infra.manifest import front
from services.conversation import Conversation
from tests.release.targets import target_at
from tests.release.worlds import World, api


def talk(world: World) -> Conversation:
    return Conversation(world.target, world.descriptor, front(world.manifests))


def test_several_questions_are_answered_over_one_client(world: World) -> None:
    world.deploy()
    with talk(world) as conversation:
        first = conversation.ask("how much?", user="maria")
        second = conversation.ask("and now?", user="sam")
    assert (first.text, first.session) == ("hello maria: how much?", "of-maria")
    assert first.findings == ({"agent": "router", "value": 7},)
    assert (second.text, second.session) == ("hello sam: and now?", "of-sam")


def test_a_conversation_goes_on_only_for_whom_it_is(world: World) -> None:
    world.deploy()
    engine = world.descriptor.engines["router"].name
    api(world.target, "POST", f"{engine}/sessions?sessionId=s1", {"userId": "maria"})
    with talk(world) as conversation:
        answer = conversation.ask("go on", user="maria", session="s1")
        assert (answer.session, answer.text) == ("s1", "hello maria: go on")
        for session, user in (("s2", "maria"), ("s1", "sam")):
            with pytest.raises(RemoteError, match=f"{user} has no conversation '{session}'"):
                conversation.ask("go on", user=user, session=session)


def test_an_engine_that_nothing_was_deployed_to_is_told(world: World) -> None:
    with talk(world) as conversation, pytest.raises(RemoteError, match="nothing is deployed") as e:
        conversation.ask("hello?", user="maria")
    assert e.value.fix == "slipway deploy local"


def test_nobody_at_the_address_is_told(world: World) -> None:
    target = target_at("http://127.0.0.1:1")
    nobody = Conversation(target, world.descriptor, front(world.manifests))
    with nobody, pytest.raises(RemoteError, match="cannot be reached"):
        nobody.ask("hello?", user="maria")


def test_memories_are_those_of_app_and_user(world: World) -> None:
    assert world.descriptor.memory_bank is not None
    bank = world.descriptor.memory_bank.name
    with talk(world) as conversation:
        assert conversation.wait_for_memories("maria", 0.3) == []
        for user, app in (("maria", "acme"), ("sam", "acme"), ("maria", "other")):
            body = {"fact": f"{user} of {app}", "scope": {"app_name": app, "user_id": user}}
            api(world.target, "POST", f"{bank}/memories", body)
        assert conversation.wait_for_memories("maria", 5) == ["maria of acme"]
