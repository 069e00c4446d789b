"""Names in a text as people write them: any case, without accents, one letter wrong.

A misspelt word counts only when it has six letters or more and belongs to one name alone; what is
a word of its own that happens to lie near ("sending", spending) is listed in semantic.yaml.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

LONG_ENOUGH = 6
_WORD = re.compile(r"[^\W_]+")
Span = tuple[int, int]


def fold(text: str) -> str:
    """Lower case without accents, character by character, so that places stay the same."""
    return "".join(_folded(character) for character in text)


def near(
    text: str, names: Collection[str], taken: Iterable[Span], words: frozenset[str]
) -> Iterator[tuple[str, Span]]:
    """Names that a folded text holds with one letter wrong, each with its place.

    Args:
        text: as `fold` gives it.
        names: folded, words separated by one space.
        taken: places that are read already.
        words: folded words that are never a misspelling.
    """
    busy = {place for start, end in taken for place in range(start, end)}
    tokens = [hit for hit in _WORD.finditer(text) if hit.start() not in busy]
    by_length: dict[int, list[list[str]]] = {}
    for name in names:
        by_length.setdefault(len(name.split()), []).append(name.split())
    used: set[int] = set()
    for size in sorted(by_length, reverse=True):
        for first in range(len(tokens) - size + 1):
            window = tokens[first : first + size]
            if used & set(range(first, first + size)) or not _adjacent(text, window):
                continue
            said = [hit[0] for hit in window]
            found = {" ".join(name) for name in by_length[size] if _close(said, name, words)}
            if len(found) == 1:
                used |= set(range(first, first + size))
                yield found.pop(), (window[0].start(), window[-1].end())


def one_apart(a: str, b: str) -> bool:
    """Whether one letter is missing, too many, another, or two neighbours are swapped."""
    if abs(len(a) - len(b)) > 1 or a == b:
        return False
    start = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    rest_a, rest_b = a[start:], b[start:]
    if len(a) == len(b):
        swapped = rest_a[:2] == rest_b[1::-1] and rest_a[2:] == rest_b[2:]
        return rest_a[1:] == rest_b[1:] or swapped
    longer, shorter = (rest_a, rest_b) if len(a) > len(b) else (rest_b, rest_a)
    return longer[1:] == shorter


def _close(said: Sequence[str], name: Sequence[str], words: frozenset[str]) -> bool:
    """Whether each word is right or nearly so, and at least one is not right."""
    wrong = 0
    for spoken, word in zip(said, name, strict=True):
        if spoken in (word, f"{word}s"):
            continue
        singular = spoken.removesuffix("s")
        long = len(word) >= LONG_ENOUGH and len(spoken) >= LONG_ENOUGH - 1
        if (
            not long
            or spoken in words
            or not (one_apart(spoken, word) or one_apart(singular, word))
        ):
            return False
        wrong += 1
    return wrong > 0


def _adjacent(text: str, window: Sequence[re.Match[str]]) -> bool:
    gaps = (text[a.end() : b.start()] for a, b in pairwise(window))
    return all(re.fullmatch(r"[\s-]+", gap) for gap in gaps)


def _folded(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0].lower()
    return base if len(base) == 1 else character
