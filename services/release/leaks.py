"""Finds what looks like a credential in the files of a bundle."""

from __future__ import annotations

import re
from collections.abc import Iterable

from infra.errors import PackageError
from services.release.sources import SourceFile

# What it is -> how it looks. Each has a fixed beginning, so that ordinary text does not match.
PATTERNS = {
    "a private key": rb"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY",
    "a service account's key": rb'"type"\s*:\s*"service_account"',
    "a Google API key": rb"\bAIza[0-9A-Za-z_-]{35}",
    "a Google OAuth client secret": rb"\bGOCSPX-[0-9A-Za-z_-]{20,}",
    "a Google access token": rb"\bya29\.[0-9A-Za-z_-]{20,}",
    "a JSON Web Token": rb"\beyJ[0-9A-Za-z_-]{8,}\.eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}",
    "a Databricks token": rb"\bdapi[0-9a-f]{32}",
    "a GitHub token": rb"\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{40,})",
    "an AWS access key": rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a Slack token": rb"\bxox[abprs]-[0-9A-Za-z-]{20,}",
}
_ANY = re.compile(
    b"|".join(b"(?P<k%d>%s)" % (i, pattern) for i, pattern in enumerate(PATTERNS.values()))
)


def refuse(files: Iterable[SourceFile]) -> None:
    """Raises a PackageError with file and line at the first thing that looks like a credential."""
    for file in files:
        if match := _ANY.search(file.data):
            line = file.data.count(b"\n", 0, match.start()) + 1
            what = list(PATTERNS)[int((match.lastgroup or "k0")[1:])]
            raise PackageError(
                f"holds what looks like {what}; credentials never go into a bundle",
                where=f"{file.from_}:{line}",
                fix="move it to Secret Manager, name the secret in [secrets] of agent.toml, and "
                "revoke this one if it was ever committed",
            )
