"""Serves one entry point on Agent Runtime's container contract: what a deployed engine is, here.

    python -P runner.py --module M --object O --methods JSON --ready-fd N

The platform starts it in the unpacked archive, with the engine's environment, and holds the other
end of its standard input: when that closes, the platform is gone and so is this process. The port
(of the system's choice, loopback) is written to the descriptor `--ready-fd` once it serves.

    POST /api/reasoning_engine          {"class_method", "input"} -> {"output"}
    POST /api/stream_reasoning_engine   the same -> one JSON document a line
    and the object's own `rest_routes` (an A2aAgent's /a2a/…)
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib
import inspect
import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

STARTED = time.perf_counter()
KIT = Path(__file__).resolve().parents[2]
GRACE_SECONDS = 2
KEEP_ALIVE_SECONDS = 75
"""Longer than clients keep idle connections: else both close one at once, and a request is lost."""


def watch_platform() -> None:
    """Ends this process when standard input closes."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(1)


def isolate(folder: Path) -> None:
    """Makes `folder` the first place to import from, and the kit's checkout none."""
    sys.path.insert(0, str(KIT))
    from services.sdk import import_guarded

    import_guarded()
    sys.path[:] = [str(folder), *(p for p in sys.path if Path(p or ".").resolve() != KIT)]
    for name in [name for name in sys.modules if name.partition(".")[0] == "services"]:
        del sys.modules[name]


def load(module: str, name: str) -> Any:
    """Imports the entry point and sets it up, without collecting garbage (a tenth of the time)."""
    gc.disable()
    entry = getattr(importlib.import_module(module), name)
    if hasattr(entry, "set_up"):
        entry.set_up()
    gc.freeze()
    gc.enable()
    return entry


class Refused(Exception):
    """A call that the entry point cannot take: answered with 400."""


class Server:
    """The two endpoints over one entry point; only `methods` can be called."""

    def __init__(self, entry: Any, methods: list[str]) -> None:
        self._entry, self._methods = entry, methods

    async def query(self, request: Any) -> Any:
        """One answer."""
        from starlette.responses import Response

        try:
            output = await self._call(request)
            if hasattr(output, "__aiter__") or inspect.isgenerator(output):
                raise Refused("this method streams: use streamQuery")
            text = encoded({"output": output})
        except Refused as error:
            return refusal(400, "INVALID_ARGUMENT", str(error))
        except Exception as error:  # noqa: BLE001 - whatever the agent raises is the answer
            traceback.print_exc()
            return refusal(500, "INTERNAL", f"{type(error).__name__}: {error}")
        return Response(text, media_type="application/json")

    async def stream(self, request: Any) -> Any:
        """One line for each item; an error after the first travels in-band, as clients expect."""
        from starlette.responses import StreamingResponse

        try:
            output = await self._call(request)
        except Refused as error:
            return refusal(400, "INVALID_ARGUMENT", str(error))
        except Exception as error:  # noqa: BLE001 - whatever the agent raises is the answer
            traceback.print_exc()
            return refusal(500, "INTERNAL", f"{type(error).__name__}: {error}")
        return StreamingResponse(lines(output), media_type="application/json")

    async def _call(self, request: Any) -> Any:
        from starlette.concurrency import run_in_threadpool

        try:
            body = await request.json()
            name, arguments = body.get("class_method") or "query", body.get("input") or {}
        except (ValueError, AttributeError):
            raise Refused("the body is no JSON object") from None
        if name not in self._methods:
            known = ", ".join(self._methods)
            raise Refused(f"{name!r} is not one of the engine's class_methods: {known}")
        method = getattr(self._entry, name)
        try:
            inspect.signature(method).bind(**arguments)
        except TypeError as error:
            raise Refused(f"{name}: {error}") from None
        if inspect.iscoroutinefunction(method):
            return await method(**arguments)
        if inspect.isasyncgenfunction(method):
            return method(**arguments)
        output = await run_in_threadpool(method, **arguments)
        return await output if inspect.isawaitable(output) else output


async def lines(output: Any) -> AsyncIterator[str]:
    """The items of a generator (or a single value), one JSON document a line."""
    from starlette.concurrency import iterate_in_threadpool

    try:
        if hasattr(output, "__aiter__"):
            items = output
        elif inspect.isgenerator(output):
            items = iterate_in_threadpool(output)
        else:
            items = _single(output)
        async for item in items:
            yield encoded(item) + "\n"
    except Exception as error:  # noqa: BLE001 - the status is sent; the error must travel in-band
        traceback.print_exc()
        message = f"{type(error).__name__}: {error}"
        yield encoded({"error": {"code": 500, "message": message, "status": "INTERNAL"}}) + "\n"


async def _single(output: Any) -> AsyncIterator[Any]:
    yield output


def encoded(value: Any) -> str:
    """JSON; models by their own dump, what is no JSON as text."""
    return json.dumps(value, default=plain)


def plain(value: Any) -> Any:
    """What json cannot encode, as something that it can."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return dict(value.__dict__) if hasattr(value, "__dict__") else str(value)


def refusal(code: int, status: str, message: str) -> Any:
    """An error in Google's shape."""
    from starlette.responses import JSONResponse

    body = {"error": {"code": code, "message": message, "status": status}}
    return JSONResponse(body, status_code=code)


async def serve(entry: Any, methods: list[str], ready_fd: int) -> None:
    """Serves until SIGTERM; says on `ready_fd` when it does."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.routing import Route

    api = Server(entry, methods)
    routes = [
        Route("/api/reasoning_engine", api.query, methods=["POST"]),
        Route("/api/stream_reasoning_engine", api.stream, methods=["POST"]),
        *getattr(entry, "rest_routes", []),
    ]
    # Named TCP: asyncio turns Nagle's delay (40 ms a small answer) off only for what says it is.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    config = uvicorn.Config(
        Starlette(routes=routes),
        log_level="warning",
        access_log=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not task.done():
        await asyncio.sleep(0.005)
    os.write(ready_fd, f"{listener.getsockname()[1]}\n".encode())
    os.close(ready_fd)
    sys.stderr.write(f"serving after {time.perf_counter() - STARTED:.2f} s\n")
    await task


def main() -> None:
    """Loads the entry point and serves it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--module", required=True)
    parser.add_argument("--object", required=True)
    parser.add_argument(
        "--methods", required=True, help="JSON list of the names that may be called"
    )
    parser.add_argument("--ready-fd", type=int, required=True)
    args = parser.parse_args()
    # First of all: an import that hangs must not outlive the platform.
    threading.Thread(target=watch_platform, daemon=True).start()
    isolate(Path.cwd())
    entry = load(args.module, args.object)
    asyncio.run(serve(entry, json.loads(args.methods), args.ready_fd))


if __name__ == "__main__":
    main()
