"""Deploys a World in a process of its own, which dies at one call: before it is sent, or after.

`python -m tests.faults.deployer WORLD METHOD PATTERN before|after`, WORLD as JSON.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from requests.adapters import HTTPAdapter

from tests.release.killing import heard

DIED = 9


def die_at(method: str, pattern: str, when: str) -> None:
    """From now on, the first such call is the last thing that this process does."""
    send = HTTPAdapter.send

    def watched(self: HTTPAdapter, request: Any, *args: Any, **options: Any) -> Any:
        due = request.method == method and re.search(pattern, request.url)
        if due and when == "before":
            os._exit(DIED)
        answer = send(self, request, *args, **options)
        if due:
            os._exit(DIED)
        return answer

    HTTPAdapter.send = watched  # type: ignore[method-assign]


def main() -> None:
    """Deploys."""
    world = heard(sys.argv[1])
    die_at(*sys.argv[2:])
    world.deploy()


if __name__ == "__main__":
    main()
