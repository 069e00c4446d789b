"""Why an update failed, as far as a runtime's words tell: known causes and what mends them.

The words are those of Agent Runtime's operations and of Python's own errors at the end of a log.
"""

from __future__ import annotations

import re

# (what the words hold, what is likely the cause, what mends it); the first that matches counts
CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"No module named '(?P<name>agents[\w.]*)'",
        "the bundle does not hold the module {name}",
        "import it by its name somewhere, then see slipway package --explain",
    ),
    (
        r"No module named '(?P<name>[\w.]+)'",
        "the requirements do not hold the package of {name}",
        "add it to agents/requirements.in, run scripts/lock, deploy again",
    ),
    (
        r"cannot import name '(?P<name>\w+)'",
        "a package's version does not have {name}",
        "pin the version that has it in agents/requirements.in, run scripts/lock, deploy again",
    ),
    (
        r"refers to the secret '(?P<name>[\w-]+)'.*(?:denied|PERMISSION_DENIED)",
        "the agent's account may not read the secret {name}",
        "slipway infra apply ENV",
    ),
    (
        r"refers to the secret '(?P<name>[\w-]+)'",
        "the secret {name} has no version that can be read",
        "slipway secret set ENV {name}",
    ),
    (
        r"environment variable (?P<name>\w+) is reserved",
        "the runtime sets {name} itself",
        "call the variable otherwise in agent.toml",
    ),
    (
        r"requirements?\.txt.*(?P<name>[\w.-]+==[\w.]+)",
        "the runtime has another version than the lock asks for ({name})",
        "run scripts/lock, deploy again",
    ),
    (
        r"SetupError: (?P<name>[^\n]+)",
        "the agent refused its environment: {name}",
        "set what it names in [env] or [secrets] of agent.toml",
    ),
    (
        r"did not start serving within (?P<name>\d+) s",
        "set_up took longer than {name} s",
        "load data when it is first needed, not in set_up",
    ),
    (
        r"MemoryError|exit code -9|OOM",
        "the process ran out of memory",
        "raise memory in [scaling] of agent.toml",
    ),
    (
        r"failed to start and cannot serve traffic",
        "the process ended, or did not listen in time; its own log says why",
        "slipway logs ENV AGENT",
    ),
)


def likely(words: str) -> tuple[str, str] | None:
    """The likely cause and its fix; None when the words are of no known one."""
    for pattern, cause, fix in CAUSES:
        if match := re.search(pattern, words, re.DOTALL):
            named = match.groupdict()
            return cause.format(**named), fix.format(**named)
    return None
