"""Terraform's diagnostics as errors for a person, and what can be read from them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from infra.errors import TerraformError

# What commands without -json put into their errors: colours, and a frame around each of them.
_DECORATION = re.compile(r"\x1b\[[0-9;]*m|^[│╷╵]\s?", re.MULTILINE)
_CONFLICT = re.compile(r"\b409\b|already ?exists", re.IGNORECASE)

MOST = 9
"""How many further errors of one command are told in full."""


@dataclass(frozen=True)
class StateLock:
    """Who holds the state's lock, as Terraform wrote it into the lock: `who` is USER@HOST."""

    id: str
    path: str
    operation: str
    who: str
    created: str

    @property
    def created_at(self) -> float:
        """Seconds since the epoch; 0 when it cannot be read."""
        stamp = self.created.split(".")[0].split(" +")[0]
        try:
            return datetime.fromisoformat(f"{stamp}+00:00").timestamp()
        except ValueError:
            return 0.0


class Refused(TerraformError):
    """A Terraform command that failed, with what it said.

    `lock` is set where another run holds the state; `conflict` where something exists already.
    """

    def __init__(self, command: str, diagnostics: Sequence[dict[str, Any]], errors: str) -> None:
        self.diagnostics = list(diagnostics)
        errors = _DECORATION.sub("", errors)
        text = "\n".join([*(_text(item) for item in diagnostics), errors])
        self.lock = _lock(text)
        self.conflict = bool(_CONFLICT.search(text))
        first = diagnostics[0] if diagnostics else {}
        what = _text(first) if first else _last_line(errors) or "it gave no reason"
        super().__init__(
            f"terraform {command}: {what}",
            where=first.get("address") or None,
            fix="when the cause is gone, run the same command again; it goes on where it stopped",
        )
        more = diagnostics[1:]
        told = [TerraformError(_text(item), where=item.get("address")) for item in more[:MOST]]
        if len(more) > MOST:
            told.append(TerraformError(f"and {len(more) - MOST} more"))
        self.also = tuple(told)


def _text(diagnostic: dict[str, Any]) -> str:
    summary, detail = diagnostic.get("summary", ""), diagnostic.get("detail", "")
    return ": ".join(part for part in (summary.strip(), detail.strip()) if part)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    errors = [line for line in lines if line.startswith("Error")]
    return errors[0] if errors else next((line for line in reversed(lines) if line), "")


def _lock(text: str) -> StateLock | None:
    if "Lock Info:" not in text:
        return None
    fields = dict(
        re.findall(r"^\W*(ID|Path|Operation|Who|Created):\s*(.*?)\s*$", text, re.MULTILINE)
    )
    return StateLock(
        id=fields.get("ID", ""),
        path=fields.get("Path", ""),
        operation=fields.get("Operation", "").removeprefix("OperationType").lower(),
        who=fields.get("Who", "unknown"),
        created=fields.get("Created", ""),
    )
