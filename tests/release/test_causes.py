"""Known causes of failed updates, each by words that were seen or that an API documents."""

from __future__ import annotations

import pytest

from infra.errors import RemoteError
from services.release.causes import CAUSES, likely
from tests.release.test_deploy import edit
from tests.release.worlds import World

WORDS = [
    ("ModuleNotFoundError: No module named 'agents.shared.extra'", "does not hold the module"),
    ("ModuleNotFoundError: No module named 'pandas'", "do not hold the package of pandas"),
    ("ImportError: cannot import name 'Workflow' from 'google.adk'", "does not have Workflow"),
    (
        "the variable KEY refers to the secret 'feed-key', version 3: Permission "
        "'secretmanager.versions.access' denied on resource",
        "may not read the secret feed-key",
    ),
    ("the variable KEY refers to the secret 'feed-key', version 3: was not found", "no version"),
    ("the environment variable PORT is reserved.", "the runtime sets PORT itself"),
    ("requirements.txt: pydantic==2.11.0 is asked for", "another version than the lock"),
    ("SetupError: MEMORY_BANK_ID is not set", "refused its environment: MEMORY_BANK_ID"),
    ("agents.router.agent:app did not start serving within 60 s.", "longer than 60 s"),
    ("did not start serving (exit code -9)", "out of memory"),
    ("The agent failed to start and cannot serve traffic.", "its own log says why"),
]


@pytest.mark.parametrize(("words", "cause"), WORDS)
def test_known(words: str, cause: str) -> None:
    found = likely(words)
    assert found is not None
    assert cause in found[0]
    assert "{" not in found[0] + found[1]


def test_every_cause_has_words() -> None:
    assert len(WORDS) == len(CAUSES)


def test_unknown_words_are_left_alone() -> None:
    assert likely("RuntimeError: the stock list is locked") is None


def test_a_failed_update_names_its_likely_cause(world: World) -> None:
    """A package that is there when the bundle is described, and not when it runs."""
    edit(
        world.root,
        "agents/supply/agent.py",
        "class Supply:\n",
        "class Supply:\n    def set_up(self) -> None:\n        import pandas_of_the_future\n\n",
    )
    with pytest.raises(RemoteError) as caught:
        world.deploy()
    assert "likely: the requirements do not hold the package of pandas_of_the_future" in str(
        caught.value
    )
    assert "scripts/lock" in str(caught.value.fix)
