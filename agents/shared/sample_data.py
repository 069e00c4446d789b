"""Writes the sample data: `python -m agents.shared.sample_data` (from the checkout's root).

Everything in it is made up: brands, amounts, weeks. It is the same on every machine, since each
number is a hash of what it is about. A development tool; no agent imports it.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path

from agents.shared.semantic import catalog

AGENTS = Path(__file__).resolve().parents[1]
WEEKS = tuple(f"2026-W{number}" for number in range(27, 40))
CAMPAIGNS = ("Always on", "Summer")
LAST_SUMMER_WEEK = "2026-W35"

# Sizes relative to one another, so that no two brands or regions look alike.
_BRAND = {"Acme Pure": 1.0, "Acme Bold": 0.7, "Acme Verde": 0.45, "Acme Zero": 0.3}
_REGION = {"Western Europe": 1.0, "Southern Europe": 0.6, "Nordics": 0.35, "North America": 1.4}
_WEEKLY_SPEND_EUR = 33_000
_WEEKLY_IMPRESSIONS = 2_400_000
_WEEKLY_ORDERS = 18_000
# What the documentation quotes: the brand's and region's spend over all weeks, in euros.
QUOTED = {("Acme Pure", "Western Europe"): 436_449}

Row = tuple[str | int, ...]


def share(*about: str) -> float:
    """A number in [0, 1) that only depends on what it is about."""
    digest = hashlib.sha256("|".join(about).encode()).digest()
    return int.from_bytes(digest[:6]) / 2**48


def _size(brand: str, region: str) -> float:
    return _BRAND[brand] * _REGION[region]


def _cells() -> Iterator[tuple[str, str, str]]:
    for brand in catalog().brands:
        for region in catalog().regions:
            for week in WEEKS:
                yield brand, region, week


def spend() -> Iterator[Row]:
    """Media spend in whole euros."""
    for brand in catalog().brands:
        for region in catalog().regions:
            base = _WEEKLY_SPEND_EUR * _size(brand, region)
            amounts = [
                round(base * (0.6 + 0.8 * share("spend", brand, region, week))) for week in WEEKS
            ]
            total = QUOTED.get((brand, region), sum(amounts))
            scaled = [round(amount * total / sum(amounts)) for amount in amounts]
            scaled[-1] += total - sum(scaled)
            for week, amount in zip(WEEKS, scaled, strict=True):
                yield brand, region, week, amount


def campaigns() -> Iterator[Row]:
    """Impressions and clicks of each campaign that runs in the week."""
    for brand, region, week in _cells():
        for campaign in CAMPAIGNS:
            if campaign == "Summer" and week > LAST_SUMMER_WEEK:
                continue
            about = (brand, region, week, campaign)
            base = _WEEKLY_IMPRESSIONS * _size(brand, region)
            impressions = round(base * (0.3 + 0.7 * share("impressions", *about)))
            clicks = round(impressions * (0.006 + 0.02 * share("clicks", *about)))
            yield brand, region, week, campaign, impressions, clicks


def stock() -> Iterator[Row]:
    """Units in stock at the week's end, and how often a product ran out during it."""
    for brand, region, week in _cells():
        about = (brand, region, week)
        units = round(_WEEKLY_ORDERS * _size(brand, region) * (1 + 2 * share("stock", *about)))
        yield brand, region, week, units, int(6 * share("stockouts", *about) ** 2)


def deliveries() -> Iterator[Row]:
    """Units ordered, and those of them delivered on time and in full."""
    for brand, region, week in _cells():
        about = (brand, region, week)
        base = _WEEKLY_ORDERS * _size(brand, region)
        ordered = round(base * (0.8 + 0.4 * share("orders", *about)))
        yield brand, region, week, ordered, round(ordered * (0.9 + 0.1 * share("otif", *about)))


_KEYS = ("brand", "region", "week")
FILES: dict[str, tuple[tuple[str, ...], Callable[[], Iterator[Row]]]] = {
    "marketing/data/spend.csv": (("spend_eur",), spend),
    "marketing/data/campaigns.csv": (("campaign", "impressions", "clicks"), campaigns),
    "supply/data/stock.csv": (("stock_units", "stockouts"), stock),
    "supply/data/deliveries.csv": (("ordered_units", "delivered_units"), deliveries),
}


def text(name: str) -> str:
    """The content of one of FILES."""
    columns, rows = FILES[name]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_KEYS, *columns))
    writer.writerows(rows())
    return out.getvalue()


def main() -> None:
    """Writes every file."""
    for name in FILES:
        path = AGENTS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(name), encoding="utf-8", newline="")


if __name__ == "__main__":
    main()
