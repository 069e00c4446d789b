"""Terraform values on the wire: msgpack, where an extension stands for "not known yet".

Decoded: None, str, bool, int, float, list (lists, sets, tuples), dict (maps, objects) and UNKNOWN.
"""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Final

import msgpack

from services.emulator.provider.protocol import pb

Value = Any
State = dict[str, Any]


class Unknown(Enum):
    """The type of UNKNOWN; it is never true to compare an unknown value, so test with `is`."""

    UNKNOWN = "(known after apply)"

    def __repr__(self) -> str:
        return self.value


UNKNOWN: Final = Unknown.UNKNOWN
_WIRE = msgpack.ExtType(0, b"\x00")


def decode(value: Any) -> Value:
    """The value of a DynamicValue; refinements of unknown values are dropped."""
    if value.msgpack:
        return msgpack.unpackb(value.msgpack, ext_hook=_unknown, strict_map_key=False)
    return json.loads(value.json) if value.json else None


def encode(value: Value) -> Any:
    """A DynamicValue."""
    return pb.DynamicValue(msgpack=msgpack.packb(value, default=_wire))


def known(value: Value) -> bool:
    """Whether nothing in it is unknown."""
    if isinstance(value, dict):
        return all(known(item) for item in value.values())
    if isinstance(value, list):
        return all(known(item) for item in value)
    return value is not UNKNOWN


def _unknown(code: int, data: bytes) -> Unknown:
    del code, data
    return UNKNOWN


def _wire(value: object) -> msgpack.ExtType:
    if value is UNKNOWN:
        return _WIRE
    raise TypeError(f"{type(value).__name__} is no Terraform value")
