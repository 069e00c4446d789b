"""Writes the file of a new environment."""

from __future__ import annotations

import json
import re
from pathlib import Path

from infra import settings
from infra.errors import InputError

NAME = re.compile(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?")


def write(
    root: Path,
    name: str,
    *,
    project: str,
    region: str | None,
    extends: str,
    name_prefix: str,
    ttl_hours: int | None,
) -> Path:
    """Writes `infra/environments/NAME.toml` and reads it back; nothing is left when it is wrong.

    Args:
        extends: the file below, relative to infra/environments.
        ttl_hours: hours that an ephemeral environment lives; None: it is none.

    Returns:
        The file's path, relative to the checkout.

    Raises:
        InputError: the name is taken or wrong, or what was given is not valid together.
    """
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is no name of an environment",
            fix="1 to 20 of [a-z0-9-], a letter first, no hyphen last",
        )
    path = settings.FOLDER / f"{name}.toml"
    lines = _lines(name, project, region, extends, name_prefix, ttl_hours)
    try:
        with (root / path).open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise InputError(
            f"there is an environment {name!r} already",
            where=str(path),
            fix="edit that file, or give another name",
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}",
            where=str(path),
            fix=f"make {settings.FOLDER} writable",
        ) from None
    try:
        settings.load_all(root, settings.names(root))
    except InputError:
        (root / path).unlink()
        raise
    return path


def _lines(
    name: str,
    project: str,
    region: str | None,
    extends: str,
    name_prefix: str,
    ttl_hours: int | None,
) -> list[str]:
    def set_(key: str, value: str) -> str:
        return f"{key} = {json.dumps(value)}"

    lines = [
        "# Every field is explained in docs/environments.md.",
        set_("extends", extends),
        set_("name", name),
        set_("project", project),
    ]
    if region:
        lines.append(set_("region", region))
    if name_prefix:
        lines.append(set_("name_prefix", name_prefix))
    if ttl_hours is None:
        return [*lines, "", 'deletion_policy = "DELETE"   # DELETE | FORCE | PREVENT | ABANDON']
    return [
        *lines,
        "",
        "ephemeral = true   # `slipway env reap` destroys it when its time is over",
        f"ttl_hours = {ttl_hours}",
        'deletion_policy = "FORCE"',
        "",
        "[bank]",
        'deletion_policy = "FORCE"',
    ]
