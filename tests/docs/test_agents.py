"""Every file and test that docs/agents.md names is there."""

from __future__ import annotations

import re

from tests.infra.synth import ROOT


def test_what_the_table_names_exists() -> None:
    text = (ROOT / "docs/agents.md").read_text()
    named = re.findall(r"`((?:agents|tests)/[\w/.]+)(?:::(\w+))?`", text)
    assert len(named) > 30
    for path, test in named:
        assert (ROOT / path).exists(), path
        assert not test or f"def {test}(" in (ROOT / path).read_text(), test
