"""Runs the local platform: `python -m services.emulator --state DIR --schema FILE [--port N]`.

Writes `DIR/platform.json` once it serves: pid, endpoint, Terraform's reattach address, checkout.
Ends on SIGTERM or SIGINT; a second instance over the same state refuses.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import json
import os
import signal
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from services.emulator.platform import Platform
from services.emulator.provider import server as provider
from services.emulator.server import create_app
from services.emulator.state import Store, now

READY_FILE = "platform.json"


def main() -> int:
    """Parses the arguments and serves until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m services.emulator", description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="folder that holds the state")
    parser.add_argument(
        "--schema", type=Path, required=True, help="the google provider's schema (JSON)"
    )
    parser.add_argument("--port", type=int, default=0, help="loopback port; 0: any free one")
    args = parser.parse_args()
    args.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = (args.state / "lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        print(f"another platform runs over {args.state}", file=sys.stderr)  # noqa: T201
        return 1
    # Named TCP: asyncio turns Nagle's delay (40 ms a small answer) off only for what says it is.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", args.port))
    except OSError as error:
        print(f"port {args.port}: {error.strerror}", file=sys.stderr)  # noqa: T201
        return 1
    listener.listen(128)
    try:
        asyncio.run(serve(args.state, args.schema, listener))
    except sqlite3.DatabaseError as error:
        print(f"the state in {args.state} cannot be used: {error}", file=sys.stderr)  # noqa: T201
        return 1
    return 0


class Rest(uvicorn.Server):
    """Leaves signals to us: uvicorn raises them again before anything is cleaned up."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def serve(state: Path, schema: Path, listener: socket.socket) -> None:
    """Serves REST on `listener` and Terraform's provider on a unix socket, until a signal."""
    endpoint = f"http://127.0.0.1:{listener.getsockname()[1]}"
    store = Store(state)
    platform = Platform(store, endpoint, schema)
    config = uvicorn.Config(
        create_app(platform),
        log_level="warning",
        access_log=False,
        # Longer than clients keep idle connections: else both close one at once, a request is lost.
        timeout_keep_alive=75,
        timeout_graceful_shutdown=3,
    )
    rest = Rest(config)
    # A unix socket's path has at most 107 bytes, and a checkout may lie deep: so a short folder.
    with tempfile.TemporaryDirectory(prefix="slipway-") as folder:
        plugin = provider.start(Path(folder) / "p.sock", endpoint, schema)
        ready = state / READY_FILE
        task = asyncio.create_task(rest.serve(sockets=[listener]))
        while not rest.started and not task.done():
            await asyncio.sleep(0.005)
        announce(ready, endpoint, plugin.reattach)
        try:
            await task
        finally:
            ready.unlink(missing_ok=True)
            plugin.stop()
            store.close()


def announce(path: Path, endpoint: str, reattach: str) -> None:
    """Writes the file that says the platform serves, in one step."""
    info = {
        "pid": os.getpid(),
        "endpoint": endpoint,
        "reattach": reattach,
        "checkout": str(Path.cwd()),
        "started": now(),
    }
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(info, indent=1))
    partial.chmod(0o600)
    partial.replace(path)


if __name__ == "__main__":
    sys.exit(main())
