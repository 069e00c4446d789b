"""The whole product on a platform of its own: free port, temporary folder, stopped at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.command import Slipway


@pytest.fixture(scope="session")
def slipway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slipway]:
    """The command over an empty folder; whatever it started is stopped at the end."""
    command = Slipway(tmp_path_factory.mktemp("home"))
    yield command
    command.run("down")
