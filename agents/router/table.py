"""What was found as a CSV file: the numbers as they are, without rounding and without words."""

from __future__ import annotations

import csv
import io
from typing import Any

from agents.shared.brief import Brief
from agents.shared.findings import Finding, Listing

MIME = "text/csv"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet would calculate
(https://owasp.org/www-community/attacks/CSV_Injection)."""


def name(brief: Brief) -> str:
    """The file's name, such as `media_spend_eur_by_week.csv`; the same question gives the same."""
    query = brief.query
    keys = "_".join((*query.measures, *query.lists)) or "query"
    by = f"_by_{'_'.join(query.group_by)}" if query.group_by else ""
    return f"{keys[:80]}{by}.csv"


def table(brief: Brief) -> str:
    """The file; "" when nothing was found. Each measure and list begins with a line of its own."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    blocks = [_finding(finding) for finding in brief.findings if finding.value is not None]
    blocks += [_listing(listing) for listing in brief.listings]
    for number, block in enumerate(blocks):
        if number:
            writer.writerow([])
        writer.writerows([_safe(cell) for cell in row] for row in block)
    return out.getvalue()


def _finding(finding: Finding) -> list[list[Any]]:
    heads = [*finding.group_by, f"{finding.measure} ({finding.unit})"]
    if not finding.groups:
        return [heads, [finding.value]]
    rows = [
        [*(group.keys[key] for key in finding.group_by), group.value] for group in finding.groups
    ]
    return [heads, *rows]


def _listing(listing: Listing) -> list[list[Any]]:
    heads = [
        column if unit in ("", "text") else f"{column} ({unit})"
        for column, unit in zip(listing.columns, listing.units, strict=True)
    ]
    return [heads, *([*row] for row in listing.rows)]


def _safe(cell: Any) -> Any:
    """A text that no spreadsheet takes for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
