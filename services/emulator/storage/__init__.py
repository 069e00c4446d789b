"""Cloud Storage's JSON API: buckets, objects with generations and preconditions, uploads."""

from __future__ import annotations

from starlette.routing import BaseRoute

from services.emulator.platform import Platform
from services.emulator.storage.buckets import Buckets
from services.emulator.storage.objects import ObjectMethods
from services.emulator.storage.uploads import Uploads
from services.emulator.storage.xml import XmlReads


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes."""
    return [
        *Buckets(platform).routes(),
        *ObjectMethods(platform).routes(),
        *Uploads(platform).routes(),
        *XmlReads(platform).routes(),
    ]
