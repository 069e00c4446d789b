"""The one factory of what an agent talks to, for whichever platform its environment names.

There is no question of where we are: AGENT_PLATFORM_ENDPOINT is always set (in the cloud to the
regional host), and credentials are always Application Default Credentials.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncIterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import httpx

from agents.shared.settings import chosen, optional, required

if TYPE_CHECKING:
    from google.adk.artifacts import BaseArtifactService
    from google.adk.memory import BaseMemoryService
    from google.adk.sessions import BaseSessionService

A2A_BYTES = 1_000_000
"""How long a specialist's answer may be; one that is longer would be stored in the conversation."""
A2A_SECONDS = 25.0
"""How long a specialist may take to answer; its process may have to be started first."""
TOKEN_HEADER = "x-slipway-databricks-token"
"""The person's own token, from the router to a specialist; nothing stores headers."""
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)


def endpoint() -> str:
    """Base URL of Agent Runtime, without a version and without a slash at its end."""
    return required("AGENT_PLATFORM_ENDPOINT").rstrip("/")


def a2a_url(engine_id: str) -> str:
    """Where an agent that is deployed on the engine serves A2A."""
    project = required("GOOGLE_CLOUD_PROJECT")
    location = required("GOOGLE_CLOUD_AGENT_ENGINE_LOCATION")
    parent = f"projects/{project}/locations/{location}"
    return f"{endpoint()}/v1beta1/{parent}/reasoningEngines/{engine_id}/a2a"


def sessions() -> BaseSessionService:
    """Agent Platform Sessions, on this agent's own engine."""
    from google.adk.sessions import VertexAiSessionService

    base = endpoint()

    class Sessions(VertexAiSessionService):
        """ADK's service, at the endpoint that the environment names."""

        def _build_api_client(self) -> Any:
            return _client(self._project, self._location, base)

    return Sessions(
        required("GOOGLE_CLOUD_PROJECT"),
        required("GOOGLE_CLOUD_AGENT_ENGINE_LOCATION"),
        required("GOOGLE_CLOUD_AGENT_ENGINE_ID"),
    )


def artifacts() -> BaseArtifactService:
    """Files that people asked for, in the environment's bucket; in memory where it has none."""
    from google.adk.artifacts import GcsArtifactService, InMemoryArtifactService

    bucket, base = optional("SLIPWAY_ARTIFACTS_BUCKET"), optional("SLIPWAY_STORAGE_ENDPOINT")
    if not bucket:
        return InMemoryArtifactService()

    class Artifacts(GcsArtifactService):
        """ADK's service, whose client is made for the first file: most turns ask for none."""

        def __init__(self) -> None:
            self.bucket_name = bucket

        @cached_property
        def storage_client(self) -> Any:
            from google.cloud import storage

            project = required("GOOGLE_CLOUD_PROJECT")
            return storage.Client(project=project, client_options={"api_endpoint": base})

        @cached_property
        def bucket(self) -> Any:
            return self.storage_client.bucket(self.bucket_name)

    return Artifacts()


def memory() -> BaseMemoryService:
    """The memory bank; where the environment says memory = "none", one that keeps nothing.

    Raises:
        SetupError: the environment has memory, but no bank is named.
    """
    if chosen("SLIPWAY_MEMORY", ("bank", "none")) == "none":
        return _no_memory()
    from google.adk.memory import VertexAiMemoryBankService

    base = endpoint()

    class Memory(VertexAiMemoryBankService):
        """ADK's service, at the endpoint that the environment names."""

        def _build_api_client(self) -> Any:
            return _client(self._project, self._location, base)

    return Memory(
        required("GOOGLE_CLOUD_PROJECT"),
        required("MEMORY_BANK_LOCATION"),
        required("MEMORY_BANK_ID"),
    )


def has_memory() -> bool:
    """Whether what users state is remembered beyond the conversation."""
    return chosen("SLIPWAY_MEMORY", ("bank", "none")) == "bank"


def _no_memory() -> BaseMemoryService:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse

    class NoMemory(BaseMemoryService):
        """Keeps nothing and finds nothing."""

        async def add_session_to_memory(self, session: Any) -> None:
            """Forgets it."""

        async def add_events_to_memory(self, **_: Any) -> None:
            """Forgets them."""

        async def search_memory(self, **_: Any) -> Any:
            """Finds nothing."""
            return SearchMemoryResponse()

    return NoMemory()


def _client(project: str | None, location: str | None, base: str) -> Any:
    """The SDK's asynchronous client; it loads and renews credentials on a thread of its own."""
    import agentplatform
    from google.genai.types import HttpOptions

    options = HttpOptions(base_url=base)
    return agentplatform.Client(project=project, location=location, http_options=options).aio


class _Credentials:
    """Application Default Credentials, loaded and renewed off the event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Any = None

    async def header(self) -> str:
        """The value of an Authorization header."""
        held = self._held
        if held is None or not held.valid:
            held = await asyncio.to_thread(self._renewed)
        return f"Bearer {held.token}"

    def _renewed(self) -> Any:
        import google.auth
        from google.auth.transport.requests import Request

        with self._lock:
            if self._held is None:
                self._held = google.auth.default(scopes=_SCOPES)[0]
            if not self._held.valid:
                self._held.refresh(Request())
            return self._held


_CREDENTIALS = _Credentials()


async def bearer() -> str:
    """This agent's own credentials, as the value of an Authorization header."""
    return await _CREDENTIALS.header()


class _PerLoop(httpx.AsyncBaseTransport):
    """Connections belong to the event loop that opened them; an agent may be called on several."""

    def __init__(self) -> None:
        self._transports: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, httpx.AsyncHTTPTransport
        ] = weakref.WeakKeyDictionary()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Sends it over the running loop's own connections."""
        loop = asyncio.get_running_loop()
        if loop not in self._transports:
            self._transports[loop] = httpx.AsyncHTTPTransport()
        answer = await self._transports[loop].handle_async_request(request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        answer.stream = _Bounded(answer.stream)
        return answer


class _Bounded(httpx.AsyncByteStream):
    """A body that ends with an error when it is longer than A2A_BYTES."""

    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > A2A_BYTES:
                raise httpx.ReadError(f"the answer is longer than {A2A_BYTES} bytes")
            yield chunk

    async def aclose(self) -> None:
        """Closes the connection's part."""
        await self._stream.aclose()


def a2a_client() -> httpx.AsyncClient:
    """One client for all specialists: connections are kept, and every request has a deadline."""
    timeout = httpx.Timeout(A2A_SECONDS, connect=5.0)
    return httpx.AsyncClient(transport=_PerLoop(), timeout=timeout)
