"""A bundle's lock names one version and hashes for every package."""

from __future__ import annotations

import pytest

from infra.errors import PackageError
from services.release.lockfile import require_pinned
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


def test_the_agents_own_lock_is_pinned() -> None:
    require_pinned((ROOT / "agents/requirements.lock").read_text(), "agents/requirements.lock")
