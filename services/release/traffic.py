"""How an engine's traffic is split between its runtime revisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Split = Mapping[str, int]
"""Percent by the revision's full name; empty: all of it goes to the latest."""
LATEST: Split = {}
FIELD = "traffic"


def of(engine: Mapping[str, Any]) -> dict[str, int]:
    """The split of an engine as the API gives it."""
    manual = (engine.get("trafficConfig") or {}).get("trafficSplitManual") or {}
    return {str(t["runtimeRevisionName"]): int(t["percent"]) for t in manual.get("targets", [])}


def config(split: Split) -> dict[str, Any]:
    """The engine's `traffic_config`, in snake_case."""
    if not split:
        return {"traffic_split_always_latest": {}}
    targets = [{"runtime_revision_name": name, "percent": p} for name, p in split.items()]
    return {"traffic_split_manual": {"targets": targets}}


def text(split: Split) -> str:
    """For people: `latest`, or `3=90, 4=10`."""
    if not split:
        return "latest"
    return ", ".join(f"{name.rpartition('/')[2]}={percent}" for name, percent in split.items())
