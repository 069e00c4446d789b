"""The memory guard: what may be remembered, and what of it may be used.

One set of rules, used before anything is sent to memory and on what comes back from it. `inspect`
says what is wrong with a text; `kept` gives what is left of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

from agents.shared.guard import credentials, results, steering
from agents.shared.guard.found import Found

_RULES: tuple[Callable[[str], Iterable[Found]], ...] = (
    credentials.find,
    results.find,
    steering.find,
)
# A point after "Mio." ends no sentence, or the amount would lose its currency.
_SENTENCE = re.compile(r"(?<=[.!?。！？])(?<!\bMio\.)(?<!\bMrd\.)(?<!\bTsd\.)\s+|\n+", re.I)
_TAG = re.compile(r"</?[A-Za-z_][^<>]*>")


def inspect(text: str) -> list[Found]:
    """Everything in a text that memory must not hold, in its order."""
    plain = visible(text)
    found = [hit for rule in _RULES for hit in rule(plain)]
    return sorted(found, key=lambda hit: (hit.start, hit.end))


def unsteered(text: str) -> str:
    """A text without the sentences that redefine a term or steer later answers."""
    sentences = _SENTENCE.split(text)
    if len(sentences) == 1:
        return text
    return " ".join(s for s in sentences if not any(steering.find(visible(s))))


def kept(text: str) -> str:
    """The sentences of a text that may be remembered, without markup; "" when none may."""
    sentences = _SENTENCE.split(visible(_TAG.sub(" ", text)))
    good = [
        sentence.strip() for sentence in sentences if sentence.strip() and not inspect(sentence)
    ]
    # What no sentence shows alone, a credential in two lines, the whole may show.
    whole = " ".join(good)
    return "" if inspect(whole) else whole


def visible(text: str) -> str:
    """The text as a reader sees it: compatibility forms folded, what has no shape taken out."""
    shown = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", shown)
