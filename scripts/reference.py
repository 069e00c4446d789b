"""Writes the command reference: `python -m scripts.reference > docs/reference.md`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from scripts.main import cli

HEAD = """# Command reference

Generated from `--help` by `python -m scripts.reference > docs/reference.md`; a test compares them.

Exit codes: 0 done, 1 failed, 2 bad usage or bad input, 3 what the command looks for was found.
`SLIPWAY_HOME` names another folder for runtime files than `.slipway`; `NO_COLOR` turns colours off.
Completion: `eval "$(_SLIPWAY_COMPLETE=bash_source slipway)"` (also `zsh_source`, `fish_source`).
"""
WIDTH = 100


def pages(command: click.Command, parent: click.Context | None, name: str) -> Iterator[str]:
    """The help of a command and of all below it, as Markdown."""
    context = click.Context(
        command,
        parent=parent,
        info_name=name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        color=False,
    )
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            assert found is not None
            yield from pages(found, context, child)


def reference() -> str:
    """The whole document."""
    return "\n".join([HEAD, *pages(cli, None, "slipway")])


if __name__ == "__main__":
    click.echo(reference(), nl=False)
