"""The committed files are what the generator writes."""

from __future__ import annotations

import pytest

from agents.shared import sample_data


@pytest.mark.parametrize("name", list(sample_data.FILES))
def test_files_are_the_generators(name: str) -> None:
    assert (sample_data.AGENTS / name).read_text(encoding="utf-8") == sample_data.text(name)


def test_no_two_slices_look_alike() -> None:
    totals: dict[tuple[object, object], int] = {}
    for brand, region, _, amount in sample_data.spend():
        totals[brand, region] = totals.get((brand, region), 0) + int(amount)
    assert len(set(totals.values())) == 16
    assert totals["Acme Pure", "Western Europe"] == 436_449
