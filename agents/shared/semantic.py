"""The semantic layer: what can be asked, in which words, and who answers it.

Dimensions, currencies and the like are in semantic.yaml beside this module. What an agent owns is
in its own folder's semantic.yaml, so that a new agent is known without a change anywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from agents.shared.spelling import fold, near

FILE = Path(__file__).parent / "semantic.yaml"
ROOT = Path(__file__).resolve().parents[2]
OWNED = "agents/*/semantic.yaml"
Kind = Literal["measure", "list", "brand", "region", "currency"]
ColumnType = Literal["text", "integer", "number"]
MONEY = "EUR"
"""The unit of measures that are money, as the data has them."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Item(_Model):
    agent: str
    label: str
    table: str
    sql: str
    synonyms: tuple[str, ...] = ()


class Measure(_Item):
    """One measure. `sql` aggregates `table`; `over_weeks` says how a level is read.

    `headline`: it is shown when somebody asks how things are.
    """

    unit: str
    over_weeks: Literal["sum", "last"] = "sum"
    headline: bool = False


class Listed(_Item):
    """One list: a query of its own, `{where}` in its `sql` standing for the filters.

    `columns` have a unit each; "text" for what is no number.
    """

    columns: dict[str, str]


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


class _Owned(_Model):
    """What one agent owns. `tables`: type by column, by table."""

    tables: dict[str, dict[str, ColumnType]] = {}
    measures: dict[str, Measure] = {}
    lists: dict[str, Listed] = {}
    actions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Match:
    """A name that a text mentions: its `kind`, its proper `name`, and where it stands."""

    kind: Kind
    name: str
    start: int
    end: int


class Catalog:
    """All names, and how they are found in a text."""

    def __init__(self, file: _File, owned: Mapping[str, _Owned]) -> None:
        """Args: owned: by agent.

        Raises:
            ValueError: two agents own a measure or a list of the same name.
        """
        self.tables = {agent: item.tables for agent, item in owned.items()}
        self.measures = dict[str, Measure]()
        self.lists = dict[str, Listed]()
        for item in owned.values():
            if twice := (self.measures | self.lists).keys() & (item.measures | item.lists).keys():
                raise ValueError(f"two agents own {min(twice)} (semantic.yaml)")
            self.measures |= item.measures
            self.lists |= item.lists
        self.actors = {action: name for name, item in owned.items() for action in item.actions}
        """Who carries out an action, by its name."""
        self.currency = file.currency
        self.brands = tuple(file.dimensions["brand"])
        self.regions = tuple(file.dimensions["region"])
        self.year = file.year
        self._dimensions = file.dimensions
        self._words = frozenset(map(fold, file.not_misspelt))

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents that own something, sorted."""
        return tuple(self.tables)

    def owned(self, agent: str) -> dict[str, Measure]:
        """The agent's measures."""
        return {name: item for name, item in self.measures.items() if item.agent == agent}

    def lists_of(self, agent: str) -> dict[str, Listed]:
        """The agent's lists."""
        return {name: item for name, item in self.lists.items() if item.agent == agent}

    def all_of(self, agent: str) -> dict[str, Measure | Listed]:
        """The agent's measures and lists."""
        return {**self.owned(agent), **self.lists_of(agent)}

    def owners_of_sql(self, sql: str) -> tuple[str, ...]:
        """The agents with a table whose name stands in the SQL."""
        words = set(re.findall(r"\w+", sql.lower()))
        return tuple(agent for agent, tables in self.tables.items() if words & tables.keys())

    def headlines(self, agents: Iterable[str]) -> tuple[str, ...]:
        """The agents' measures that say how things are."""
        wanted = set(agents)
        return tuple(k for k, m in self.measures.items() if m.headline and m.agent in wanted)

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
        for key, item in self.lists.items():
            for word in (key, key.replace("_", " "), item.label, *item.synonyms):
                names.setdefault(_key(word), ("list", key))
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
    owned = {path.parent.name: _owned(path) for path in sorted(ROOT.glob(OWNED)) if path != FILE}
    return Catalog(_File.model_validate(_read(FILE)), owned)


def _owned(path: Path) -> _Owned:
    """Whose it is says the folder, not the file."""
    content = _read(path)
    for kind in ("measures", "lists"):
        for item in (content.get(kind) or {}).values():
            item["agent"] = path.parent.name
    return _Owned.model_validate(content)


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return content
