"""Source archives: decoded, kept by digest, and unpacked without leaving the folder."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import shutil
import tarfile
import zlib
from pathlib import Path

from services.emulator.errors import ApiError, invalid

MAX_BYTES = 512 * 1024 * 1024
MAX_FILES = 20_000
FIELD = "spec.source_code_spec.inline_source.source_archive"


def decode(text: str) -> bytes:
    """The bytes of a base64 field, plain or URL-safe, padded or not.

    Raises:
        ApiError: INVALID_ARGUMENT.
    """
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise invalid(f"Invalid value at '{FIELD}': base64 decoding failed.") from None


def digest(blob: bytes) -> str:
    """What an archive is kept under: its SHA-256 in hexadecimal."""
    return hashlib.sha256(blob).hexdigest()


def keep(folder: Path, blob: bytes) -> None:
    """Stores an archive in the folder, in one step."""
    folder.mkdir(parents=True, exist_ok=True)
    target = path(folder, digest(blob))
    partial = target.with_suffix(".partial")
    partial.write_bytes(blob)
    partial.replace(target)


def path(folder: Path, sha256: str) -> Path:
    """Where `keep` puts the archive with this digest."""
    return folder / f"{sha256}.tar.gz"


def unpack(blob: bytes, target: Path) -> None:
    """Unpacks a tar (gzip or not) into `target`, which is made.

    Raises:
        ApiError: INVALID_ARGUMENT; it is no tar, too large, or would write outside `target`.
    """
    target.mkdir(parents=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(blob)) as tar:
            size = count = 0
            for member in tar:
                count, size = count + 1, size + member.size
                if size > MAX_BYTES or count > MAX_FILES:
                    raise invalid(
                        f"{FIELD} unpacks to more than {MAX_BYTES >> 20} MiB or {MAX_FILES} files."
                    )
                tar.extract(member, target, filter="data")
    except (tarfile.TarError, zlib.error, OSError, EOFError) as error:
        raise invalid(f"{FIELD} cannot be unpacked: {error}") from None
    except ApiError:
        shutil.rmtree(target, ignore_errors=True)
        raise
