"""The kill switch: which agents of an environment answer a sentence of yours and do nothing else.

The object is read by the agents themselves (agents/shared/plugins/switch.py), at most every 15 s.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from infra.errors import InputError, RemoteError
from services.release.records import NOT_THERE
from services.release.site import Site

PATH = "switch.json"
LONGEST = 500
ATTEMPTS = 3


def off(site: Site) -> dict[str, str]:
    """The agents that are off, with what they say.

    Raises:
        RemoteError: the object cannot be read, or is none that this wrote.
    """
    return _read(site)[0]


def turn(site: Site, *, on: Iterable[str] = (), off: Mapping[str, str] | None = None) -> None:
    """Switches agents on, and off with a sentence each; others stay as they are.

    Raises:
        InputError: there is no such agent, or a sentence is empty or too long.
        RemoteError: as `off` does, or somebody else wrote at the same time.
    """
    on, off = list(on), dict(off or {})
    for agent in [*on, *off]:
        if agent not in site.descriptor.engines:
            known = ", ".join(site.descriptor.engines)
            raise InputError(f"there is no agent {agent!r}", where="switch", fix=f"known: {known}")
    for agent, sentence in off.items():
        if not sentence.strip() or len(sentence) > LONGEST:
            raise InputError(
                f"what {agent} is to say has {len(sentence)} characters",
                where="--say",
                fix=f"give 1 to {LONGEST} characters",
            )
    for _ in range(ATTEMPTS):
        now, generation = _read(site)
        wanted = {agent: told for agent, told in now.items() if agent not in on} | off
        data = json.dumps(wanted, indent=1, sort_keys=True, ensure_ascii=False).encode()
        if site.control.write(PATH, data, "application/json", generation=generation) is not None:
            return
    raise site.control.changed(PATH)


def _read(site: Site) -> tuple[dict[str, str], int]:
    stored = site.control.read(PATH)
    if stored is None:
        return {}, NOT_THERE
    try:
        found = json.loads(stored.data)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise RemoteError(
            "it holds no sentence by agent, so the agents take no notice of it",
            where=site.control.where(PATH),
            fix="delete the object, then switch again",
        )
    return found, stored.generation
