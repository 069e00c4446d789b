"""Asks the deployed front agent through Google's SDK, as any client of it would."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, TypeVar

from infra.descriptor import Descriptor
from infra.errors import RemoteError
from infra.manifest import AgentManifest
from services.release import remote
from services.release.target import Target
from services.sdk import import_guarded

WRITER = "writer"
"""Author of the events that hold the answer; an agent without one answers in its last text."""
FINDINGS = "findings"
"""Session state: where each number of the answer came from."""
PAUSE_SECONDS = 0.1
ANSWER_SECONDS = 120.0
"""How long an answer may take: a model may think, and the specialists have a deadline of theirs."""

T = TypeVar("T")


@dataclass(frozen=True)
class Answer:
    """What was answered. `findings` say where each number came from; `session` goes on with it."""

    text: str
    session: str
    findings: tuple[dict[str, Any], ...]


class Conversation:
    """The front agent of an environment; a context manager, since the SDK's client keeps one loop.

    Every method raises RemoteError when the API or the agent answers with an error.
    """

    def __init__(self, target: Target, descriptor: Descriptor, front: AgentManifest) -> None:
        """Args: front: the manifest of the agent that people talk to."""
        self._target, self._descriptor, self._front = target, descriptor, front
        self._engine = descriptor.engines[front.name].name
        self._loop = asyncio.Runner()

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if "_client" in self.__dict__:
            self._loop.run(self._client.aio.aclose())
        self._loop.close()

    def ask(
        self,
        question: str,
        *,
        user: str,
        session: str | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Answer:
        """Asks, in the conversation `session` or in a new one, and waits `seconds` at most."""
        with self._calling():
            if session is not None:
                self._check_session(session, user)
            try:
                return self._run(asyncio.wait_for(self._ask(question, user, session), seconds))
            except TimeoutError:
                raise RemoteError(
                    f"{self._front.name} gave no answer within {seconds:.0f} s",
                    where=self._engine,
                    fix="ask again, or give it longer with --timeout; its log says what it does",
                ) from None

    def memories(self, user: str) -> list[str]:
        """What the memory bank holds of the user, as facts."""
        bank = self._descriptor.memory_bank
        if bank is None:
            return []
        scope = {"app_name": str(self._front.app_name), "user_id": user}
        with self._calling(bank.name):
            found = self._client.memory_banks.memories.retrieve(name=bank.name, scope=scope)
            return [item.memory.fact for item in found]

    def wait_for_memories(self, user: str, seconds: float) -> list[str]:
        """The user's facts as soon as there is one; [] when there is none after `seconds`.

        Memories are made after the answer was given, in the background.
        """
        end = time.monotonic() + seconds
        while not (facts := self.memories(user)) and time.monotonic() < end:
            time.sleep(PAUSE_SECONDS)
        return facts

    @cached_property
    def _client(self) -> Any:
        import_guarded()
        import agentplatform
        from google.genai.types import HttpOptions

        return agentplatform.Client(
            project=self._descriptor.project,
            location=self._descriptor.region,
            credentials=self._target.credentials,
            http_options=HttpOptions(base_url=self._target.endpoints.agent_runtime),
        )

    @cached_property
    def _agent(self) -> Any:
        """The engine as the SDK gives it, with one method for each of its class methods."""
        agent = self._client.runtimes.get(name=self._engine)
        if not hasattr(agent, "async_stream_query"):
            raise RemoteError(
                f"{self._front.name} does not serve yet: nothing is deployed there",
                where=self._engine,
                fix=f"slipway deploy {self._descriptor.environment}",
            )
        return agent

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    def _check_session(self, session: str, user: str) -> None:
        """An unknown conversation would be an internal error of the agent; here it gets a name."""
        from google.genai.errors import ClientError

        try:
            owner = self._client.sessions.get(name=f"{self._engine}/sessions/{session}").user_id
        except ClientError as error:
            if error.code != 404:
                raise
            owner = None
        if owner != user:
            raise RemoteError(
                f"{user} has no conversation {session!r}",
                where=self._engine,
                fix="leave --session out to begin a new one",
            )

    async def _ask(self, question: str, user: str, session: str | None) -> Answer:
        if session is None:
            session = str((await self._agent.async_create_session(user_id=user))["id"])
        events = self._agent.async_stream_query(message=question, user_id=user, session_id=session)
        return read_answer([event async for event in events], session, self._engine)

    @contextmanager
    def _calling(self, where: str | None = None) -> Iterator[None]:
        import httpx
        from google.genai.errors import APIError

        where = where or self._engine
        with remote.calling(where):
            try:
                yield
            except APIError as error:
                words = f"{error.status or ''} {error.message or ''}"
                fix = self._target.provision if error.code == 404 else None
                raise remote.Refused(where, error.code, words, fix) from error
            except (httpx.HTTPError, OSError) as error:
                raise remote.unreachable(where, error) from error


def read_answer(events: list[dict[str, Any]], session: str, where: str) -> Answer:
    """Takes the answer out of an ADK event stream.

    Raises:
        RemoteError: the agent reported an error, or ended without a text.
    """
    texts = [(event.get("author"), _text(event)) for event in events if not event.get("partial")]
    spoken = [(author, text) for author, text in texts if text]
    written = [text for author, text in spoken if author == WRITER]
    if not spoken:
        failure = next((e["error_message"] for e in events if e.get("error_message")), None)
        raise RemoteError(
            f"the agent failed: {failure}" if failure else "the agent ended without an answer",
            where=where,
            fix="ask again; the engine's log says what happened",
        )
    findings: list[dict[str, Any]] = []
    for event in events:
        delta = (event.get("actions") or {}).get("state_delta") or {}
        findings = delta.get(FINDINGS, findings)
    return Answer(written[-1] if written else spoken[-1][1], session, tuple(findings))


def _text(event: Mapping[str, Any]) -> str:
    parts = (event.get("content") or {}).get("parts") or []
    return "".join(part["text"] for part in parts if part.get("text") and not part.get("thought"))
