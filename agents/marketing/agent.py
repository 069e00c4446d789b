"""Marketing: media spend and campaigns."""

from __future__ import annotations

from pathlib import Path

from agents.shared.specialist import specialist

app = specialist(
    "marketing",
    "Answers questions about media spend and campaigns, by brand, region and week.",
    Path(__file__).parent,
)
