"""`slipway owners`: who writes which field of an engine."""

from __future__ import annotations

import json

import click

from infra.errors import InputError
from scripts import options

TERRAFORM, DEPLOY, SERVER = "Terraform", "slipway deploy", "Agent Runtime"
OWNERS = {
    "displayName": TERRAFORM,
    "description": TERRAFORM,
    "labels": TERRAFORM,
    "encryptionSpec": TERRAFORM,
    "contextSpec": TERRAFORM,
    "IAM policy": TERRAFORM,
    "deletion policy": TERRAFORM,
    "spec": DEPLOY,
    "trafficConfig": DEPLOY,
    "name": SERVER,
    "createTime": SERVER,
    "updateTime": SERVER,
    "etag": SERVER,
}
"""By the API's field; the whole of it has one owner (the update masks are top-level names)."""


@click.command("owners", short_help="Say who writes which field of an engine.")
@click.argument("field", required=False)
@options.as_json
def command(field: str | None, as_json: bool) -> None:
    """Print who writes which field of an engine, or who writes FIELD.

    Nobody else may write it: the next run of its owner puts it back.
    """
    rows = OWNERS
    if field is not None:
        top = field.partition(".")[0]
        if top not in OWNERS:
            raise InputError(f"an engine has no field {top!r}", fix=f"known: {', '.join(OWNERS)}")
        rows = {field: OWNERS[top]}
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    for name, owner in rows.items():
        click.echo(f"{name:<16} {owner}")
