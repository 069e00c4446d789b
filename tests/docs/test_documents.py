"""The documents hold: their commands exist, links lead somewhere, the reference is fresh."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from scripts import settings_reference
from scripts.main import cli
from scripts.reference import reference

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PROGRAMS = {"scripts/up", "scripts/test", "scripts/checkov"}


def examples() -> Iterator[tuple[str, str]]:
    """Every command line in a `sh` block, with its document."""
    for path in DOCUMENTS:
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(), re.S):
            for line in block.splitlines():
                if line.strip() and not line.startswith("#"):
                    yield str(path.relative_to(ROOT)), line


@pytest.mark.parametrize(("document", "line"), list(examples()))
def test_every_command_in_a_document_is_one(document: str, line: str) -> None:
    words = shlex.split(line, comments=True)
    while "=" in words[0]:
        words.pop(0)
    if words[0] in PROGRAMS:
        assert (ROOT / words[0]).is_file()
        return
    assert words[0] == "slipway", f"{document}: what is {words[0]}?"
    command: click.Command = cli
    context, rest = click.Context(cli, info_name="slipway"), words[1:]
    while isinstance(command, click.Group):
        name, found, rest = command.resolve_command(context, rest)
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=name)
    # Parses the arguments as a real call would, and runs nothing.
    command.make_context(command.name, rest, parent=context.parent)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_to_a_file(path: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", path.read_text())
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_reference_is_what_help_says() -> None:
    written = (ROOT / "docs" / "reference.md").read_text()
    assert written == reference(), "python -m scripts.reference > docs/reference.md"


def test_the_settings_are_those_of_the_model() -> None:
    written = (ROOT / "docs" / "environments.md").read_text()
    told = "python -m scripts.settings_reference > docs/environments.md"
    assert written == settings_reference.reference(), told


def test_every_setting_is_explained() -> None:
    for line in settings_reference.reference().splitlines():
        if line.startswith("| `"):
            assert len(line.split(" | ")[2]) > 10, line
