"""Reads a TOML file and remembers on which line each key stands, so that errors can name it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError
from pydantic_core import PydanticCustomError

from infra.errors import InputError

MOST_SHOWN = 100
"""Characters of a wrong value that an error still shows."""
Key = tuple[str, ...]
"""A key and the tables around it; an item of an array of tables is its index as text."""

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_PART = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_ASSIGNMENT = re.compile(rf"^\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=(.*)$")
_QUOTES = ('"""', "'''")


@dataclass(frozen=True)
class TomlFile:
    """A file's data, and where each of its keys stands. `shown` is the path that errors name."""

    shown: str
    data: dict[str, Any]
    lines: Mapping[Key, int]

    def where(self, key: Sequence[str] = ()) -> str:
        """`FILE:LINE` of the key, or of the innermost table around it that has a line."""
        for end in range(len(key), 0, -1):
            if line := self.lines.get(tuple(key[:end])):
                return f"{self.shown}:{line}"
        return self.shown


Where = Callable[[Sequence[str]], str]
"""Says where a key stands."""


class FileModel(BaseModel):
    """The model of a whole file; each key's place is kept beside the values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    _places: Mapping[Key, str] = PrivateAttr(default_factory=dict)
    _home: str = PrivateAttr(default="")

    def where(self, *key: str) -> str:
        """Where a key was set: `FILE:LINE` or another source; the file where no line is known."""
        for end in range(len(key), 0, -1):
            if place := self._places.get(key[:end]):
                return place
        return self._home

    @property
    def places(self) -> Mapping[Key, str]:
        """Where each key was set."""
        return self._places

    def placed(self, home: str, places: Mapping[Key, str]) -> Self:
        """Itself, knowing from now on where each key was set."""
        self._home, self._places = home, dict(places)
        return self


M = TypeVar("M", bound=FileModel)


def read(path: Path, *, shown: str) -> TomlFile:
    """Reads a file.

    Raises:
        InputError: it cannot be read, or is no TOML.
    """
    try:
        # Windows' editors put a byte order mark before UTF-8; TOML has no use for one.
        text = path.read_text(encoding="utf-8-sig")
        return TomlFile(shown, tomllib.loads(text), dict(_lines(text)))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not valid TOML: {error}", where=shown, fix=f"edit {shown}") from None
    except UnicodeDecodeError:
        raise InputError("not a text in UTF-8", where=shown, fix=f"edit {shown}") from None
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror}",
            where=shown,
            fix=f"check that {shown} is a readable file",
        ) from None


def parse(model: type[M], file: TomlFile) -> M:
    """The file as its model.

    Raises:
        InputError: with every key that is missing, unknown or wrong.
    """
    try:
        made = model.model_validate(file.data)
    except ValidationError as error:
        raise problems(error, model, file.where, file.shown) from None
    return made.placed(
        file.shown, {key: f"{file.shown}:{line}" for key, line in file.lines.items()}
    )


def wrong(message: str, *key: str) -> PydanticCustomError:
    """What a validator of a whole model raises about one of its keys."""
    return PydanticCustomError("wrong", "{message}", {"message": message, "key": key})


def problems(
    error: ValidationError, model: type[BaseModel], where: Where, shown: str
) -> InputError:
    """All of pydantic's complaints, each as where, what and the edit that fixes it."""
    found = error.errors(include_url=False)
    unknown = {item["loc"][:-1] for item in found if item["type"] == "extra_forbidden"}
    told = []
    for item in found:
        # A misspelt key is also a missing one; the misspelling is what is to be mended.
        if item["type"] == "missing" and item["loc"][:-1] in unknown:
            continue
        told.append(_problem(dict(item), model, where, shown))
    return InputError.of(told)


def _problem(item: dict[str, Any], model: type[BaseModel], where: Where, shown: str) -> InputError:
    loc = [str(part) for part in (*item["loc"], *item.get("ctx", {}).get("key", ()))]
    key = ".".join(loc)
    place = where(loc) if loc else shown
    if item["type"] == "extra_forbidden":
        known = _keys(model, loc[:-1])
        near = difflib.get_close_matches(loc[-1], known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
        return InputError(f"unknown key {key!r}", where=place, fix=hint)
    if item["type"] == "missing":
        return InputError(
            f"the key {key!r} is missing", where=shown, fix=f"add {key} = … to {shown}"
        )
    message = str(item["msg"]).removeprefix("Value error, ")
    given = item["input"]
    for part in item.get("ctx", {}).get("key", ()):
        given = given.get(part) if isinstance(given, dict) else getattr(given, part, None)
    shows = loc and not isinstance(given, BaseModel) and len(repr(given)) <= MOST_SHOWN
    what = f"{key} = {_written(given)}: {message}" if shows else f"{key}: {message}"
    what = what.removeprefix(": ")
    return InputError(what, where=place, fix=f"edit {place.rpartition(':')[0] or place}")


def _written(value: Any) -> str:
    """The value as TOML has it, for the kinds that a file can hold."""
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _keys(model: type[BaseModel], loc: list[str]) -> list[str]:
    """The keys of the table that lies at `loc` inside the model."""
    for part in loc:
        field = model.model_fields.get(part)
        inner = field.annotation if field else None
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            model = inner
    return list(model.model_fields)


def _lines(text: str) -> Iterator[tuple[Key, int]]:
    """Each key of a valid TOML text with its line, from 1."""
    table: Key = ()
    items: dict[Key, int] = {}
    end: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if end is not None:
            end = None if end in line else end
            continue
        if header := _HEADER.match(line):
            table = _split(header[2])
            if header[1] == "[[":
                index = items[table] = items.get(table, -1) + 1
                table = (*table, str(index))
            yield table, number
        elif assignment := _ASSIGNMENT.match(line):
            yield (*table, *_split(assignment[1])), number
            end = _unclosed(assignment[2])


def _split(dotted: str) -> Key:
    return tuple(part.strip().strip("\"'") for part in re.findall(_PART, dotted))


def _unclosed(value: str) -> str | None:
    """The quotes of a text that goes on over the next lines."""
    for quotes in _QUOTES:
        if value.strip().startswith(quotes) and value.count(quotes) == 1:
            return quotes
    return None
