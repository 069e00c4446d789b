"""The one exception tree of slipway.

    SlipwayError            something went wrong; exit code 1
    ├── InputError          the command line or a file is wrong; exit code 2
    ├── PlatformError       the local platform does not run, or is not ours; exit code 1
    ├── TerraformError      Terraform refused or failed; exit code 1
    ├── PackageError        a bundle cannot be built; exit code 1
    ├── RemoteError         an API answered with an error; exit code 1
    └── Finding             what the command looks for was found; exit code 3

Every error says *what* is wrong, *where*, and the command or edit that fixes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self


class SlipwayError(Exception):
    """Base of every error that is meant for a person.

    Args:
        what: one sentence without a full stop, in the user's terms.
        where: the file (and line), resource or address it is about.
        fix: the command to run or the edit to make.
    """

    exit_code = 1
    also: tuple[SlipwayError, ...] = ()
    """Errors of the same kind that were found with this one."""

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        self.what, self.where, self.fix = what, where, fix
        super().__init__(self.__str__())

    @classmethod
    def of(cls, errors: Sequence[Self]) -> Self:
        """The first of several errors, which brings the others along (`also`)."""
        first = errors[0]
        first.also = tuple(errors[1:])
        return first

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}\n  fix: {self.fix}" if self.fix else head


class InputError(SlipwayError):
    """A bad argument, file or name: nothing was changed."""

    exit_code = 2


class PlatformError(SlipwayError):
    """The local platform cannot be started, reached or stopped."""


class TerraformError(SlipwayError):
    """Terraform could not be run, or ended with an error."""


class PackageError(SlipwayError):
    """An agent cannot be packaged."""


class RemoteError(SlipwayError):
    """A Google API (or the local platform) answered with an error."""


class Finding(SlipwayError):
    """What the command was asked to look for is there (a difference, a drift, a refused gate)."""

    exit_code = 3
