"""What the guard finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["credential", "figure", "steering"]


@dataclass(frozen=True)
class Found:
    """One hit: its kind, the rule that found it, and where it stands in the visible text."""

    kind: Kind
    rule: str
    start: int
    end: int
