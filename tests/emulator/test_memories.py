"""Memory Bank through Google's client: memories, generation by topic, retrieval, purge."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai.errors import ClientError

from .conftest import Deployer, Local

SCOPE = {"app_name": "acme", "user_id": "maria"}
PREFERENCES = {"managed_memory_topic": {"managed_topic_enum": "USER_PREFERENCES"}}
DATA_SCOPE = {
    "custom_memory_topic": {"label": "data_scope", "description": "Which data a person works on."}
}
SAID = "I work on Western Europe. Always show me euros. What did we spend on Acme Pure?"


def bank(deployer: Deployer, *topics: dict[str, Any]) -> str:
    """An engine with these topics, as Terraform sends it."""
    config = {"scope_keys": ["app_name", "user_id"], "memory_topics": list(topics)}
    spec = {"memory_bank_config": {"customization_configs": [config]}}
    return deployer.engine(**({"contextSpec": spec} if topics else {}))


def generate(sdk: Any, name: str, *texts: str, role: str = "user", **config: Any) -> list[Any]:
    """What generating from contents with these texts answers."""
    events = [{"content": {"role": role, "parts": [{"text": text}]}} for text in texts]
    operation = sdk.memory_banks.memories.generate(
        name=name,
        scope=SCOPE,
        direct_contents_source={"events": events},
        config={"wait_for_completion": True, **config},
    )
    return operation.response.generated_memories or []


def facts(sdk: Any, name: str) -> list[str]:
    """The bank's facts, in the order of creation."""
    return [memory.fact for memory in sdk.memory_banks.memories.list(name=name)]


def test_the_client_creates_gets_lists_and_deletes(sdk: Any, deployer: Deployer) -> None:
    name, api = deployer.engine(), sdk.memory_banks.memories
    config = {
        "memory_id": "mem-1",
        "topics": [{"managed_memory_topic": "USER_PREFERENCES"}],
        "metadata": {"some_key": {"string_value": "x"}},
        "ttl": "3600s",
    }
    made = api.create(name=name, fact="likes tea", scope=SCOPE, config=config).response
    assert made.name == f"{name}/memories/mem-1"
    got = api.get(name=made.name)
    assert (got.fact, got.scope, got.metadata["some_key"].string_value) == (
        "likes tea",
        SCOPE,
        "x",
    )
    assert got.expire_time is not None
    with pytest.raises(ClientError) as error:
        api.create(name=name, fact="again", scope=SCOPE, config={"memory_id": "mem-1"})
    assert error.value.code == 409
    listed = api.list(name=name, config={"filter": 'fact="likes tea"'})
    assert [memory.name for memory in listed] == [made.name]
    api.delete(name=made.name)
    assert facts(sdk, name) == []


@pytest.mark.parametrize(
    ("topics", "kept"),
    [
        ((PREFERENCES, DATA_SCOPE), ["Works on Western Europe", "Prefers euros"]),
        ((PREFERENCES,), ["Prefers euros"]),
        ((DATA_SCOPE,), ["Works on Western Europe"]),
        (({"managed_memory_topic": {"managed_topic_enum": "KEY_CONVERSATION_DETAILS"}},), []),
        # A bank that names no topics has all of Google's.
        ((), ["Works on Western Europe", "Prefers euros"]),
    ],
)
def test_topics_decide_what_is_kept(
    sdk: Any, deployer: Deployer, topics: tuple[dict[str, Any], ...], kept: list[str]
) -> None:
    name = bank(deployer, *topics)
    made = generate(sdk, name, SAID)
    assert facts(sdk, name) == kept
    assert [item.action.value for item in made] == ["CREATED"] * len(kept)


def test_memories_name_their_topic(sdk: Any, deployer: Deployer) -> None:
    name = bank(deployer, PREFERENCES, DATA_SCOPE)
    generate(sdk, name, SAID)
    topics = [memory.topics[0] for memory in sdk.memory_banks.memories.list(name=name)]
    assert topics[0].custom_memory_topic_label == "data_scope"
    assert topics[1].managed_memory_topic.value == "USER_PREFERENCES"


def test_a_scope_that_no_configuration_is_for_gets_nothing(sdk: Any, deployer: Deployer) -> None:
    name = bank(deployer, PREFERENCES)
    sdk.memory_banks.ingest_events(
        name=name,
        scope={"user_id": "maria"},
        direct_contents_source={
            "events": [{"content": {"role": "user", "parts": [{"text": SAID}]}}]
        },
    )
    assert facts(sdk, name) == []


def test_only_users_are_listened_to(sdk: Any, deployer: Deployer) -> None:
    name = deployer.engine()
    generate(sdk, name, "I work on the Nordics. Always show me pounds.", role="model")
    assert facts(sdk, name) == []


def test_a_newer_statement_takes_the_place_of_the_older(sdk: Any, deployer: Deployer) -> None:
    name, api = deployer.engine(), sdk.memory_banks.memories
    generate(sdk, name, "Always show me euros.")
    assert generate(sdk, name, "I always want euros.") == []
    made = generate(sdk, name, "From now on use pounds instead of euros.")
    assert [item.action.value for item in made] == ["UPDATED"]
    assert facts(sdk, name) == ["Prefers pounds"]
    revisions = list(api.revisions.list(name=made[0].memory.name))
    assert [revision.fact for revision in revisions] == ["Prefers pounds", "Prefers euros"]
    assert made[0].previous_revision == revisions[1].name
    assert api.revisions.get(name=revisions[1].name).fact == "Prefers euros"
    # Another person's wish is another memory.
    api.create(name=name, fact="Prefers yen", scope=SCOPE | {"user_id": "sam"})
    generate(sdk, name, "Always show me dollars.")
    assert facts(sdk, name) == ["Prefers dollars", "Prefers yen"]


def test_a_session_is_a_source(sdk: Any, deployer: Deployer) -> None:
    import datetime

    name = deployer.engine()
    session = sdk.sessions.create(name=name, user_id="maria").response.name
    for author, text in (("user", "I cover Acme Bold."), ("writer", "I work on the Nordics.")):
        content = {"role": "user", "parts": [{"text": text}]}
        sdk.sessions.events.append(
            name=session,
            author=author,
            invocation_id="i",
            timestamp=datetime.datetime.now(datetime.UTC),
            config={"content": content},
        )
    sdk.memory_banks.memories.generate(
        name=name, vertex_session_source={"session": session}, config={"wait_for_completion": True}
    )
    memory = next(iter(sdk.memory_banks.memories.list(name=name)))
    assert (memory.fact, memory.scope) == ("Works on Acme Bold", {"user_id": "maria"})


def test_retrieval_is_by_exact_scope_and_by_common_words(sdk: Any, deployer: Deployer) -> None:
    name, api = deployer.engine(), sdk.memory_banks.memories
    for fact in ("Works on Western Europe", "Prefers euros", "Prefers tables", "Likes oolong tea"):
        api.create(name=name, fact=fact, scope=SCOPE)
    api.create(name=name, fact="Prefers oolong tea", scope={"user_id": "maria"})

    def found(query: str, **more: Any) -> list[str]:
        params = {"search_query": query, **more}
        answer = api.retrieve(name=name, scope=SCOPE, similarity_search_params=params)
        return [item.memory.fact for item in answer]

    # Three by default, as in the cloud; the nearest first, among equals the newest.
    assert found("which teas") == ["Likes oolong tea", "Prefers tables", "Prefers euros"]
    assert found("Western Europe", top_k=1) == ["Works on Western Europe"]
    assert len(found("anything", top_k=100)) == 4
    assert len(list(api.retrieve(name=name, scope=SCOPE))) == 4
    assert list(api.retrieve(name=name, scope={"app_name": "acme"})) == []


def test_simple_retrieval_comes_in_pages(local: Local, sdk: Any, deployer: Deployer) -> None:
    name = deployer.engine()
    for number in range(3):
        sdk.memory_banks.memories.create(name=name, fact=f"fact {number}", scope=SCOPE)
    # By plain REST: the client (2.7.0) cannot ask for a second page of this.
    params = {"pageSize": 2}
    seen: list[str] = []
    while True:
        body = {"scope": SCOPE, "simpleRetrievalParams": params}
        answer = local.rest("POST", f"v1/{name}/memories:retrieve", body).json()
        seen += [item["memory"]["fact"] for item in answer["retrievedMemories"]]
        if "nextPageToken" not in answer:
            break
        params = params | {"pageToken": answer["nextPageToken"]}
    assert seen == ["fact 0", "fact 1", "fact 2"]


def test_distances_grow_from_nought_to_one(sdk: Any, deployer: Deployer) -> None:
    name, api = deployer.engine(), sdk.memory_banks.memories
    for fact in ("green tea", "black tea", "coffee"):
        api.create(name=name, fact=fact, scope=SCOPE)
    answer = api.retrieve(
        name=name, scope=SCOPE, similarity_search_params={"search_query": "green tea"}
    )
    # Common words of all words: 2 of 2, 1 of 3, 0 of 3.
    assert [item.distance for item in answer] == pytest.approx([0.0, 2 / 3, 1.0])


def test_purging_counts_first(sdk: Any, local: Local, deployer: Deployer) -> None:
    name, api = deployer.engine(), sdk.memory_banks.memories
    for user in ("maria", "maria", "sam"):
        api.create(name=name, fact=f"of {user}", scope={"user_id": user})
    body = {"filter": 'scope.user_id="maria"', "force": False}
    operation = local.rest("POST", f"v1beta1/{name}/memories:purge", body).json()
    assert operation["response"]["purgeCount"] == 2
    assert len(facts(sdk, name)) == 3
    config = {"wait_for_completion": True}
    api.purge(name=name, filter='scope.user_id="maria"', force=True, config=config)
    assert facts(sdk, name) == ["of sam"]
    assert local.rest("POST", f"v1beta1/{name}/memories:purge", {"force": True}).status_code == 400


def test_a_memory_bank_of_the_clients_own(sdk: Any, local: Local) -> None:
    config = {"scope_keys": ["app_name", "user_id"], "memory_topics": [PREFERENCES]}
    made = sdk.memory_banks.create(
        managed_semantic_memory_config={"unstructured_memory_configs": [config]},
        config={"display_name": "bank"},
    )
    body = local.rest("GET", f"v1/{made.name}").json()
    topics = body["contextSpec"]["memoryBankConfig"]["customizationConfigs"][0]["memoryTopics"]
    assert topics == [{"managedMemoryTopic": {"managedTopicEnum": "USER_PREFERENCES"}}]
    generate(sdk, made.name, SAID)
    assert facts(sdk, made.name) == ["Prefers euros"]


@pytest.mark.parametrize(
    ("verb", "body", "said"),
    [
        ("", {"fact": "f"}, "scope"),
        ("", {"scope": {"a": "b"}}, "fact"),
        ("", {"fact": "f", "scope": {"a": "*"}}, "'*'"),
        (":generate", {"scope": {"a": "b"}}, "source"),
        (":retrieve", {}, "scope"),
        (":retrieve", {"scope": {"a": "b"}, "similaritySearchParams": {}}, "search_query"),
        ("?memoryId=Not-Valid", {"fact": "f", "scope": {"a": "b"}}, "memory_id"),
    ],
)
def test_requests_that_are_refused(
    local: Local, deployer: Deployer, verb: str, body: dict[str, Any], said: str
) -> None:
    answer = local.rest("POST", f"v1beta1/{deployer.engine()}/memories{verb}", body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
