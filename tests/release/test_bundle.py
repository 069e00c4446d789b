"""The same sources give the same bundle, whoever builds it, where, when and how."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from infra import manifest
from infra.errors import PackageError
from services.release import bundle, sources
from services.release.sources import SourceFile
from tests.release.checkouts import FILES, write_checkout

NOTHING: Mapping[str, str] = {}
DIGEST = """
import sys
from pathlib import Path
from infra import manifest
from services.release import bundle, sources
root = Path(sys.argv[1])
files = sources.collect(root, manifest.load(root, "router"))
tar = bundle.canonical_tar(files)
print(bundle.digest(tar), bundle.digest(bundle.compress(tar, files, "router")))
"""


def digests(root: Path, *, umask: int | None = None, env: Mapping[str, str] = NOTHING) -> str:
    """Digests of tar and archive of the agent `router`, made in a process of its own."""
    command = [sys.executable, "-c", DIGEST, str(root)]
    if umask is not None:
        command = ["sh", "-c", f'umask {umask:03o}; exec "$0" "$@"', *command]
    done = subprocess.run(
        command, env={**os.environ, **env}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkout(tmp_path_factory.mktemp("one") / "checkout")


@pytest.fixture(scope="module")
def expected(original: Path) -> str:
    return digests(original, env={"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"})


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONHASHSEED": "2"},
        {"TZ": "Pacific/Kiritimati"},
        {"LC_ALL": "tr_TR.UTF-8"},
        {"LC_ALL": "C"},
        {"USER": "someone-else", "HOME": "/nowhere"},
        {"SOURCE_DATE_EPOCH": "1"},
    ],
    ids=str,
)
def test_the_process_environment_does_not_matter(
    original: Path, expected: str, env: dict[str, str]
) -> None:
    assert digests(original, env=env) == expected


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_umask_does_not_matter(original: Path, expected: str, umask: int) -> None:
    assert digests(original, umask=umask) == expected


def test_path_file_times_modes_and_order_of_creation_do_not_matter(
    tmp_path: Path, expected: str
) -> None:
    root = tmp_path / "another, deeper" / "place"
    names = list(FILES)
    random.Random(5).shuffle(names)
    for age, name in enumerate(names):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILES[name], encoding="utf-8")
        os.utime(path, (10_000_000 + age, 20_000_000 + age))
        path.chmod(0o755 if age % 2 else 0o600)
    assert digests(root) == expected


def test_what_is_left_out_does_not_matter(original: Path, tmp_path: Path, expected: str) -> None:
    root = tmp_path / "copy"
    shutil.copytree(original, root)
    (root / "agents/router/.env").write_text("OTHER=1")
    (root / "agents/router/tests/test_agent.py").write_text("")
    (root / "agents/shared/unused.py").write_text("")
    toml = root / "agents/router/agent.toml"
    toml.write_text(toml.read_text() + "\n[scaling]\nmax_instances = 7\n")
    assert digests(root) == expected


@pytest.mark.parametrize(
    "name", ["agents/router/agent.py", "agents/shared/words.json", "agents/requirements.lock"]
)
def test_what_goes_in_does_matter(original: Path, tmp_path: Path, expected: str, name: str) -> None:
    root = tmp_path / "copy"
    shutil.copytree(original, root)
    (root / name).write_text((root / name).read_text() + "\n")
    assert digests(root) != expected


def test_the_tar_is_plain_and_its_name_is_its_sha256(checkout: Path) -> None:
    files = sources.collect(checkout, manifest.load(checkout, "router"))
    tar = bundle.canonical_tar(files)
    archive = bundle.compress(tar, files, "router")
    assert gzip.decompress(archive) == tar
    assert archive[4:8] == b"\0\0\0\0", "gzip's time"
    assert bundle.digest(tar) == hashlib.sha256(tar).hexdigest()
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        entries = opened.getmembers()
    assert [entry.name for entry in entries] == sorted(file.path for file in files)
    facts = {(e.mode, e.uid, e.gid, e.uname, e.gname, e.mtime, e.type) for e in entries}
    assert facts == {(0o644, 0, 0, "", "", 0, tarfile.REGTYPE)}


def test_too_long_a_path_is_refused() -> None:
    file = SourceFile("x" * 101, "agents/x", b"")
    with pytest.raises(PackageError, match="too long"):
        bundle.canonical_tar([file])


def test_too_large_an_archive_names_the_largest_files() -> None:
    noise = random.Random(1).randbytes(7 * 1024 * 1024)  # 9.8 MB once base64 is laid over it
    files = [SourceFile("big.csv", "agents/x/big.csv", noise), SourceFile("a.py", "a.py", b"")]
    with pytest.raises(PackageError, match=r"Largest: agents/x/big.csv \(7.3 MB\)"):
        bundle.compress(bundle.canonical_tar(files), files, "x")
