"""The kill switch: an object in the control bucket that stops an agent, without a deployment.

    switch.json    {"router": "We are looking into wrong numbers.", "supply": "…"}

An agent that is named there answers its sentence and does nothing else. The object is read at most
every 15 s. When it cannot be read, what it said last holds: storage that is down neither stops an
agent nor starts one. `slipway switch` writes it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import httpx
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from agents.shared import services
from agents.shared.settings import optional

PATH = "switch.json"
SECONDS = 15.0
TIMEOUT_SECONDS = 2.0
LONGEST = 500
LOG = logging.getLogger("agents.switch")


class Switch(BasePlugin):
    """Reads the object before a turn."""

    def __init__(self, agent: str, say: Callable[[str], str]) -> None:
        """Args: say: see `plugins`."""
        super().__init__(name="switch")
        self._agent, self._say = agent, say
        bucket, base = optional("SLIPWAY_CONTROL_BUCKET"), optional("SLIPWAY_STORAGE_ENDPOINT")
        self._url = f"{base}/storage/v1/b/{bucket}/o/{PATH}?alt=media" if bucket and base else ""
        self._read = float("-inf")
        self._told = ""

    async def before_run_callback(self, *, invocation_context: Any) -> types.Content | None:
        """Before a turn: ends it when the agent is switched off."""
        del invocation_context
        if self._url and time.monotonic() - self._read > SECONDS:
            self._read = time.monotonic()
            await self._look()
        return types.ModelContent(self._say(self._told)) if self._told else None

    async def _look(self) -> None:
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS) as client:
                headers = {"Authorization": await services.bearer()}
                answer = await client.get(self._url, headers=headers)
            body = {} if answer.status_code == httpx.codes.NOT_FOUND else _object(answer)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, the last value holds
            LOG.warning("%s could not be read: %s", PATH, type(error).__name__)
            return
        told = body.get(self._agent)
        self._told = told[:LONGEST] if isinstance(told, str) else ""


def _object(answer: httpx.Response) -> dict[str, Any]:
    answer.raise_for_status()
    body = answer.json()
    if not isinstance(body, dict):
        raise ValueError(f"{PATH} is no JSON object")
    return body
