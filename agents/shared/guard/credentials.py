"""Credentials: whoever reads the storage could act as the person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agents.shared.guard.found import Found

# Shapes are the issuers' own, as they document them.
_SHAPES = {
    "google-access-token": r"\bya29\.[\w.-]{16,}",
    "google-api-key": r"\bAIza[\w-]{35}",
    "google-client-secret": r"\bGOCSPX-[\w-]{20,}",
    "databricks-token": r"\bdapi[0-9a-f]{32}(?:-\d)?\b|\bdkea[0-9a-f]{32}\b",
    "jwt": r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}",
    "private-key": r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    "aws-access-key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "github-token": r"\bgh[pousr]_\w{36,}|\bgithub_pat_\w{40,}",
    "slack-token": r"\bxox[abeoprs]-[\w-]{10,}",
    "stripe-key": r"\b[rs]k_(?:live|test)_\w{20,}",
    "openai-key": r"\bsk-[\w-]{20,}",
    "bearer": r"\bbearer\s+[\w.~+/-]{16,}=*",
    "basic": r"\bbasic\s+[A-Za-z0-9+/]{16,}={0,2}(?![\w/+])",
    "in-a-url": r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{3,}@",
    "assigned": r"\b(?:pass(?:word|wort|phrase)?|pwd|pin|secret|token|api[ _-]?key|mot de passe|"
    r"kennwort)\b\s*(?:is|ist|est|:|=|lautet)\s*[\"'“]?(?!(?:[a-zäöüß]+[\s.,!?]*)+$)\S{4,}",
}
_RULES = {name: re.compile(shape, re.I) for name, shape in _SHAPES.items() if name != "jwt"}
_RULES["jwt"] = re.compile(_SHAPES["jwt"])


def find(text: str) -> Iterator[Found]:
    """Every credential in a text."""
    for rule, pattern in _RULES.items():
        for hit in pattern.finditer(text):
            yield Found("credential", rule, hit.start(), hit.end())
