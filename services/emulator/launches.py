"""What a deployed engine is started with: its unpacked source, its environment, its identity.

    files/engines/ID/DIGEST.tar.gz    the archive that was deployed
    files/engines/ID/REVISION/        unpacked; REVISION.home and REVISION.log beside it

An engine's environment gets the project's ID, not its number.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from pathlib import Path

from services.emulator import archives, requirements, revisions, secretmanager
from services.emulator.access import Access
from services.emulator.errors import ApiError, invalid
from services.emulator.platform import Platform
from services.emulator.processes import Account, Launch
from services.emulator.state import Body

KEPT_SOURCES, KEPT_LOGS = 3, 10


def files(platform: Platform, name: str) -> Path:
    """The engine's folder."""
    return platform.store.files / "engines" / name.rpartition("/")[2]


def account_of(platform: Platform, body: Body) -> Account:
    """The engine's service account; by default the service agent that Google makes for engines."""
    _, number, _, region, *_ = str(body["name"]).split("/")
    default = f"service-{number}@gcp-sa-aiplatform-re.iam.gserviceaccount.com"
    email = body.get("spec", {}).get("serviceAccount") or default
    known = platform.store.list("project")
    project = next((p["projectId"] for p in known if p["projectNumber"] == number), number)
    return Account(str(project), number, str(email), region)


async def prepare(platform: Platform, body: Body, blob: bytes, revision: int) -> Launch:
    """Unpacks the archive, checks its requirements and reads the secrets.

    Raises:
        ApiError: any of these cannot be done.
    """
    name = str(body["name"])
    folder = files(platform, name) / str(revision)
    python = body["spec"]["sourceCodeSpec"].get("pythonSpec", {})
    await asyncio.to_thread(_unpack, blob, folder, python.get("requirementsFile"))
    return _launch(platform, body, folder, folder, revisions.name_of(name, revision))


def prepare_tree(platform: Platform, body: Body, tree: Path) -> Launch:
    """The same for a working tree: nothing is unpacked, its log and home lie with the platform's.

    Raises:
        ApiError: a secret cannot be read.
    """
    name = str(body["name"])
    beside = platform.store.files / "dev" / name.rpartition("/")[2]
    beside.parent.mkdir(parents=True, exist_ok=True)
    return _launch(platform, body, tree, beside, f"{name}/runtimeRevisions/dev")


def _launch(platform: Platform, body: Body, folder: Path, beside: Path, revision: str) -> Launch:
    """Args: beside: a path whose `.log` and `.home` are the process's."""
    spec, name = body["spec"], str(body["name"])
    python = spec["sourceCodeSpec"].get("pythonSpec", {})
    account = account_of(platform, body)
    key = f"{name.rpartition('/')[2]}-{secrets.token_urlsafe(12)}"
    env = _runtime_env(platform, name, beside, account, key)
    env |= {item["name"]: str(item.get("value", "")) for item in _variables(spec, "env")}
    hidden = _secret_env(platform, account, spec)
    return Launch(
        engine=name,
        revision=revision,
        folder=folder,
        log=beside.with_suffix(".log"),
        module=python.get("entrypointModule", "agent"),
        object=python.get("entrypointObject", "root_agent"),
        methods=tuple(str(method["name"]) for method in spec["classMethods"]),
        env=env | hidden,
        account=account,
        key=key,
        secrets=tuple(value for value in hidden.values() if value),
    )


def _unpack(blob: bytes, folder: Path, wanted: str | None) -> None:
    """Runs on a thread."""
    shutil.rmtree(folder, ignore_errors=True)
    archives.unpack(blob, folder)
    file = (folder / (wanted or "requirements.txt")).resolve()
    if file.is_relative_to(folder.resolve()) and file.is_file():
        requirements.check(file.read_text(encoding="utf-8", errors="replace"), file.name)
    elif wanted:
        raise invalid(f"The archive has no file {wanted!r}, which requirements_file names.")


def _runtime_env(
    platform: Platform, name: str, folder: Path, account: Account, key: str
) -> dict[str, str]:
    """What the runtime itself sets. HOME is a folder of the engine's own: a laptop's credentials
    lie in the person's home, and must not become the agent's."""
    home = folder.with_suffix(".home")
    home.mkdir(exist_ok=True)
    # Both: google-auth asks for tokens at the host, and probes for a server at the "IP".
    metadata = f"{platform.endpoint.removeprefix('http://')}/_metadata/{key}"
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(home),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GOOGLE_CLOUD_PROJECT": account.project,
        "GOOGLE_CLOUD_LOCATION": account.region,
        "GOOGLE_CLOUD_AGENT_ENGINE_ID": name.rpartition("/")[2],
        "GOOGLE_CLOUD_AGENT_ENGINE_LOCATION": account.region,
        "GCE_METADATA_HOST": metadata,
        "GCE_METADATA_IP": metadata,
    }


def _variables(spec: Body, field: str) -> list[Body]:
    return list(spec.get("deploymentSpec", {}).get(field, []))


def _secret_env(platform: Platform, account: Account, spec: Body) -> dict[str, str]:
    """Values of the secret variables, read now as the engine's account.

    Raises:
        ApiError: a secret or its version does not exist, may not be read, or is no text.
    """
    values: dict[str, str] = {}
    for item in _variables(spec, "secretEnv"):
        reference = item.get("secretRef", {})
        secret = str(reference.get("secret", "")).rpartition("/")[2]
        version = str(reference.get("version") or "latest")
        what = f"the variable {item['name']} refers to the secret {secret!r}, version {version}"
        try:
            resource = f"projects/{account.number}/secrets/{secret}"
            who, permission = f"serviceAccount:{account.email}", "secretmanager.versions.access"
            value = secretmanager.access(platform, account.project, secret, version)
            Access(platform).require(who, permission, resource)
            values[item["name"]] = value.decode()
        except ApiError as error:
            raise ApiError(error.status, f"{what}: {error.message}") from None
        except UnicodeDecodeError:
            raise invalid(f"{what}, which is no text.") from None
    return values


def tidy(platform: Platform, body: Body) -> None:
    """Keeps the archives of all revisions that are kept, the newest sources and the newest logs.

    A source stays for a while: a process that still answers may import from it, and one that is
    asked again has it unpacked anew.
    """
    name = str(body["name"])
    folder = files(platform, name)
    wanted = {archives.path(folder, digest) for digest in revisions.prune(platform.store, body)}
    for archive in folder.glob("*.tar.gz"):
        if archive not in wanted:
            archive.unlink()
    serving = {revisions.number_of(r) for r in revisions.split(platform.store, body)}
    numbers = sorted((int(log.stem) for log in folder.glob("*.log")), reverse=True)
    for number in numbers[KEPT_SOURCES:]:
        if number not in serving:
            discard(platform, name, number)
    for number in numbers[KEPT_LOGS:]:
        if number not in serving:
            (folder / f"{number}.log").unlink()


def discard(platform: Platform, name: str, revision: int) -> None:
    """Removes a revision's unpacked source and home; its log stays."""
    folder = files(platform, name)
    shutil.rmtree(folder / str(revision), ignore_errors=True)
    shutil.rmtree(folder / f"{revision}.home", ignore_errors=True)


def remove(platform: Platform, name: str) -> None:
    """Removes all of an engine's files."""
    shutil.rmtree(files(platform, name), ignore_errors=True)
