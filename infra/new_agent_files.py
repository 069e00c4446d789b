"""What a new agent's folder holds, by path. @NAME@, @WORDS@ and @TITLE@ stand for its name."""

from __future__ import annotations

_DATA_WEEKS = ("2026-W36", "2026-W37", "2026-W38", "2026-W39")
_BRANDS = ("Acme Pure", "Acme Bold")
_REGIONS = ("Western Europe", "Nordics")


def _data() -> str:
    """A small table, so that there is something to ask for; put yours in its place."""
    rows = ["brand,region,week,items"]
    number = 0
    for brand in _BRANDS:
        for region in _REGIONS:
            for week in _DATA_WEEKS:
                number += 1
                rows.append(f"{brand},{region},{week},{100 + 7 * number}")
    return "\n".join(rows) + "\n"


FILES: dict[str, str] = {
    "__init__.py": '"""@TITLE@."""\n',
    "agent.py": '''"""@TITLE@: what it owns is in semantic.yaml, its data in data/."""

from __future__ import annotations

from pathlib import Path

from agents.shared.specialist import specialist

app = specialist(
    "@NAME@",
    "Answers questions about @WORDS@, by brand, region and week.",
    Path(__file__).parent,
)
''',
    "agent.toml": """name = "@NAME@"
description = "Answers questions about @WORDS@."
entrypoint = "agents.@NAME@.agent:app"
smoke = "How many @WORDS@ of Acme Pure?"
include = ["data/*.csv", "skills/**/*.md"]
@REQUIREMENTS@
[secrets]
CALLER_SIGNING_KEY = "caller-signing-key"
""",
    "semantic.yaml": """\
# What @WORDS@ owns. `sql` of a measure aggregates `table`: a CSV file of the data folder, or
# a table of the warehouse that the environment names. `synonyms`: the words people ask for it by.

tables:
  @NAME@: { brand: text, region: text, week: text, items: integer }

measures:
  @NAME@_items:
    label: @TITLE@
    unit: items
    table: @NAME@
    sql: sum(items)
    headline: true
    synonyms: ["@WORDS@"]
""",
    "data/@NAME@.csv": _data(),
    "skills/@NAME@-definitions/SKILL.md": """\
---
name: @NAME@-definitions
description: What the measures of @WORDS@ mean. Read it when somebody asks how one is computed.
---

# What the numbers of @WORDS@ mean

1. Load the reference of each measure that is asked for: `references/KEY.md`.
2. Say what it says. Add nothing: no number, no target, no judgement of the result.
""",
    "skills/@NAME@-definitions/references/@NAME@_items.md": """\
@TITLE@ counts items, added up over the weeks, brands and regions asked for.
""",
    "tests/test_@NAME@.py": '''"""What the agent answers is what its files hold."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path

from agents.shared.measures import Measures
from agents.shared.query import Query
from agents.shared.semantic import catalog
from agents.shared.skills import reference, skill
from agents.shared.warehouse.duck import DuckDb

FOLDER = Path(__file__).parents[1]
NAME = FOLDER.name


def test_a_measure_is_the_sum_of_the_rows() -> None:
    with next(FOLDER.glob("data/*.csv")).open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["brand"] == "Acme Pure"]
    engine = DuckDb(FOLDER / "data", catalog().tables[NAME])
    query = Query(measures=("@NAME@_items",), brands=("Acme Pure",))
    [found] = asyncio.run(Measures(NAME, engine, catalog()).findings(query))
    assert found.value == sum(int(row["items"]) for row in rows)


def test_people_can_ask_for_it_in_words() -> None:
    names = [match.name for match in catalog().matches("How many @WORDS@ of Acme Pure?")]
    assert names == ["@NAME@_items", "Acme Pure"]


def test_everything_it_owns_is_defined() -> None:
    folder = FOLDER / "skills" / skill(NAME)
    named = {file.relative_to(folder).as_posix() for file in folder.glob("references/*.md")}
    assert named == {reference(key) for key in catalog().all_of(NAME)}
''',
}
