"""Nothing that is logged holds a credential, whoever logs it."""

from __future__ import annotations

import logging
from typing import Any

from agents.shared.guard import credentials, visible

GONE = "[redacted]"


def redacted(text: str) -> str:
    """The text, each credential replaced."""
    plain = visible(text)
    for hit in sorted(credentials.find(plain), key=lambda hit: -hit.start):
        plain = plain[: hit.start] + GONE + plain[hit.end :]
    return plain if plain != visible(text) else text


class _Record(logging.LogRecord):
    """A record whose message, and exception, are redacted when they are made into text."""

    def getMessage(self) -> str:
        """The message."""
        return redacted(super().getMessage())

    def __setattr__(self, name: str, value: Any) -> None:
        # A formatter keeps the traceback's text here.
        if name == "exc_text" and isinstance(value, str):
            value = redacted(value)
        super().__setattr__(name, value)


def install() -> None:
    """Makes every log record of this process one that is redacted; once is enough."""
    logging.setLogRecordFactory(_Record)
