"""A small checkout of two agents, written to disk as a team would write it."""

from __future__ import annotations

from pathlib import Path

ROUTER = '''
"""Answers with what it was asked, and with what shared code and data say."""
from collections.abc import AsyncIterator
from typing import Any
import os

from agents.shared.words import GREETING, load

class Router:
    def set_up(self) -> None:
        self.words = load()

    def query(self, *, message: str) -> dict[str, Any]:
        """Echoes."""
        return {"message": message, "words": self.words, "env": os.environ.get("FLAVOUR")}

    async def async_create_session(self, *, user_id: str, caller: str = "") -> dict[str, Any]:
        """Starts a conversation."""
        return {"id": f"of-{user_id}"}

    async def async_stream_query(
        self, *, message: str, user_id: str, session_id: str | None = None, caller: str = "",
        token: str = "",
    ) -> AsyncIterator[dict[str, Any]]:
        """Answers in events, as an ADK app does."""
        yield {
            "author": "specialist",
            "actions": {"state_delta": {"findings": [{"agent": "router", "value": 7}]}},
            "content": {"parts": [{"text": "not this"}]},
        }
        yield {"author": "writer", "partial": True, "content": {"parts": [{"text": GREETING}]}}
        text = f"{GREETING} {user_id}: {message}"
        yield {"author": "writer", "content": {"parts": [{"text": text}]}}

    def register_operations(self) -> dict[str, list[str]]:
        return {
            "": ["query"],
            "async": ["async_create_session"],
            "async_stream": ["async_stream_query"],
        }

app = Router()
'''
WORDS = '''
"""Shared by several agents."""
import json
from pathlib import Path

from .inner import deep

GREETING = deep.GREETING

def load() -> list[str]:
    return json.loads(Path(__file__).with_name("words.json").read_text())
'''
SUPPLY = '''
from agents.shared.inner.deep import GREETING

class Supply:
    def query(self, *, message: str, limit: int = 3) -> str:
        """Answers shortly."""
        return GREETING

app = Supply()
'''
FILES = {
    "agents/__init__.py": "",
    "agents/router/__init__.py": "",
    "agents/router/agent.py": ROUTER,
    "agents/router/agent.toml": """
name = "router"
description = "Echoes."
entrypoint = "agents.router.agent:app"
app_name = "acme"
uses_memory = true
include = ["data/*.csv"]

[env]
FLAVOUR = "vanilla"
SUPPLY_ENGINE_ID = { engine = "supply" }
MEMORY_BANK_ID = { memory_bank = "id" }
MEMORY_BANK_LOCATION = { memory_bank = "location" }

[secrets]
CALLER_SIGNING_KEY = "caller-signing-key"
""",
    "agents/router/data/a.csv": "x,y\n1,2\n",
    "agents/router/data/b.txt": "not included\n",
    "agents/router/.env": "TOKEN=do-not-pack\n",
    "agents/router/tests/test_agent.py": "raise SystemExit\n",
    "agents/router/test_more.py": "raise SystemExit\n",
    "agents/router/evals/basic.json": "{}",
    "agents/router/__pycache__/agent.cpython-311.pyc": "junk",
    "agents/supply/__init__.py": "",
    "agents/supply/agent.py": SUPPLY,
    "agents/supply/agent.toml": """
name = "supply"
description = "Answers shortly."
entrypoint = "agents.supply.agent:app"

[secrets]
CALLER_SIGNING_KEY = "caller-signing-key"
""",
    "agents/shared/__init__.py": "",
    "agents/shared/words.py": WORDS,
    "agents/shared/words.json": '["one", "two"]',
    "agents/shared/other.json": "[]",
    "agents/shared/unused.py": "raise SystemExit\n",
    "agents/shared/inner/__init__.py": "",
    "agents/shared/inner/deep.py": 'GREETING = "hello"\n',
    "agents/requirements.lock": "",
}


def write_checkout(root: Path) -> Path:
    """Writes the two agents below `root`."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root
