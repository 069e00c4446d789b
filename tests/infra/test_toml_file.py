"""Which line each key of a TOML file stands on, and what is said about a wrong one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra import toml_file
from infra.errors import InputError
from infra.toml_file import FileModel

TEXT = '''\
# a comment
name = "qa"
"quoted key" = 1
dotted.inner = 2
text = """
region = "not a key"
"""

[build]  # a table
branch = "main"

[[topic]]
label = "a"

[[topic]]
label = "b"
'''


def read(tmp_path: Path, text: str) -> toml_file.TomlFile:
    (tmp_path / "qa.toml").write_text(text)
    return toml_file.read(tmp_path / "qa.toml", shown="qa.toml")


def test_lines(tmp_path: Path) -> None:
    lines = read(tmp_path, TEXT).lines
    assert lines == {
        ("name",): 2,
        ("quoted key",): 3,
        ("dotted", "inner"): 4,
        ("text",): 5,
        ("build",): 9,
        ("build", "branch"): 10,
        ("topic", "0"): 12,
        ("topic", "0", "label"): 13,
        ("topic", "1"): 15,
        ("topic", "1", "label"): 16,
    }


def test_a_key_without_a_line_is_named_by_the_table_around_it(tmp_path: Path) -> None:
    file = read(tmp_path, TEXT)
    assert file.where(("build", "worker_pool")) == "qa.toml:9"
    assert file.where(("nothing",)) == "qa.toml"


KEYS = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
VALUES = st.one_of(st.integers(), st.text("abc =[]#", max_size=8), st.booleans())


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=8))
def test_every_key_of_a_flat_file_has_its_line(data: dict[str, object]) -> None:
    def written(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')

    text = "\n".join(f"{key} = {written(value)}" for key, value in data.items())
    assert tomllib.loads(text) == data
    found = dict(toml_file._lines(text))
    assert found == {(key,): number for number, key in enumerate(data, 1)}


class Model(FileModel):
    name: str
    size: int = 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size = 1\n", "qa.toml: the key 'name' is missing\n  fix: add name = … to qa.toml"),
        (
            'nam = "x"\n',
            "qa.toml:1: unknown key 'nam'\n  fix: did you mean 'name'?",
        ),
        (
            'name = "x"\nsize = "big"\n',
            "qa.toml:2: size = 'big': Input should be a valid integer, unable to parse string as "
            "an integer\n  fix: edit qa.toml",
        ),
    ],
)
def test_what_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        toml_file.parse(Model, read(tmp_path, text))
    assert str(caught.value) == said


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        toml_file.parse(Model, read(tmp_path, 'sise = 1\nsize = "big"\n'))
    problems = [caught.value, *caught.value.also]
    assert [problem.where for problem in problems] == ["qa.toml:2", "qa.toml:1"]


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "qa.toml").write_bytes(b"\xef\xbb\xbfname = 'x'\n")
    assert toml_file.read(tmp_path / "qa.toml", shown="qa.toml").data == {"name": "x"}


@pytest.mark.parametrize("content", [b"\xff\xfe", b"name = \n", b"name = 1\nname = 2\n"])
def test_what_is_no_toml(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "qa.toml").write_bytes(content)
    with pytest.raises(InputError) as caught:
        toml_file.read(tmp_path / "qa.toml", shown="qa.toml")
    assert caught.value.where == "qa.toml"
