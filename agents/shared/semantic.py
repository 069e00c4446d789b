"""The semantic layer: what can be asked, in which words, and who answers it (semantic.yaml)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from agents.shared.spelling import fold, near

FILE = Path(__file__).parent / "semantic.yaml"
Kind = Literal["measure", "brand", "region", "currency"]
MONEY = "EUR"
"""The unit of measures that are money, as the data has them."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Measure(_Model):
    """One measure. `sql` aggregates `table`; `over_weeks` says how a level is read."""

    agent: str
    label: str
    unit: str
    table: str
    sql: str
    over_weeks: Literal["sum", "last"] = "sum"
    synonyms: tuple[str, ...] = ()


class Currency(_Model):
    """The reporting currency, and what one unit of it buys of the others."""

    reporting: str
    rates: dict[str, float]
    names: dict[str, tuple[str, ...]]


class _File(_Model):
    currency: Currency
    dimensions: dict[Literal["brand", "region"], dict[str, tuple[str, ...]]]
    year: int
    not_misspelt: tuple[str, ...] = ()
    measures: dict[str, Measure]


@dataclass(frozen=True)
class Match:
    """A name that a text mentions: its `kind`, its proper `name`, and where it stands."""

    kind: Kind
    name: str
    start: int
    end: int


class Catalog:
    """All names, and how they are found in a text."""

    def __init__(self, file: _File) -> None:
        self.measures = file.measures
        self.currency = file.currency
        self.brands = tuple(file.dimensions["brand"])
        self.regions = tuple(file.dimensions["region"])
        self.year = file.year
        self._dimensions = file.dimensions
        self._words = frozenset(map(fold, file.not_misspelt))

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents that own a measure, in the file's order."""
        return tuple(dict.fromkeys(measure.agent for measure in self.measures.values()))

    def owned(self, agent: str) -> dict[str, Measure]:
        """The agent's measures."""
        return {name: item for name, item in self.measures.items() if item.agent == agent}

    def matches(self, text: str) -> list[Match]:
        """Every name in the text, in its order; of names that overlap the longest.

        In any case, with or without accents and a plural's s; then, in what is left, with one
        letter wrong (spelling.py).
        """
        folded = fold(text)
        exact = [
            Match(*self._names[_key(hit[0])], hit.start(), hit.end())
            for hit in self._pattern.finditer(folded)
        ]
        taken = [(match.start, match.end) for match in exact]
        misspelt = [
            Match(*self._names[name], *place)
            for name, place in near(folded, self._names, taken, self._words)
        ]
        return sorted([*exact, *misspelt], key=lambda match: match.start)

    def resolve(self, kind: Kind, name: str) -> str | None:
        """The proper name for a name or synonym, or None."""
        found = self._names.get(_key(name))
        return found[1] if found and found[0] == kind else None

    @cached_property
    def _names(self) -> dict[str, tuple[Kind, str]]:
        names: dict[str, tuple[Kind, str]] = {}
        for key, measure in self.measures.items():
            for word in (key, key.replace("_", " "), measure.label, *measure.synonyms):
                names.setdefault(_key(word), ("measure", key))
        for kind, values in self._dimensions.items():
            for value, synonyms in values.items():
                for word in (value, *synonyms):
                    names.setdefault(_key(word), (kind, value))
        for code, synonyms in self.currency.names.items():
            for word in (code, *synonyms):
                names.setdefault(_key(word), ("currency", code))
        return names

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """One alternative a name, the longest first; spaces and hyphens are one."""
        words = sorted(self._names, key=len, reverse=True)
        parts = [r"[\s-]+".join(re.escape(part) for part in word.split()) + "s?" for word in words]
        return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)", re.I)


def _key(name: str) -> str:
    """Names that differ in case, spaces, hyphens or a plural's s are one name."""
    words = re.sub(r"[\s-]+", " ", fold(name.strip()))
    return words[:-1] if words.endswith("s") and len(words) > 1 else words


@cache
def catalog() -> Catalog:
    """The catalog of this checkout or bundle."""
    return Catalog(_File.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8"))))
