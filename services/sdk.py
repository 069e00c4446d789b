"""Google's Agent Platform SDK without what it drags in.

`agentplatform/__init__` tries to import one optional name from `google.cloud.aiplatform`, and with
it 2,000 modules: 3 s and 130 MB. While that name cannot be imported, the package does without it.
"""

from __future__ import annotations

import importlib
import sys

HEAVY = "google.cloud.aiplatform"


def import_guarded() -> None:
    """Imports `agentplatform` light; does nothing when either package is already there.

    `google.cloud.aiplatform` can be imported afterwards; `agentplatform.init` is then missing.
    """
    if "agentplatform" in sys.modules or HEAVY in sys.modules:
        return
    sys.modules[HEAVY] = None  # type: ignore[assignment]  # the documented way to forbid an import
    try:
        import agentplatform  # noqa: F401 - imported for its effect
    finally:
        del sys.modules[HEAVY]


def preload() -> None:
    """Imports what deploying and asking need of the SDK; to be run beside other waiting."""
    import_guarded()
    for name in ("types", "runtimes", "sessions", "memory_banks"):
        importlib.import_module(f"agentplatform._genai.{name}")
