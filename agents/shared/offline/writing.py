"""Writes the answer from a brief: only what was found, with where it comes from."""

from __future__ import annotations

from typing import Any

from agents.shared.brief import Brief
from agents.shared.findings import Finding, Listing, Run, written
from agents.shared.offline.llm import Turn
from agents.shared.offline.reading import plural
from agents.shared.query import SQL_LIST, Query, listed, phrase
from agents.shared.rounding import Rounding
from agents.shared.semantic import MONEY, catalog

SHOWN_ROWS = 20
"""Lines of a list in an answer."""


def write(turn: Turn) -> str:
    """The rule of the writer."""
    return write_brief(Brief.model_validate_json(turn.text))


def write_brief(brief: Brief) -> str:
    """The answer as text."""
    query = brief.query
    parts = [_finding(finding, query, brief.rounding) for finding in brief.findings]
    parts += [_listing(listing, query, brief.rounding) for listing in brief.listings]
    parts += brief.notes
    if brief.file:
        parts.append(f"Saved as {brief.file}.")
    if brief.run is not None:
        parts.append(_run(brief.run))
    if why := _why(brief):
        if parts and "\n" not in parts[0] and len(parts) == 1:
            parts[0] = f"{parts[0].removesuffix('.')} ({why})."
        elif parts:
            parts.append(f"({why[0].upper()}{why[1:]}.)")
    parts += [f"{problem.rstrip('.')}." for problem in brief.missing]
    return "\n".join(parts) or "There is nothing to show."


def _finding(finding: Finding, query: Query, rounding: Rounding) -> str:
    title = f"{_title(finding, query)}"
    if finding.value is None:
        span = f"; the data has {_span(finding)}" if finding.weeks else ""
        return f"{title}: there is no data for that{span}."
    value = f"{written(finding.value, finding.unit, rounding)}{_rate(finding)}"
    if not finding.groups:
        return f"{title}: {value}."
    level = catalog().measures[finding.measure].over_weeks == "last"
    overall = "Newest" if level and "week" in finding.group_by else "Overall"
    lines = [
        f"- {', '.join(group.keys.values())}: {written(group.value, finding.unit, rounding)}"
        for group in finding.groups
    ]
    return "\n".join([f"{title}:", *lines, f"{overall}: {value}."])


def _listing(listing: Listing, query: Query, rounding: Rounding) -> str:
    one = {"measures": (), "lists": (listing.name,), "group_by": ()}
    title = phrase(query.model_copy(update=one))
    if listing.name == SQL_LIST:
        title = listing.label
    if not listing.rows:
        return f"{title}: no rows."
    lines = [f"- {_row(row, listing, rounding)}" for row in listing.rows[:SHOWN_ROWS]]
    left = len(listing.rows) - SHOWN_ROWS
    if left > 0 or listing.more:
        lines.append("- … and more; ask for it as a CSV.")
    return "\n".join([f"{title}:", *lines])


def _run(run: Run) -> str:
    brands = f" for {listed(run.brands)}" if run.brands else ""
    where = listed([f"the {name}" if name.endswith("s") else name for name in run.regions])
    what = f"the planning of supply in {where}{brands} (run {run.run_id})"
    if run.state == "started":
        return f"Started {what}. Ask “is it done?” at any time, in any conversation."
    verb = "ended with" if run.done else "is not done; its state is"
    return f"{what[0].upper()}{what[1:]} {verb} {run.state}."


def _row(row: tuple[Any, ...], listing: Listing, rounding: Rounding) -> str:
    words, numbers = [], []
    for value, unit, column in zip(row, listing.units, listing.columns, strict=True):
        if unit == "text" or isinstance(value, str):
            words.append("–" if value is None else str(value))
        elif unit:
            shown = written(value, unit, rounding)
            said = column.replace("_", "") == unit.replace("-", "")
            numbers.append(shown if said else f"{column.replace('_', ' ')} {shown}")
        else:
            shown = "–" if value is None else f"{value:,}"
            numbers.append(f"{column} {shown}")
    return ": ".join(part for part in (", ".join(words), ", ".join(numbers)) if part)


def _title(finding: Finding, query: Query) -> str:
    one = query.model_copy(update={"measures": (finding.measure,), "lists": ()})
    title = phrase(one)
    if not query.weeks and finding.weeks and finding.value is not None:
        return f"{title}, {_span(finding)}"
    return title


def _span(finding: Finding) -> str:
    first, last = finding.weeks or ("", "")
    return first if first == last else f"{first} to {last}"


def _rate(finding: Finding) -> str:
    """Amounts in another currency than the data's say at which rate."""
    if finding.rate is None or finding.rate == 1:
        return ""
    euro = written(1, catalog().currency.reporting)
    return f" (at a fixed sample rate of {finding.rate} {finding.unit} for {euro})"


def _why(brief: Brief) -> str:
    """What the user did not say this time, and where it comes from."""
    names = []
    if "regions" in brief.from_memory:
        names += list(brief.query.regions)
    money = any(catalog().measures[finding.measure].unit == MONEY for finding in brief.findings)
    if "currency" in brief.from_memory and money:
        names.append(plural(brief.query.currency))
    if not names:
        return ""
    them = "them" if len(names) > 1 or names[0].endswith("s") else "it"
    return f"{listed(names)} because you usually ask for {them}"
