"""Serves Terraform's plugin protocol 6 on a unix socket, for Terraform core to reattach to."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from services.emulator.provider.protocol import SERVICE, pb
from services.emulator.provider.servicer import Servicer, guarded

SOURCE = "registry.terraform.io/hashicorp/google"
THREADS = 16  # Terraform core makes ten calls at once
MAX_BYTES = 256 << 20  # a state may hold source archives
STOP_SECONDS = 2.0


@dataclass
class Plugin:
    """A running provider; `reattach` is the value of TF_REATTACH_PROVIDERS."""

    reattach: str
    _server: Any

    def stop(self) -> None:
        """Stops serving; what still runs is cut off after STOP_SECONDS."""
        self._server.stop(STOP_SECONDS).wait()


def start(sock: Path, endpoint: str, schema: Path) -> Plugin:
    """Starts serving on `sock`; resources become REST calls to `endpoint`."""
    server = grpc.server(
        ThreadPoolExecutor(THREADS, thread_name_prefix="terraform"),
        options=[
            ("grpc.max_receive_message_length", MAX_BYTES),
            ("grpc.max_send_message_length", MAX_BYTES),
        ],
    )
    server.add_generic_rpc_handlers((_handlers(Servicer(endpoint, schema)),))
    server.add_insecure_port(f"unix:{sock}")
    server.start()
    sock.chmod(0o600)
    address = {"Network": "unix", "String": str(sock)}
    # "Test" keeps Terraform from ending this process when it is done with it.
    reattach = {
        "Protocol": "grpc",
        "ProtocolVersion": 6,
        "Pid": os.getpid(),
        "Test": True,
        "Addr": address,
    }
    return Plugin(json.dumps({SOURCE: reattach}), server)


def _handlers(servicer: Servicer) -> Any:
    methods = {
        "GetMetadata": servicer.get_metadata,
        "GetProviderSchema": servicer.get_schema,
        "ValidateProviderConfig": servicer.validate_provider,
        "ConfigureProvider": servicer.configure,
        "ValidateResourceConfig": servicer.validate_resource,
        "UpgradeResourceState": servicer.upgrade,
        "ReadResource": servicer.read,
        "PlanResourceChange": servicer.plan,
        "ApplyResourceChange": servicer.apply,
        "ImportResourceState": servicer.import_,
        "StopProvider": servicer.stop,
    }
    handlers = {}
    for name, method in methods.items():
        message = getattr(pb, name)
        handlers[name] = grpc.unary_unary_rpc_method_handler(
            guarded(method, message.Response),
            request_deserializer=message.Request.FromString,
            response_serializer=message.Response.SerializeToString,
        )
    return grpc.method_handlers_generic_handler(SERVICE, handlers)
