"""Serves Terraform's plugin protocol 6 on a unix socket, for Terraform core to reattach to.

The provider stands in for `hashicorp/google`: same schema, same REST calls, and it reads back what
the server says. Like the real one it uses Terraform's legacy type system, in which what an apply
returns may differ from the plan in computed values.
"""

from __future__ import annotations

import json
import os
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from pyvider.protocols.tfprotov6.protobuf import tfplugin6_pb2_grpc as rpc

from services.emulator.provider.servicer import Provider

NAME = "registry.terraform.io/hashicorp/google"
THREADS = 16
"""Terraform walks ten resources at a time."""
MAX_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Plugin:
    """A running provider; `reattach` is the value of TF_REATTACH_PROVIDERS."""

    reattach: str
    server: Any

    def stop(self) -> None:
        """Stops serving."""
        self.server.stop(grace=0.5).wait()


def start(sock: Path, endpoint: str, schema: Path) -> Plugin:
    """Starts serving on `sock`; resources become REST calls to `endpoint`.

    Args:
        endpoint: base URL of the platform, for configurations that name no custom endpoint.
        schema: the google provider's schema (JSON).
    """
    limits = [
        ("grpc.max_receive_message_length", MAX_BYTES),
        ("grpc.max_send_message_length", MAX_BYTES),
    ]
    server = grpc.server(futures.ThreadPoolExecutor(THREADS), options=limits)
    rpc.add_ProviderServicer_to_server(Provider(schema, endpoint), server)
    server.add_insecure_port(f"unix:{sock}")
    server.start()
    address = {"Network": "unix", "String": str(sock)}
    plugin = {"Protocol": "grpc", "ProtocolVersion": 6, "Pid": os.getpid(), "Test": True}
    return Plugin(json.dumps({NAME: {**plugin, "Addr": address}}), server)
