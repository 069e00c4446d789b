"""The memory topics: what is committed, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from infra import topics
from infra.errors import InputError

ROOT = Path(__file__).parents[2]

# (the file's text, what the error says)
WRONG = [
    ("", "the key 'topic' is missing"),
    ("topic = []", "topic = []"),
    ("[[topic]]\nlabel = 'a'", "needs managed, or both label and description"),
    ("[[topic]]\nmanaged = 'USER_PREFERENCES'\nlabel = 'a'", "has no label"),
    ("[[topic]]\nmanaged = 'EVERYTHING'", "EVERYTHING"),
    ("[[topic]]\nlabel = 'Big Topic'\ndescription = 'x'", "Big Topic"),
    ("[[topic]]\nlabel = 'a'\ndescription = 'x'\n" * 2, "the topic a is there twice"),
    ("scope_keys = []\n[[topic]]\nmanaged = 'USER_PREFERENCES'", "scope_keys"),
    ("[[topic]\n", "not valid TOML"),
]


def test_the_committed_topics() -> None:
    found = topics.load(ROOT)
    assert found.scope_keys == ("app_name", "user_id")
    names = [topic.name for topic in found.topic]
    assert names == ["USER_PREFERENCES", "analysis_preferences", "data_scope"]


def test_the_data_scope_forbids_what_must_never_be_kept() -> None:
    scope = next(topic for topic in topics.load(ROOT).topic if topic.name == "data_scope")
    words = (scope.description or "").lower()
    assert "never store" in words
    for forbidden in ("figures", "query results", "tokens", "credentials"):
        assert forbidden in words.split("never store", 1)[1]


@pytest.mark.parametrize(("text", "what"), WRONG)
def test_wrong(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "infra").mkdir()
    (tmp_path / topics.FILE).write_text(text)
    with pytest.raises(InputError) as caught:
        topics.load(tmp_path)
    assert (caught.value.where or "").startswith("infra/memory_topics.toml")
    assert what in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"memory_topics\.toml: cannot be read"):
        topics.load(tmp_path)
