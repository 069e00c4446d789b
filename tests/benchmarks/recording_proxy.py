"""A way to the local platform for tools that know only Google's hosts; it counts what they send.

    HTTPS_PROXY -> CONNECT -> TLS of a CA of its own -> the platform

A source with a Dockerfile is the one thing that the local platform refuses: it builds no images.
For such an update the rest of the spec is sent on, so that the platform's own operation takes the
ordered time; nothing is built and nothing runs. Variables that the runtime reserves are left out
too: agents-cli declares one of them (GOOGLE_CLOUD_LOCATION), and whether the cloud takes that with
an image is unverified.
"""

from __future__ import annotations

import asyncio
import base64
import datetime
import json
import ssl
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from infra.manifest import RESERVED_ENV

HOP = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass
class Recorded:
    """What was sent: (method, path, bytes of the body), and the archives of sources."""

    requests: list[tuple[str, str, int]] = field(default_factory=list)
    archives: list[bytes] = field(default_factory=list)

    def clear(self) -> None:
        """Forgets everything."""
        self.requests.clear()
        self.archives.clear()

    def summary(self) -> dict[str, Any]:
        """Requests, bytes and writes to Agent Runtime."""
        engine = [r for r in self.requests if "/reasoningEngines" in r[1] and r[0] != "GET"]
        return {
            "requests": len(self.requests),
            "bytes_sent": sum(size for _, _, size in self.requests),
            "engine_writes": len([r for r in engine if not r[1].endswith(":query")]),
        }


class RecordingProxy:
    """Serves in threads of its own until `stop`; `plain` is the address for tools that take one."""

    def __init__(self, platform: str, folder: Path) -> None:
        self.recorded = Recorded()
        self.ca = folder / "ca.pem"
        chain = _certificates(self.ca, folder / "leaf.pem")
        app = _app(platform, self.recorded)
        self._servers = [uvicorn.Server(_config(app, None)), uvicorn.Server(_config(app, chain))]
        for server in self._servers:
            threading.Thread(target=server.run, daemon=True).start()
        while not all(server.started for server in self._servers):
            threading.Event().wait(0.02)
        plain, tls = (s.servers[0].sockets[0].getsockname()[1] for s in self._servers)
        self.plain = f"http://127.0.0.1:{plain}"
        self.connect = _connect(tls)

    def stop(self) -> None:
        """Ends the servers; the CONNECT listener ends with the process."""
        for server in self._servers:
            server.should_exit = True


def _config(app: Starlette, chain: Path | None) -> uvicorn.Config:
    chained = str(chain) if chain is not None else None
    return uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", ssl_certfile=chained)


def _app(platform: str, recorded: Recorded) -> Starlette:
    client = httpx.AsyncClient(timeout=600, trust_env=False)

    async def forward(request: Request) -> Response:
        body = await request.body()
        recorded.requests.append((request.method, request.url.path, len(body)))
        query, body = _without_image(request.url.query, body, recorded)
        url = f"{platform}{request.url.path}" + (f"?{query}" if query else "")
        headers = {k: v for k, v in request.headers.items() if k not in HOP}
        answer = await client.request(request.method, url, content=body, headers=headers)
        kept = {
            k: v for k, v in answer.headers.items() if k.lower() not in {*HOP, "content-encoding"}
        }
        return Response(answer.content, answer.status_code, kept)

    return Starlette(routes=[Route("/{path:path}", forward, methods=METHODS)])


def _without_image(query: str, body: bytes, recorded: Recorded) -> tuple[str, bytes]:
    """Takes a Dockerfile's source out of a request, with what belongs to it."""
    if b"ource" not in body or b"rchive" not in body:
        return query, body
    try:
        sent = json.loads(body)
        spec = sent["spec"]
        key = next(k for k in ("sourceCodeSpec", "source_code_spec") if k in spec)
        inline = spec[key].get("inlineSource") or spec[key]["inline_source"]
        archive = inline.get("sourceArchive") or inline["source_archive"]
    except (ValueError, KeyError, TypeError, StopIteration):
        return query, body
    # The SDK writes the URL-safe alphabet, with or without its padding.
    recorded.archives.append(base64.urlsafe_b64decode(archive + "=" * (-len(archive) % 4)))
    if not any(name in spec[key] for name in ("imageSpec", "image_spec")):
        return query, body
    del spec[key]
    for name in ("classMethods", "class_methods", "agentFramework", "agent_framework"):
        spec.pop(name, None)
    deployment = spec.get("deploymentSpec") or spec.get("deployment_spec") or {}
    deployment["env"] = [e for e in deployment.get("env", []) if e["name"] not in RESERVED_ENV]
    kept = [part for part in query.split("&") if not part.startswith("updateMask")]
    mask = "updateMask=spec.deploymentSpec.env" if "updateMask" in query else ""
    return "&".join([*kept, *([mask] if mask else [])]), json.dumps(sent).encode()


def _connect(tls: int) -> str:
    """Starts the CONNECT listener; its address."""
    ready: list[str] = []
    started = threading.Event()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        host = head.split()[1].decode().partition(":")[0]
        if not host.endswith("googleapis.com"):  # a registry that is asked for a newer version
            writer.write(b"HTTP/1.1 403 Forbidden\r\n\r\n")
            writer.close()
            return
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", tls)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await asyncio.gather(pipe(reader, up_writer), pipe(up_reader, writer))

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        ready.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        started.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    started.wait()
    return ready[0]


def _certificates(ca_file: Path, leaf_file: Path) -> Path:
    """A CA and a certificate for Google's hosts, both for a day; returns chain and key."""
    ca, ca_key = _certificate("slipway benchmark", None, None)
    leaf, key = _certificate("googleapis.com", ca, ca_key)
    pem = serialization.Encoding.PEM
    ca_file.write_bytes(ca.public_bytes(pem))
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    leaf_file.write_bytes(leaf.public_bytes(pem) + private)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(leaf_file)
    return leaf_file


def _certificate(name: str, issuer: Any, issuer_key: Any) -> tuple[Any, Any]:
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    signer = (issuer_key or key).public_key()
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject if issuer is not None else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), False)
    )
    usage = x509.KeyUsage(True, False, False, False, False, issuer is None, False, False, False)
    made = made.add_extension(usage, True)
    if issuer is not None:
        names = [x509.DNSName("*.googleapis.com"), x509.DNSName("googleapis.com")]
        made = made.add_extension(x509.SubjectAlternativeName(names), False)
    return made.sign(issuer_key or key, hashes.SHA256()), key
