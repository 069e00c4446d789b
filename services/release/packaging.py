"""From agents' folders to bundles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from infra.manifest import AgentManifest
from services.release import bundle, describe, leaks, lockfile, sources
from services.release.bundle import Bundle
from services.release.parallel import all_of

GOOGLES = frozenset({"google-adk", "google-cloud-aiplatform", "a2a-sdk"})
"""Packages whose versions a release names: they decide what an agent can be asked."""
AT_ONCE = 4
"""Agents that are packaged side by side; each takes a process of its own the first time."""


def package(root: Path, manifest: AgentManifest, cache: Path) -> Bundle:
    """Builds the bundle of one agent from the checkout `root`.

    Args:
        cache: folder for what describing a bundle found out (about a second of work).

    Raises:
        PackageError: something is missing, may not go in, is too large, or does not import.
    """
    files = sources.collect(root, manifest)
    leaks.refuse(files)
    requirements = next(file for file in files if file.path == sources.REQUIREMENTS)
    lock = requirements.data.decode("utf-8", "replace")
    pins = lockfile.require_pinned(lock, requirements.from_)
    tar = bundle.canonical_tar(files)
    archive = bundle.compress(tar, files, manifest.name)
    digest = bundle.digest(tar)
    if not describe.known(digest, manifest, cache):
        lockfile.require_whole(lock, requirements.from_, manifest.python)
    found = describe.describe(tar, digest, manifest, cache)
    return Bundle(
        agent=manifest.name,
        entrypoint=manifest.entrypoint,
        python=manifest.python,
        digest=digest,
        archive=archive,
        size=len(tar),
        files=len(files),
        tree=bundle.tree(files),
        requirements=bundle.digest(requirements.data),
        framework=found.framework,
        class_methods=found.class_methods,
        sha256=bundle.digests(files),
        versions={"python": manifest.python} | {name: pins[name] for name in GOOGLES & set(pins)},
        env=tuple(sorted(manifest.env)),
        secrets=tuple(sorted(manifest.secrets)),
    )


def package_all(
    root: Path, manifests: Mapping[str, AgentManifest], cache: Path, say: Callable[[str], None]
) -> dict[str, Bundle]:
    """Builds the bundles of all agents side by side; raises as `package` does."""

    def one(manifest: AgentManifest) -> Bundle:
        built = package(root, manifest, cache)
        say(f"{manifest.name}: bundle {built.digest[:12]}, {built.files} files")
        return built

    calls = {name: partial(one, manifest) for name, manifest in manifests.items()}
    return all_of(calls, at_most=AT_ONCE)
