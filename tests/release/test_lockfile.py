"""A bundle's lock names one version and hashes for every package."""

from __future__ import annotations

from importlib.metadata import version

import pytest

from infra.errors import PackageError
from services.release.lockfile import require_pinned, require_whole
from tests.infra.synth import ROOT

HASH = "--hash=sha256:" + "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment\n",
        f"pydantic==2.11.0 {HASH}\n",
        f"pydantic==2.11.0 \\\n    {HASH} \\\n    {HASH}\n    # via x\n",
        f'uvicorn[standard]==0.30 ; python_version >= "3.11" {HASH}\n',
        f"--only-binary :all:\npydantic==2.11.0 {HASH}\n",
    ],
)
def test_pinned(text: str) -> None:
    require_pinned(text, "requirements.lock")


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("pydantic\n", 1, "pydantic has no exact version"),
        (f"a==1 {HASH}\npydantic>=2 {HASH}\n", 2, "pydantic>=2 has no exact version"),
        ("# x\n\npydantic==2.11.0\n", 3, "pydantic==2.11.0 has no hash"),
        (f"a==1 \\\n    {HASH}\npydantic==2.11.0\n", 3, "has no hash"),
        ("git+https://git.example/x.git\n", 1, "has no exact version"),
    ],
)
def test_what_could_become_something_else_is_refused(text: str, line: int, what: str) -> None:
    with pytest.raises(PackageError) as caught:
        require_pinned(text, "requirements.lock")
    assert what in caught.value.what
    assert caught.value.where == f"requirements.lock:{line}"


def test_the_agents_own_lock_is_pinned_and_whole() -> None:
    lock = (ROOT / "agents/requirements.lock").read_text()
    pins = require_pinned(lock, "agents/requirements.lock")
    assert pins["google-adk"] == version("google-adk")
    require_whole(lock, "agents/requirements.lock", "3.11")


def pins(*names: str, **others: str) -> str:
    """A lock of these packages at the versions that are installed, and of others as given."""
    versions = {name: version(name) for name in names} | others
    return "".join(f"{name}=={number} {HASH}\n" for name, number in versions.items())


def test_what_a_package_needs_must_be_in_the_lock() -> None:
    # starlette needs anyio, and uvicorn click, whatever their versions.
    with pytest.raises(PackageError, match=r"starlette .* needs anyio, which the lock does not"):
        require_whole(pins("starlette"), "requirements.lock", "3.11")
    with pytest.raises(PackageError, match=r"uvicorn .* needs click>=.*, not 1\.0"):
        require_whole(pins("uvicorn", "h11", click="1.0"), "requirements.lock", "3.11")


def test_what_is_needed_elsewhere_or_for_an_extra_is_not_asked_for() -> None:
    # click needs colorama on Windows alone; typing-extensions needs nothing.
    require_whole(pins("click", "typing-extensions"), "requirements.lock", "3.11")


def test_of_a_version_that_is_not_installed_nothing_is_known() -> None:
    require_whole(pins(starlette="0.0.1", nothing="1"), "requirements.lock", "3.11")
