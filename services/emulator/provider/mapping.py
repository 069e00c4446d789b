"""Terraform values to API bodies and back, driven by the schema; what differs is a table per type.

Without an entry an attribute `a_b` is the API's `aB`, and a block of at most one is an object.
Reading keeps the spelling that Terraform already has wherever sending it would give what the API
holds: JSON text with other blanks, an absent value for a default, an empty text for none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from services.emulator.provider.codec import UNKNOWN, State, Value
from services.emulator.provider.schema import Attribute, Block, Nested

Body = dict[str, Any]


def same(value: Value) -> Value:
    """Gives back what it is given."""
    return value


@dataclass(frozen=True)
class Field:
    """How one attribute or block lies in the API's body.

    Attributes:
        api: path from the enclosing object; None for the plain camelCase name, () for what the API
            does not have at all: the state's value stays.
        default: what the API answers when nothing was set.
        echoed: False for what the API takes and never gives back.
        adopted: False for a block that the server makes by itself, so that it is read only when
            the configuration has it too.
    """

    api: tuple[str, ...] | None = None
    encode: Callable[[Value], Any] = same
    decode: Callable[[Any], Value] = same
    default: Any = None
    echoed: bool = True
    adopted: bool = True


LOCAL = Field(())
"""Lies in Terraform's state only."""
INPUT = Field(echoed=False)
"""Sent, never given back."""

Fields = Mapping[str, Field]
"""By dotted path of schema names, such as `spec.class_methods`."""


def at(*path: str) -> Field:
    """A field that lies elsewhere."""
    return Field(path)


@dataclass(frozen=True)
class Mapper:
    """The mapping of one resource type."""

    block: Block
    fields: Fields

    def body(self, value: State) -> Body:
        """The API's body for a planned or stored value; what is null or unknown is left out."""
        return self._object(self.block, value, "")

    def state(self, body: Mapping[str, Any], prior: State, *, imported: bool = False) -> State:
        """The value for what the API holds.

        Args:
            prior: the state so far, or what was planned.
            imported: whether the prior state knows nothing but the ID.
        """
        return _Reader(self, imported).object(self.block, body, prior, "")

    def settled(self, planned: State, prior: State) -> State:
        """The plan, with the prior spelling of what the API would be sent the same for."""
        return self._settled(self.block, planned, prior, "")

    def field(self, path: str) -> Field:
        """The entry of a path."""
        return self.fields.get(path, _PLAIN)

    def _object(self, block: Block, value: State, path: str) -> Body:
        body: Body = {}
        for name, attribute in block.attributes.items():
            given, field = value.get(name), self.field(path + name)
            if given is None or given is UNKNOWN or attribute.output or attribute.write_only:
                continue
            if (sent := field.encode(given)) is not None:
                _put(body, _where(name, field), sent)
        for name, nested in block.blocks.items():
            where = _where(name, self.field(path + name))
            items = value.get(name) or []
            if nested.nesting == "single" or not where or not isinstance(items, list):
                continue
            objects = [self._object(nested.block, item, f"{path}{name}.") for item in items]
            if objects:
                _put(body, where, objects[0] if nested.one else objects)
        return body

    def _settled(self, block: Block, planned: State, prior: State, path: str) -> State:
        settled = dict(planned)
        for name in block.attributes:
            value, before, field = planned.get(name), prior.get(name), self.field(path + name)
            if field.encode is same or value is None or value is UNKNOWN or before is None:
                continue
            if field.encode(value) == field.encode(before):
                settled[name] = before
        for name, nested in block.blocks.items():
            items, olds = planned.get(name), prior.get(name)
            if nested.nesting == "list" and isinstance(items, list) and isinstance(olds, list):
                settled[name] = [
                    self._settled(nested.block, item, old, f"{path}{name}.")
                    for item, old in zip(items, olds, strict=False)
                ] + items[len(olds) :]
        return settled

    def item(self, nested: Nested, value: State, path: str) -> Body:
        """The API's object for one item of a nested block."""
        return self._object(nested.block, value, path)


@dataclass(frozen=True)
class _Reader:
    mapping: Mapper
    imported: bool

    def object(self, block: Block, body: Mapping[str, Any], prior: State, path: str) -> State:
        state: State = {}
        for name, attribute in block.attributes.items():
            field, before = self.mapping.field(path + name), prior.get(name)
            before = None if before is UNKNOWN else before
            where = _where(name, field)
            if attribute.write_only:
                state[name] = None
            elif not where or not field.echoed:
                state[name] = before
            else:
                state[name] = self._attribute(attribute, field, _get(body, where), before)
        for name, nested in block.blocks.items():
            field = self.mapping.field(path + name)
            where, before = _where(name, field), prior.get(name)
            if nested.nesting == "single" or not where or not field.echoed:
                state[name] = before
            else:
                found = _get(body, where)
                items = before if isinstance(before, list) else []
                state[name] = self._nested(nested, field, found, items, f"{path}{name}.")
        return state

    def _attribute(self, attribute: Attribute, field: Field, found: Any, before: Value) -> Value:
        if found is None:
            unset = _empty(before) or (field.default is not None and before == field.default)
            return before if unset else None
        if before is not None and field.encode(before) == found:
            return before
        value = _typed(attribute.type, field.decode(found))
        if before == value:
            return before
        default = _empty(found) or value == field.default
        return None if before is None and default and not attribute.computed else value

    def _nested(
        self, nested: Nested, field: Field, found: Any, before: list[State], path: str
    ) -> list[State]:
        if not nested.one:
            return [
                self.object(
                    nested.block, item, self._prior(nested, item, before, index, path), path
                )
                for index, item in enumerate(found or [])
            ]
        if found is None:
            unset = before and _empty(self.mapping.item(nested, before[0], path))
            return before if unset else []
        if not before and not self.imported and (_empty(found) or not field.adopted):
            return []
        return [self.object(nested.block, found, before[0] if before else {}, path)]

    def _prior(
        self, nested: Nested, item: Body, before: list[State], index: int, path: str
    ) -> State:
        """The state's item that stands for an item of the API."""
        if nested.nesting == "list":
            return before[index] if index < len(before) else {}
        for candidate in before:
            sent = self.mapping.item(nested, candidate, path)
            if all(item.get(key) == value for key, value in sent.items()):
                return candidate
        return {}


_PLAIN = Field()


def camel(name: str) -> str:
    """`memory_topics` -> `memoryTopics`."""
    head, *tail = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


def _where(name: str, field: Field) -> tuple[str, ...]:
    return (camel(name),) if field.api is None else field.api


def _get(body: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    found: Any = body
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _put(body: Body, path: tuple[str, ...], value: Any) -> None:
    if not path:
        return
    for key in path[:-1]:
        body = body.setdefault(key, {})
    if isinstance(value, dict) and isinstance(body.get(path[-1]), dict):
        body[path[-1]] |= value
    else:
        body[path[-1]] = value


def _empty(value: Any) -> bool:
    """Whether protobuf's JSON could leave it out: nothing, or nothing but empty values."""
    if isinstance(value, Mapping):
        return all(_empty(item) for item in value.values())
    return not value


def _typed(type_: Any, value: Any) -> Value:
    """A JSON value as the schema's type: 64-bit integers are text in Google's JSON."""
    if type_ == "string" and not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if type_ == "number" and isinstance(value, str):
        return float(value) if "." in value else int(value)
    if isinstance(type_, list) and type_[0] == "map":
        return {key: _typed(type_[1], item) for key, item in value.items()}
    if isinstance(type_, list):
        return [_typed(type_[1], item) for item in value]
    return value
