"""The `slipway` command: finds the sub-command; says of every error what, where and the fix.

A sub-command is imported only when it is used or listed; what is heavy, only when it runs.
"""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import traceback
from pathlib import Path

import click

from infra.errors import SlipwayError

LOOPBACK = "127.0.0.1,localhost"
# Command -> module that holds a click command of the name `command`.
COMMANDS = {
    "up": "scripts.up",
    "ask": "scripts.ask",
    "undo": "scripts.undo",
    "file": "scripts.file",
    "status": "scripts.status",
    "down": "scripts.down",
    "env": "scripts.env",
    "agent": "scripts.agent",
    "infra": "scripts.infra",
    "secret": "scripts.secret",
    "package": "scripts.package",
    "dev": "scripts.dev",
    "deploy": "scripts.deploy",
    "diff": "scripts.diff",
    "rollback": "scripts.rollback",
    "traffic": "scripts.traffic",
    "scale": "scripts.scale",
    "switch": "scripts.switch",
    "history": "scripts.history",
    "logs": "scripts.logs",
    "release": "scripts.release",
    "recover": "scripts.recover",
    "owners": "scripts.owners",
}


class Commands(click.Group):
    """A group that imports a command when it is needed, and guesses a misspelt one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " See slipway --help."
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "-C",
    "--chdir",
    "folder",
    type=click.Path(path_type=Path),
    help="The checkout to work on (default: found upwards).",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="slipway", message="slipway %(version)s")
@click.pass_context
def cli(ctx: click.Context, folder: Path | None, debug: bool) -> None:
    """Provision, deploy and ask AI agents on Google's Agent Runtime, or on this machine."""
    ctx.obj = _checkout(folder)
    ctx.meta["debug"] = debug
    if os.environ.get("NO_COLOR"):
        ctx.color = False


def _checkout(folder: Path | None) -> Path:
    """The checkout to work on: the one that holds `folder`, or the one this command came with."""
    start = (folder or Path.cwd()).resolve()
    for candidate in (start, *start.parents):
        if (candidate / "infra" / "environments").is_dir():
            return candidate
    if folder is not None:
        raise SlipwayError(
            "there is no slipway checkout here",
            where=str(folder),
            fix="give -C the folder that holds infra/",
        )
    return Path(__file__).resolve().parents[1]


def main() -> None:
    """Entry point of the console script; ends the process with the design's exit codes."""
    sys.exit(run(sys.argv[1:]))


def run(args: list[str]) -> int:
    """Runs the command line `args`; returns 0 done, 1 failed, 2 bad input or 3 a finding."""
    debug = "--debug" in args
    # Calls to the local platform must not go through a proxy that the machine is set up with.
    os.environ["NO_PROXY"] = ",".join(filter(None, (os.environ.get("NO_PROXY"), LOOPBACK)))
    try:
        cli.main(args=args, prog_name="slipway", standalone_mode=False)
    except SlipwayError as error:
        for one in (error, *error.also):
            _report(str(one), error.exit_code, debug=debug and one is error)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _report(
            "interrupted; nothing is lost\n  fix: run the same command again", 1, debug=debug
        )
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except BrokenPipeError:
        # The reader (head, less) went away: not an error, but nothing may be flushed any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        # A full disk or a closed stream meets any command at any line that it prints.
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror or error}\n  fix: make room or mend that, then run it again"
        return _report(text, 1, debug=debug)
    except Exception as error:  # noqa: BLE001 - the last boundary: no traceback without --debug
        fix = "run it with --debug and report what it prints"
        text = f"unexpected {type(error).__name__}: {error}\n  fix: {fix}"
        return _report(text, 1, debug=debug)
    return 0


def _report(text: str, code: int, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    color = False if os.environ.get("NO_COLOR") else None
    click.secho("error: ", fg="red", bold=True, err=True, nl=False, color=color)
    click.echo(text, err=True, color=color)
    return code
