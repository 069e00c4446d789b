"""How an answer is shown: the text, then where each number in it came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click


def show(text: str, findings: Iterable[dict[str, Any]]) -> None:
    """Prints the answer and, under it, one line a finding."""
    click.echo(text)
    for finding in findings:
        click.secho(f"  {source(finding)}", dim=True)


def source(finding: dict[str, Any]) -> str:
    """One line: who found it, what was measured, over which rows, by which query."""
    filters = " and ".join(
        f"{name} = {', '.join(map(str, values)) if isinstance(values, list) else values}"
        for name, values in finding.get("filters", {}).items()
        if values
    )
    rows = finding.get("rows")
    parts = [f"from {finding['agent']}: {finding['label']}"]
    if filters:
        parts.append(f"where {filters}")
    if rows is not None:
        parts.append(f"({rows} row{'' if rows == 1 else 's'})")
    return " ".join(parts)
