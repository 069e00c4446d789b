"""How somebody wants numbers rounded, in their own words: said now, or remembered."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field

_NUMBERS = {"no": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4}
_DECIMALS = re.compile(
    rf"\b(\d|{'|'.join(_NUMBERS)})\s+(?:decimal(?: place)?s?|digits? after the (?:point|comma))\b"
    r"|\b(without) decimals\b",
    re.I,
)
_UNIT = re.compile(
    r"\b(?:in|to|as|nearest)\s+(?:full |whole |the nearest )?(thousand|million)s?\b", re.I
)
_WORDS = {1: "", 1_000: " thousand", 1_000_000: " million"}
_UNITS = {"thousand": 1_000, "million": 1_000_000}


class Rounding(BaseModel):
    """`unit` is what a value is divided by; `decimals` None is the measure's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    unit: int = 1
    decimals: int | None = Field(default=None, ge=0, le=9)

    @property
    def word(self) -> str:
        """What follows a number that was divided."""
        return _WORDS[self.unit]


AS_IT_IS = Rounding()


def rounding(text: str) -> Rounding:
    """What a text says of rounding; where it says several things, the last one counts."""
    units = [_UNITS[hit[1].lower()] for hit in _UNIT.finditer(text)]
    decimals = [_places(hit) for hit in _DECIMALS.finditer(text)]
    return Rounding(unit=units[-1] if units else 1, decimals=decimals[-1] if decimals else None)


def _places(hit: re.Match[str]) -> int:
    word = (hit[1] or "no").lower()
    return int(word) if word.isdigit() else _NUMBERS[word]
