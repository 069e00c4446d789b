"""Deployments: an operation that ends when the changed engine serves, or that says why it does not.

The engine is changed only when the new process serves; until then, and when it does not, the old
one goes on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from services.emulator import archives, engines, launches, revisions
from services.emulator.errors import ApiError, invalid
from services.emulator.platform import Platform
from services.emulator.processes import Running, StartError
from services.emulator.state import Body

WAIT_SECONDS = 30.0
Change = Callable[[], tuple[Body, Body]]
LOG = logging.getLogger("slipway.platform")

# The variables that Agent Runtime sets itself, by its documentation on deploying with variables.
RESERVED = frozenset(
    {
        "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_QUOTA_PROJECT",
        "GOOGLE_CLOUD_AGENT_ENGINE_ID", "GOOGLE_CLOUD_AGENT_ENGINE_LOCATION",
        "GOOGLE_APPLICATION_CREDENTIALS", "PORT", "K_SERVICE", "K_REVISION", "K_CONFIGURATION",
    }
)  # fmt: skip
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")


def check(spec: Body) -> None:
    """What the API refuses before it starts an operation.

    Raises:
        ApiError: INVALID_ARGUMENT, or UNIMPLEMENTED for what only the cloud can run.
    """
    source = spec.get("sourceCodeSpec", {})
    for field in ("containerSpec", "packageSpec"):
        if field in spec:
            raise _unsupported(f"spec.{field}")
    for field in ("imageSpec", "developerConnectSource", "agentConfigSource"):
        if field in source:
            raise _unsupported(f"spec.sourceCodeSpec.{field}")
    _check_variables(spec.get("deploymentSpec", {}))
    if not source:
        return
    if not source.get("inlineSource", {}).get("sourceArchive"):
        raise invalid(f"{archives.FIELD} is required when the mask replaces the source.")
    methods = spec.get("classMethods")
    if not methods or not all(isinstance(item, dict) and item.get("name") for item in methods):
        raise invalid("spec.class_methods is required with spec.source_code_spec, with names.")
    version = source.get("pythonSpec", {}).get("version")
    if version and version not in PYTHONS:
        raise invalid(f"spec.source_code_spec.python_spec.version {version!r} is not supported.")


def _check_variables(deployment: Body) -> None:
    seen: set[str] = set()
    for item in [*deployment.get("env", []), *deployment.get("secretEnv", [])]:
        name = item.get("name")
        if not name or not isinstance(name, str):
            raise invalid("spec.deployment_spec: a variable has no name.")
        if name in RESERVED:
            raise invalid(f"spec.deployment_spec: the environment variable {name} is reserved.")
        if name in seen:
            raise invalid(f"spec.deployment_spec: {name} is declared more than once.")
        seen.add(name)


def _unsupported(field: str) -> ApiError:
    return ApiError(
        "UNIMPLEMENTED", f"The local platform runs Python source only; {field} needs the cloud."
    )


async def deploy(
    platform: Platform,
    operation: str,
    change: Change,
    blob: bytes | None,
) -> None:
    """Starts the changed engine and keeps the change; ends `operation` in any case.

    Args:
        change: returns the engine as it shall be kept, and the operation's response. It is called
            on the engine as it is at that time, so that other fields may change meanwhile.
        blob: the archive, if the change brings one.
    """
    name = operation.rpartition("/operations/")[0]
    await platform.operations.build(operation)
    try:
        async with platform.processes.lock(name):
            if platform.operations.fails(operation):
                raise ApiError("INTERNAL", "This failure was ordered.")
            body, _ = change()
            if engines.digest(body) is None:
                platform.processes.stop(name)
                revisions.remove_all(platform.store, name)
            else:
                await _replace(platform, body, blob)
            body, response = change()
            platform.store.put(engines.KIND, name, body)
            launches.tidy(platform, body)
            platform.processes.stop(name, keep=_wanted(platform, body))
        platform.operations.succeed(operation, response)
    except ApiError as error:
        platform.operations.fail(operation, error.status, f"{name}: {error.message}")
    except StartError as error:
        platform.operations.fail(operation, "INVALID_ARGUMENT", f"{name}: {error}")
    except Exception:
        # An operation must end, and its client is told no more than this.
        LOG.exception("deploying %s", name)
        platform.operations.fail(operation, "INTERNAL", f"{name}: internal error; see the log.")


async def _replace(platform: Platform, body: Body, blob: bytes | None) -> None:
    name, digest = str(body["name"]), str(engines.digest(body))
    folder = launches.files(platform, name)
    if blob is None:
        blob = archives.path(folder, digest).read_bytes()
    revision = platform.store.next_id(f"revision/{name}", 1)
    try:
        running = await _start(platform, body, blob, revision)
    except BaseException:
        launches.discard(platform, name, revision)
        raise
    archives.keep(folder, blob)
    revisions.record(platform.store, body, revision)
    platform.processes.add(running)


async def _start(platform: Platform, body: Body, blob: bytes, revision: int) -> Running:
    launch = await launches.prepare(platform, body, blob, revision)
    return await platform.processes.start(launch)


def route_traffic(platform: Platform, body: Body) -> None:
    """Ends the processes of revisions that have no traffic any more."""
    platform.processes.stop(str(body["name"]), keep=_wanted(platform, body))


def _wanted(platform: Platform, body: Body) -> set[str]:
    """The revisions whose processes stay: those with traffic, and the latest."""
    latest = [str(r["name"]) for r in revisions.of(platform.store, str(body["name"]))[-1:]]
    return {*revisions.split(platform.store, body), *latest}


async def serving(platform: Platform, name: str, revision: str | None = None) -> Running:
    """The process that answers: of `revision`, or of the one that traffic goes to.

    One that has ended is started again, one that starts is waited for.

    Raises:
        ApiError: FAILED_PRECONDITION when nothing is deployed, UNAVAILABLE when it does not start.
    """
    if revision is None and (tree := platform.trees.get(name)) is not None and tree.alive:
        return tree
    revision = revision or revisions.choose(platform.store, _deployed(platform, name))
    if (running := platform.processes.current(revision)) is not None:
        return running
    task = asyncio.create_task(_restart(platform, name, revision))
    try:
        return await asyncio.wait_for(asyncio.shield(task), WAIT_SECONDS)
    except TimeoutError:
        task.add_done_callback(lambda late: late.cancelled() or late.exception())
        raise ApiError("UNAVAILABLE", f"{name} is still starting; try again.") from None
    except (ApiError, StartError) as error:
        raise ApiError("UNAVAILABLE", f"{name} does not start: {error}") from None


async def _restart(platform: Platform, name: str, revision: str) -> Running:
    async with platform.processes.lock(name):
        if (running := platform.processes.current(revision)) is not None:
            return running
        body, kept = _deployed(platform, name), revisions.find(platform.store, revision)
        blob = archives.path(launches.files(platform, name), str(engines.digest(kept))).read_bytes()
        spec = {**body["spec"], **kept["spec"]}
        number = revisions.number_of(revision)
        running = await _start(platform, {**body, "spec": spec}, blob, number)
        platform.processes.add(running)
        return running


def _deployed(platform: Platform, name: str) -> Body:
    body = platform.store.get(engines.KIND, name)
    if body is None or engines.digest(body) is None:
        raise ApiError("FAILED_PRECONDITION", f"{name} has no deployed source.")
    return body


async def start_all(platform: Platform) -> None:
    """Starts every engine that was deployed; one that does not start is tried again when asked."""
    wanted = [
        (str(body["name"]), revision)
        for body in platform.store.list(engines.KIND)
        if engines.digest(body)
        for revision, percent in revisions.split(platform.store, body).items()
        if percent
    ]
    starting = (serving(platform, name, revision) for name, revision in wanted)
    results = await asyncio.gather(*starting, return_exceptions=True)
    for (_, revision), result in zip(wanted, results, strict=True):
        if isinstance(result, BaseException):
            LOG.warning("%s does not serve: %s", revision, result)


async def serve_tree(platform: Platform, name: str, tree: Path) -> Running:
    """Lets a working tree answer for an engine; the tree of before goes on if this one fails.

    Raises:
        ApiError: FAILED_PRECONDITION when nothing is deployed, INVALID_ARGUMENT with the log's last
            lines when it does not serve.
    """
    async with platform.processes.lock(name):
        launch = launches.prepare_tree(platform, _deployed(platform, name), tree)
        try:
            running = await platform.processes.start(launch)
        except StartError as error:
            raise invalid(str(error)) from None
        before = platform.trees.get(name)
        platform.trees[name] = running
        if before is not None:
            platform.processes.retire(before)
        return running


def drop_tree(platform: Platform, name: str) -> None:
    """Lets what is deployed answer again."""
    running = platform.trees.pop(name, None)
    if running is not None:
        platform.processes.retire(running)
