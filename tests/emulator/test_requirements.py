"""Requirements of an archive against what is installed."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from services.emulator import requirements
from services.emulator.errors import ApiError

ROOT = Path(__file__).parents[2]
PYDANTIC = importlib.metadata.version("pydantic")


def test_the_projects_own_lock_is_installed() -> None:
    text = (ROOT / "agents/requirements.lock").read_text()
    requirements.check(text, "requirements.txt")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# a comment\n\n--index-url https://example.com\n",
        f"Pydantic=={PYDANTIC} \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n    # via x\n",
        "google_adk[a2a]>=2  # as written by hand\n",
        "not-for-us==1 ; sys_platform == 'win32'\n",
        "pydantic\n",
    ],
)
def test_what_is_there(text: str) -> None:
    requirements.check(text, "requirements.txt")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pydantic==0.0.1\n", f"line 1: pydantic==0.0.1, but {PYDANTIC} is installed"),
        ("\n# x\nno-such-thing==1 \\\n  --hash=a\n", "line 3: no-such-thing is not installed"),
        ("pydantic==1 ; python_version >= '3'\n", "pydantic==1"),
        ("what is this\n", "line 1: 'what is this' is not a requirement"),
        ("a1\na2\na3\na4\na5\n", "(and 2 more)"),
    ],
)
def test_what_is_not(text: str, said: str) -> None:
    with pytest.raises(ApiError) as error:
        requirements.check(text, "requirements.txt")
    assert said in error.value.message
    assert error.value.message.startswith("requirements.txt")
