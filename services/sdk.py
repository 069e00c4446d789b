"""Google's Agent Platform SDK without what it drags in.

`agentplatform/__init__` tries to import one optional name from `google.cloud.aiplatform`, and with
it 2,000 modules: 3 s and 130 MB. While that name cannot be imported, the package does without it.
"""

from __future__ import annotations

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
