"""What a deployed agent says of itself: which files it runs from, and an answer to a question.

The digest is over what the process finds on its disk, so it does not rest on what a deployment
says. The question is asked in a conversation of its own, in memory alone: it leaves no session and
no memory behind.
"""

from __future__ import annotations

import hashlib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OWN = ("agents", "requirements.txt")
"""What of the unpacked archive is the bundle's; the runtime may put more beside it."""
METHOD = "self_report"
USER = "self-report"


def tree(root: Path = ROOT) -> str:
    """SHA-256 of the lines `SHA-256 OF THE FILE  PATH`, sorted by path, without caches."""
    files = [
        path
        for part in OWN
        for path in ([root / part] if (root / part).is_file() else (root / part).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    ]
    lines = sorted(
        (path.relative_to(root).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
        for path in files
    )
    text = "".join(f"{digest}  {path}\n" for path, digest in lines)
    return hashlib.sha256(text.encode()).hexdigest()


async def report(app: Any, question: str) -> dict[str, Any]:
    """`tree`, and the `answer` to the question if there is one.

    Args:
        app: the ADK app; None when there is nothing to ask.
    """
    found: dict[str, Any] = {"tree": tree()}
    if question:
        found["answer"] = await _answer(app, question)
    return found


async def _answer(app: Any, question: str) -> str:
    """The text of the last event that has one."""
    from google.adk.memory.in_memory_memory_service import InMemoryMemoryService
    from google.adk.runners import Runner
    from google.adk.sessions.in_memory_session_service import InMemorySessionService
    from google.genai import types

    sessions = InMemorySessionService()
    runner = Runner(app=app, session_service=sessions, memory_service=InMemoryMemoryService())
    id_ = f"c-{uuid.uuid4().hex}"
    await sessions.create_session(app_name=app.name, user_id=USER, session_id=id_)
    text = ""
    content = types.UserContent(question)
    async for event in runner.run_async(user_id=USER, session_id=id_, new_message=content):
        parts = (event.content.parts if event.content else None) or []
        text = "".join(part.text for part in parts if part.text) or text
    return text
