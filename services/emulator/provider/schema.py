"""The google provider's schema: read from JSON, walked as dataclasses, sent as messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.emulator.provider.codec import State, Value
from services.emulator.provider.protocol import pb

# The bindings that the schema is rebuilt from do not say which attributes are sensitive.
SENSITIVE = frozenset(
    {"access_token", "credentials", "content", "secret_data", "secret_data_wo", "identity_token"}
)
WRITE_ONLY_SUFFIX = "_wo"
_NESTING = {"single": 1, "list": 2, "set": 3, "map": 4}


@dataclass(frozen=True)
class Attribute:
    """One attribute. `type` is Terraform's JSON form: "string" or ["map", "string"]."""

    type: Any
    required: bool = False
    optional: bool = False
    computed: bool = False
    write_only: bool = False
    sensitive: bool = False

    @property
    def output(self) -> bool:
        """Whether only the server sets it."""
        return self.computed and not self.optional


@dataclass(frozen=True)
class Nested:
    """A nested block; its value is a list, or with nesting `single` an object or None."""

    block: Block
    nesting: str
    min_items: int = 0
    max_items: int = 0

    @property
    def one(self) -> bool:
        """Whether the API has one object where Terraform has a list."""
        return self.max_items == 1


@dataclass(frozen=True)
class Block:
    """The attributes and nested blocks of a resource or of a nested block, by name."""

    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    blocks: Mapping[str, Nested] = field(default_factory=dict)

    def shaped(self, value: Mapping[str, Value]) -> State:
        """The value with every name of the schema and no other; what it lacks is empty."""
        shaped: State = {name: value.get(name) for name in self.attributes}
        for name, nested in self.blocks.items():
            given = value.get(name)
            if nested.nesting == "single":
                shaped[name] = None if given is None else nested.block.shaped(given)
            elif isinstance(given, list):
                shaped[name] = [nested.block.shaped(item) for item in given]
            else:
                shaped[name] = given if given is not None else []
        return shaped


@dataclass(frozen=True)
class Schema:
    """The provider's own block, and each resource type's."""

    provider: Block
    resources: Mapping[str, Block]


def load(path: Path) -> Schema:
    """Reads the file that infra/schema keeps."""
    data = json.loads(path.read_text(encoding="utf-8"))
    resources = {name: _block(body["block"]) for name, body in data["resource_schemas"].items()}
    return Schema(_block(data["provider"]["block"]), resources)


def message(block: Block) -> Any:
    """The block as a `pb.Schema`."""
    return pb.Schema(version=0, block=_message(block))


def _block(body: Mapping[str, Any]) -> Block:
    return Block(
        {name: _attribute(name, a) for name, a in sorted(body.get("attributes", {}).items())},
        {
            name: Nested(
                _block(nested["block"]),
                nested["nesting_mode"],
                nested.get("min_items") or 0,
                nested.get("max_items") or 0,
            )
            for name, nested in sorted(body.get("block_types", {}).items())
        },
    )


def _attribute(name: str, body: Mapping[str, Any]) -> Attribute:
    return Attribute(
        type=body["type"],
        required=body.get("required", False),
        optional=body.get("optional", False),
        computed=body.get("computed", False),
        write_only=name.endswith(WRITE_ONLY_SUFFIX),
        sensitive=name in SENSITIVE,
    )


def _message(block: Block) -> Any:
    return pb.Schema.Block(
        attributes=[
            pb.Schema.Attribute(
                name=name,
                type=json.dumps(a.type).encode(),
                required=a.required,
                optional=a.optional,
                computed=a.computed,
                sensitive=a.sensitive,
                write_only=a.write_only,
            )
            for name, a in block.attributes.items()
        ],
        block_types=[
            pb.Schema.NestedBlock(
                type_name=name,
                block=_message(nested.block),
                nesting=_NESTING[nested.nesting],
                min_items=nested.min_items,
                max_items=nested.max_items,
            )
            for name, nested in block.blocks.items()
        ],
    )
