"""Supply: stock and service levels."""

from __future__ import annotations

from pathlib import Path

from agents.shared.specialist import specialist
from agents.supply.replan import tools

app = specialist(
    "supply",
    "Answers questions about stock and service levels, by brand, region and week.",
    Path(__file__).parent,
    acts=tools,
)
