"""Arguments that many commands share: ENV with completion, `--platform`, `--yes`, `--json`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from infra.errors import InputError

if TYPE_CHECKING:
    from services.release.site import Site

F = TypeVar("F", bound=Callable[..., Any])


def complete_environment(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The environments of the checkout that begin with what is typed."""
    del param
    from infra import settings

    root = ctx.find_root().obj or Path.cwd()
    return [CompletionItem(name) for name in settings.names(root) if name.startswith(incomplete)]


_platform = click.option(
    "--platform",
    type=click.Choice(["local"]),
    help="Play the environment on this machine's platform.",
)


def environment(function: F) -> F:
    """Adds ENV and `--platform`; the function takes `env` and `platform`."""
    return click.argument("env", shell_complete=complete_environment)(_platform(function))


def environment_or(default: str) -> Callable[[F], F]:
    """The same, where ENV may be left out."""
    argument = click.argument("env", default=default, shell_complete=complete_environment)
    return lambda function: argument(_platform(function))


def site(root: Path, env: str, platform: Any) -> Site:
    """The environment ENV as deployments work on it.

    Raises:
        InputError, PlatformError, RemoteError: it is wrong, not there, or not applied yet.
    """
    from infra import settings
    from services.connection import connect
    from services.release.site import Site
    from services.release.target import read_descriptor

    target = connect(root, settings.load(root, env, platform))
    return Site(target, read_descriptor(target))


def as_json(function: F) -> F:
    """Adds `--json`; the function takes `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def yes(function: F) -> F:
    """Adds `--yes`; the function takes `yes`."""
    return click.option("--yes", is_flag=True, help="Do not ask (for CI).")(function)


def confirm(question: str, *, yes: bool) -> None:
    """Asks on a terminal; refuses without one unless `--yes` was given.

    Raises:
        InputError: as `require_answer` does.
        click.Abort: the answer was no.
    """
    require_answer(yes=yes)
    if not yes:
        click.confirm(question, abort=True)


def require_answer(*, yes: bool) -> None:
    """Refuses where a question will come that nobody can answer; to be called before long work.

    Raises:
        InputError: there is no terminal, and no `--yes`.
    """
    if not yes and not sys.stdin.isatty():
        raise InputError("this needs a confirmation, and there is no terminal", fix="add --yes")
