"""List filters."""

from __future__ import annotations

from typing import Any

import pytest

from services.emulator.errors import ApiError
from services.emulator.filters import matching

ITEMS: list[dict[str, Any]] = [
    {"userId": "maria", "scope": {"user_id": "maria"}, "time": "2026-12-01T10:00:00Z", "n": 1},
    {"userId": 'o"k', "topics": [{"managedMemoryTopic": "A"}], "time": "2026-12-02T10:00:00Z"},
]
FIELDS = frozenset({"userId", "scope", "topics", "time", "n"})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", [0, 1]),
        (None, [0, 1]),
        ('user_id="maria"', [0]),
        ("user_id = maria", [0]),
        (r'user_id="o\"k"', [1]),
        ('user_id!="maria"', [1]),
        ('scope.user_id="maria"', [0]),
        ('scope.userId="maria"', []),
        ("topics.managed_memory_topic: A", [1]),
        ("scope.user_id:*", [0]),
        ('time>="2026-12-02T00:00:00+00:00"', [1]),
        ('time<"2026-12-01T12:00:00+01:00"', [0]),
        ('time>"2026-12-01T00:00:00Z" AND user_id="maria"', [0]),
        ("n>=1", [0]),
    ],
)
def test_what_matches(text: str | None, found: list[int]) -> None:
    assert matching(ITEMS, text, FIELDS) == [ITEMS[number] for number in found]


@pytest.mark.parametrize("text", ["color=red", "user_id", 'user_id="a" OR n=1', 'user_id="a', "=1"])
def test_what_cannot_be_read(text: str) -> None:
    with pytest.raises(ApiError, match="Invalid filter"):
        matching(ITEMS, text, FIELDS)
