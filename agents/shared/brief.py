"""What the writer is given, and all it is given: the query, what was found, what is missing."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from agents.shared.findings import Finding, Listing, Run
from agents.shared.query import Query
from agents.shared.rounding import Rounding


class Brief(BaseModel):
    """One answer to be written. `missing` holds a sentence for what could not be found out.

    `notes` are definitions, to be said as they are.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: Query
    question: str = ""
    """The user's own words: their numbers may be said again."""
    from_memory: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    listings: tuple[Listing, ...] = ()
    notes: tuple[str, ...] = ()
    run: Run | None = None
    file: str = ""
    """The name and version of the file that holds what was found."""
    missing: tuple[str, ...] = ()
    rounding: Rounding = Rounding()
