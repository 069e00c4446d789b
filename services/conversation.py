"""Asks the deployed front agent through Google's SDK, as any client of it would."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Literal, TypeVar

from agents.shared import caller
from infra.descriptor import Descriptor
from infra.errors import RemoteError
from infra.manifest import AgentManifest
from services.release import remote
from services.release.secrets import Vault
from services.release.target import Target
from services.sdk import import_guarded

ISSUER = "front"
SIGNING_KEY = "CALLER_SIGNING_KEY"
"""The variable by which the front agent is given the key of callers' statements."""
QUESTION = "adk_request_input"
"""The function that ADK says a question to the user is a call of."""
WRITER = "writer"
"""Author of the events that hold the answer; an agent without one answers in its last text."""
FINDINGS = "findings"
"""Session state: where each number of the answer came from."""
PAUSE_SECONDS = 0.1
ANSWER_SECONDS = 120.0
"""How long an answer may take: a model may think, and the specialists have a deadline of theirs."""

T = TypeVar("T")


@dataclass(frozen=True)
class Approval:
    """What the turn `invocation` waits for: the question's text says what would be done."""

    invocation: str
    expires: int
    """Unix time."""


@dataclass(frozen=True)
class Answer:
    """What was answered. `findings` say where each number came from; `session` goes on with it.

    `turn` is what `undo` takes. `approval` is None unless the text asks for a decision.
    """

    text: str
    session: str
    findings: tuple[dict[str, Any], ...]
    turn: str = ""
    approval: Approval | None = None


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
        token: str = "",
        seconds: float = ANSWER_SECONDS,
    ) -> Answer:
        """Asks, in the conversation `session` or in a new one, and waits `seconds` at most.

        Args:
            token: the user's own Databricks token, for agents that act or read as that person.
        """
        with self._calling():
            if session is not None:
                self._check_session(session, user)
            return self._answer(self._ask(question, user, session, token), seconds)

    def decide(
        self,
        decision: Literal["approve", "reject"],
        *,
        user: str,
        session: str,
        invocation: str,
        token: str = "",
        seconds: float = ANSWER_SECONDS,
    ) -> Answer:
        """Decides what the turn `invocation` waits for (see `Approval`)."""
        with self._calling():
            self._check_session(session, user)
            events = self._method("async_stream_decide")(
                decision=decision,
                user_id=user,
                session_id=session,
                invocation_id=invocation,
                caller=self._statement(user),
                token=token,
            )
            return self._answer(self._collected(events, session), seconds)

    def resume(
        self,
        turn: str,
        *,
        user: str,
        session: str,
        token: str = "",
        seconds: float = ANSWER_SECONDS,
    ) -> Answer:
        """Goes on with a turn that broke off, such as by the end of its agent's process."""
        with self._calling():
            self._check_session(session, user)
            events = self._method("async_stream_resume")(
                user_id=user,
                session_id=session,
                invocation_id=turn,
                caller=self._statement(user),
                token=token,
            )
            return self._answer(self._collected(events, session), seconds)

    def last_turn(self, user: str, session: str) -> str:
        """The conversation's newest turn.

        Raises:
            RemoteError: nobody has asked anything in it.
        """
        with self._calling():
            self._check_session(session, user)
            name = f"{self._engine}/sessions/{session}"
            turns = [str(e.invocation_id) for e in self._client.sessions.events.list(name=name)]
        if not turns:
            fix = "ask a question"
            raise RemoteError("nothing was asked in this conversation", where=session, fix=fix)
        return turns[-1]

    def undo(self, turn: str, *, user: str, session: str) -> dict[str, Any]:
        """Undoes a turn of a conversation and all after it: `undone` turns, and what `stays`.

        Raises:
            RemoteError: also when the conversation has no such turn.
        """
        with self._calling():
            self._check_session(session, user)
            work = self._method("async_rewind")(
                user_id=user,
                session_id=session,
                invocation_id=turn,
                caller=self._statement(user),
            )
            found: dict[str, Any] = self._run(work)
        if problem := found.get("problem"):
            fix = "slipway ask ENV … --json prints the turn of each answer"
            raise RemoteError(str(problem), where=session, fix=fix)
        return found

    def file(self, name: str, *, user: str, session: str, version: int | None = None) -> str:
        """The text of a file that an answer was saved as.

        Raises:
            RemoteError: also when the conversation has no such file.
        """
        with self._calling():
            self._check_session(session, user)
            work = self._method("async_get_file")(
                name=name,
                user_id=user,
                session_id=session,
                version=version,
                caller=self._statement(user),
            )
            found: dict[str, Any] = self._run(work)
        if problem := found.get("problem"):
            fix = "the answer named the file and its version"
            raise RemoteError(str(problem), where=session, fix=fix)
        return str(found["text"])

    def _answer(self, work: Coroutine[Any, Any, Answer], seconds: float) -> Answer:
        try:
            return self._run(asyncio.wait_for(work, seconds))
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
        return self._client.runtimes.get(name=self._engine)

    def _method(self, name: str) -> Any:
        found = getattr(self._agent, name, None)
        if found is not None:
            return found
        serves = hasattr(self._agent, "async_stream_query")
        raise RemoteError(
            f"{self._front.name} is of an older release, without {name}"
            if serves
            else f"{self._front.name} does not serve yet: nothing is deployed there",
            where=self._engine,
            fix=f"slipway deploy {self._descriptor.environment}",
        )

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

    async def _ask(self, question: str, user: str, session: str | None, token: str) -> Answer:
        statement = self._statement(user)
        if session is None:
            made = await self._method("async_create_session")(user_id=user, caller=statement)
            session = str(made["id"])
        events = self._method("async_stream_query")(
            message=question, user_id=user, session_id=session, caller=statement, token=token
        )
        return await self._collected(events, session)

    async def _collected(self, events: AsyncIterator[dict[str, Any]], session: str) -> Answer:
        return read_answer([event async for event in events], session, self._engine)

    def _statement(self, user: str) -> str:
        """That this front asks on behalf of `user`; "" for an agent that checks none."""
        if self._key is None:
            return ""
        return caller.sign(user, issuer=ISSUER, audience=self._front.name, key=self._key)

    @cached_property
    def _key(self) -> str | None:
        """The agents' signing key, in the version that the front agent runs with."""
        secret = self._front.secrets.get(SIGNING_KEY)
        if secret is None:
            return None
        self._method("async_stream_query")  # what does not serve has no key either
        spec = self._agent.api_resource.spec
        pinned = {item.name: item.secret_ref.version for item in spec.deployment_spec.secret_env}
        vault = Vault(self._target, self._descriptor)
        return vault.read(secret, pinned[SIGNING_KEY]).decode()

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
    asked = [found for event in events if (found := _question(event)) is not None]
    texts = [(event.get("author"), _text(event)) for event in events if not event.get("partial")]
    spoken = [(author, text) for author, text in texts if text]
    written = [text for author, text in spoken if author == WRITER]
    if asked and not written:
        text, approval = asked[-1]
        return Answer(text, session, (), approval.invocation, approval)
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
    turn = next((str(e["invocation_id"]) for e in events if e.get("invocation_id")), "")
    return Answer(written[-1] if written else spoken[-1][1], session, tuple(findings), turn)


def _question(event: Mapping[str, Any]) -> tuple[str, Approval] | None:
    """What an event asks the user to decide."""
    for part in (event.get("content") or {}).get("parts") or []:
        call = part.get("function_call") or {}
        if call.get("name") == QUESTION:
            args = call.get("args") or {}
            expires = (args.get("payload") or {}).get("expires", 0)
            text = str(args.get("message") or "The agent asks for a decision.")
            return text, Approval(str(event.get("invocation_id")), int(expires))
    return None


def _text(event: Mapping[str, Any]) -> str:
    parts = (event.get("content") or {}).get("parts") or []
    return "".join(part["text"] for part in parts if part.get("text") and not part.get("thought"))
