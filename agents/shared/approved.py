"""What a person approved: one action with exactly these arguments, in one invocation.

The router asks the person and states the approval in the caller's signed statement; the agent that
acts compares it with what it is about to do. The same digest is the action's idempotency token: a
crash, a resume or a second approval of the same thing starts nothing twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def digest(invocation: str, tool: str, arguments: Mapping[str, Any]) -> str:
    """The name of one action: 64 hexadecimal characters (what Databricks takes as a token).

    Args:
        arguments: lists are sets here: their order and repetitions do not count.
    """
    plain = {
        key: sorted(set(value)) if isinstance(value, list | tuple) else value
        for key, value in arguments.items()
    }
    text = json.dumps([invocation, tool, plain], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
