"""Terraform values to API bodies and back, and what is planned, without Terraform."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.emulator.provider import schema
from services.emulator.provider.codec import UNKNOWN, decode, encode, known
from services.emulator.provider.mapping import INPUT, LOCAL, Field, Mapper, at
from services.emulator.provider.planning import conform, fill, plan_labels
from services.emulator.provider.resources import KINDS
from services.emulator.provider.schema import Attribute, Block, Nested
from tests.emulator.conftest import SCHEMA

TEXT, NUMBER = Attribute("string", optional=True), Attribute("number", optional=True)
MADE = Attribute("string", computed=True)
INNER = Block({"max_age": NUMBER, "rule_text": TEXT})
BLOCK = Block(
    {"display_name": TEXT, "kind": TEXT, "own": TEXT, "archive": TEXT, "etag": MADE},
    {"one_block": Nested(INNER, "list", max_items=1), "many": Nested(INNER, "list")},
)
MAPPER = Mapper(
    BLOCK,
    {
        "kind": Field(default="STANDARD"),
        "own": LOCAL,
        "archive": INPUT,
        "many": at("deep", "er"),
        "many.rule_text": Field(encode=json.loads, decode=json.dumps),
    },
)
EMPTY = BLOCK.shaped({})


def state(**values: Any) -> dict[str, Any]:
    return BLOCK.shaped(values)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text() | st.just(UNKNOWN),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_values_survive_the_wire(value: Any) -> None:
    assert decode(encode(value)) == value


def test_names_and_places() -> None:
    body = MAPPER.body(
        state(
            display_name="x",
            own="kept here",
            etag="made",
            one_block=[{"max_age": 1, "rule_text": None}],
            many=[{"max_age": None, "rule_text": "[1]"}],
        )
    )
    assert body == {
        "displayName": "x",
        "oneBlock": {"maxAge": 1},
        "deep": {"er": [{"ruleText": [1]}]},
    }


def test_what_the_api_makes_of_it_is_read() -> None:
    # Google's JSON has 64-bit integers as text.
    body = {"displayName": "y", "etag": "e", "oneBlock": {"maxAge": "7"}, "unknownHere": 1}
    read = MAPPER.state(body, state(display_name="x", own="o", archive="bytes"))
    assert read == state(
        display_name="y",
        own="o",
        archive="bytes",
        etag="e",
        one_block=[{"max_age": 7, "rule_text": None}],
    )


def test_what_means_the_same_keeps_its_spelling() -> None:
    prior = state(display_name="", many=[{"max_age": 0, "rule_text": "[ 1 ]"}])
    body = {"kind": "STANDARD", "deep": {"er": [{"ruleText": [1]}]}}
    assert MAPPER.state(body, prior) == prior
    assert MAPPER.state({**body, "kind": "COLD"}, prior)["kind"] == "COLD"
    other = {"deep": {"er": [{"ruleText": [2]}]}}
    assert MAPPER.state(other, prior)["many"][0]["rule_text"] == "[2]"


def test_unset_values_are_unknown_only_while_they_are_new() -> None:
    assert fill(BLOCK, EMPTY, None)["etag"] is UNKNOWN
    assert fill(BLOCK, EMPTY, EMPTY)["etag"] is None


def test_a_result_is_what_was_planned_and_what_was_unknown() -> None:
    planned = state(display_name="x", etag=UNKNOWN)
    result = conform(BLOCK, planned, state(display_name="X", etag="e"))
    assert result == state(display_name="x", etag="e")
    assert known(conform(BLOCK, planned, {}))


def test_labels_wait_for_what_is_unknown() -> None:
    planned: dict[str, Any] = {"labels": {"a": UNKNOWN}}
    plan_labels(planned, None, {}, attribute=True)
    assert planned["effective_labels"] is UNKNOWN


def test_labels_of_others_stay_and_ours_go() -> None:
    prior = {
        "terraform_labels": {"a": "1", "old": "x"},
        "effective_labels": {"a": "1", "old": "x", "theirs": "t"},
    }
    planned: dict[str, Any] = {"labels": {"a": "2"}}
    plan_labels(planned, prior, {"team": "d"}, attribute=True)
    # A resource that was made without the mark does not get it later.
    assert planned["terraform_labels"] == {"a": "2", "team": "d"}
    assert planned["effective_labels"] == {"a": "2", "team": "d", "theirs": "t"}


def test_every_name_in_the_tables_is_in_the_schema() -> None:
    resources = schema.load(SCHEMA).resources
    for type_, kind in KINDS.items():
        if type_.endswith("_iam_member"):
            continue  # one table for five types
        block = resources[type_]
        for name in (*kind.force_new, *kind.volatile):
            assert name in block.attributes or name in block.blocks, (type_, name)
        for path in kind.fields:
            where = block
            *parents, last = path.split(".")
            for parent in parents:
                where = where.blocks[parent].block
            assert last in where.attributes or last in where.blocks, (type_, path)
