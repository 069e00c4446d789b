"""The google provider's schema (JSON, as `terraform providers schema -json` prints it)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyvider.protocols.tfprotov6.protobuf import tfplugin6_pb2 as pb

Block = dict[str, Any]
NESTING = {kind: kind.upper() for kind in ("single", "list", "set", "map")}
SENSITIVE = frozenset({"access_token", "credentials", "secret_data", "secret_data_wo"})


class Schema:
    """Blocks by resource type, and the provider's own."""

    def __init__(self, path: Path) -> None:
        """Reads the file."""
        document = json.loads(path.read_text(encoding="utf-8"))
        self.provider: Block = document["provider"]["block"]
        self.resources: dict[str, Block] = {
            name: entry["block"] for name, entry in document["resource_schemas"].items()
        }


def attributes(block: Block) -> dict[str, dict[str, Any]]:
    """A block's attributes by name."""
    found: dict[str, dict[str, Any]] = block.get("attributes", {})
    return found


def blocks(block: Block) -> dict[str, dict[str, Any]]:
    """A block's nested block types by name."""
    found: dict[str, dict[str, Any]] = block.get("block_types", {})
    return found


def write_only(name: str) -> bool:
    """Whether an attribute's value never comes into the state, by the provider's naming."""
    return name.endswith("_wo")


def empty(block: Block) -> dict[str, Any]:
    """A value of the block in which nothing is set."""
    value: dict[str, Any] = dict.fromkeys(attributes(block))
    for name, nested in blocks(block).items():
        value[name] = None if nested["nesting_mode"] == "single" else []
    return value


def message(block: Block) -> Any:
    """The block as the protocol's `Schema`."""
    return pb.Schema(version=0, block=_block(block))


def _block(block: Block) -> Any:
    result = pb.Schema.Block(version=0)
    for name, entry in sorted(attributes(block).items()):
        result.attributes.append(
            pb.Schema.Attribute(
                name=name,
                type=json.dumps(entry["type"]).encode(),
                required=entry.get("required", False),
                optional=entry.get("optional", False),
                computed=entry.get("computed", False),
                sensitive=name in SENSITIVE,
                write_only=write_only(name),
            )
        )
    for name, entry in sorted(blocks(block).items()):
        result.block_types.append(
            pb.Schema.NestedBlock(
                type_name=name,
                block=_block(entry["block"]),
                nesting=NESTING[entry["nesting_mode"]],
                min_items=entry.get("min_items", 0),
                max_items=entry.get("max_items", 0),
            )
        )
    return result
