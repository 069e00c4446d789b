"""What an agent's process is told by its environment; read at start-up, never at import."""

from __future__ import annotations

import os
import warnings

# Who sets a variable, and so what to run when it is missing.
_RUNTIME = "Agent Runtime sets it on every engine; outside of one, set it yourself"
_DEPLOY = "slipway deploy ENV sets it"
_FIXES = {
    "GOOGLE_CLOUD_PROJECT": _RUNTIME,
    "GOOGLE_CLOUD_AGENT_ENGINE_ID": _RUNTIME,
    "GOOGLE_CLOUD_AGENT_ENGINE_LOCATION": _RUNTIME,
    "MEMORY_BANK_ID": "slipway deploy ENV sets it from the descriptor; an environment without a "
    'memory bank says memory = "none"',
    "CALLER_SIGNING_KEY": "name the secret caller-signing-key under [secrets] in agent.toml, then "
    "slipway deploy ENV",
}


class SetupError(RuntimeError):
    """An agent cannot start as it was deployed: what is wrong, and what mends it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"{what}\n  fix: {fix}")


def required(name: str) -> str:
    """The value of an environment variable.

    Raises:
        SetupError: it is missing or empty.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        fix = _FIXES.get(name)
        if fix is None and name.endswith("_ENGINE_ID"):
            other = name.removesuffix("_ENGINE_ID").lower()
            fix = (
                f'write {name} = {{ engine = "{other}" }} under [env] in agent.toml, then {_DEPLOY}'
            )
        raise SetupError(f"the environment variable {name} is not set", fix or _DEPLOY)
    return value


def optional(name: str) -> str:
    """The value of an environment variable; "" when it is not set."""
    return os.environ.get(name, "").strip()


def whole_number(name: str, otherwise: int) -> int:
    """The value of an environment variable that is a positive number; `otherwise` when not set.

    Raises:
        SetupError: it is something else.
    """
    text = optional(name)
    if text and not (text.isdigit() and int(text)):
        raise SetupError(f"the environment variable {name} is {text!r}, no number", _DEPLOY)
    return int(text) if text else otherwise


def quiet() -> None:
    """Keeps ADK's note that its A2A support is experimental out of the log."""
    warnings.filterwarnings("ignore", r"\[EXPERIMENTAL\]", UserWarning)


def chosen(name: str, allowed: tuple[str, ...]) -> str:
    """The value of a variable that has only these values; the first one when it is not set.

    Raises:
        SetupError: another value.
    """
    value = os.environ.get(name) or allowed[0]
    if value not in allowed:
        raise SetupError(
            f"the environment variable {name} is {value!r}",
            f"known: {', '.join(allowed)}; it comes from the environment's file",
        )
    return value
