"""The model that the environment names: `offline`, or a Gemini model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.shared.services import endpoint
from agents.shared.settings import SetupError, required

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from agents.shared.offline.llm import Rule

OFFLINE = "offline"


def model(rule: Rule) -> BaseLlm:
    """The model for one step of an agent.

    Args:
        rule: what the step does when the model is `offline`.

    Raises:
        SetupError: the environment names no model, or one that nothing here can call.
    """
    name = required("SLIPWAY_MODEL")
    if name == OFFLINE:
        from agents.shared.offline.llm import OfflineLlm

        return OfflineLlm(rule=rule)
    if not name.startswith("gemini-"):
        raise SetupError(
            f"SLIPWAY_MODEL is {name!r}",
            'the environment\'s file says model = "offline" or a model whose name begins gemini-',
        )
    from google.adk.models import Gemini

    return Gemini(
        model=name,
        client_kwargs={
            "project": required("GOOGLE_CLOUD_PROJECT"),
            "location": required("GOOGLE_CLOUD_AGENT_ENGINE_LOCATION"),
            "http_options": {"base_url": endpoint()},
        },
    )
