"""Values of Terraform's protocol: msgpack, in which "not known yet" is an extension type."""

from __future__ import annotations

import json
from typing import Any

import msgpack
from pyvider.protocols.tfprotov6.protobuf import tfplugin6_pb2 as pb

Values = dict[str, Any]
UNKNOWN = msgpack.ExtType(0, b"\x00")


def decode(value: Any) -> Any:
    """The value of a `DynamicValue`; None for null."""
    if value.json:
        return json.loads(value.json)
    if not value.msgpack:
        return None
    return msgpack.unpackb(value.msgpack, ext_hook=lambda *_: UNKNOWN, strict_map_key=False)


def encode(value: Any) -> Any:
    """A `DynamicValue`."""
    return pb.DynamicValue(msgpack=msgpack.packb(value))


def unknown(value: Any) -> bool:
    """Whether the value itself is not known yet."""
    return isinstance(value, msgpack.ExtType)


def known(value: Any) -> bool:
    """Whether the value is known down to its last part."""
    if isinstance(value, dict):
        return all(map(known, value.values()))
    if isinstance(value, list):
        return all(map(known, value))
    return not unknown(value)
