"""Skills: what a specialist reads only when it is asked for, from its folder `skills/`.

Each agent has the skill `NAME-definitions`, with a reference for each of its measures and lists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

LOAD = "load_skill"
REFERENCE = "load_skill_resource"


def skill(agent: str) -> str:
    """The name of the skill that defines what the agent's numbers mean."""
    return f"{agent}-definitions"


def reference(key: str) -> str:
    """Where in that skill a measure or a list is defined."""
    return f"references/{key}.md"


def toolset(folder: Path) -> Any:
    """ADK's tools that read skills; none that runs anything.

    Args:
        folder: of the agent's skills, each a folder with a SKILL.md.
    """
    from google.adk.skills import load_skill_from_dir
    from google.adk.tools.skill_toolset import SkillDiscoveryMode, SkillToolset

    skills = [load_skill_from_dir(file.parent) for file in sorted(folder.glob("*/SKILL.md"))]
    return SkillToolset(
        skills, discovery_mode=SkillDiscoveryMode.EAGER, tool_filter=[LOAD, REFERENCE]
    )
