"""Which files make up an agent's bundle.

    agents/__init__.py           always
    agents/NAME/**/*.py          the agent's own code
    what `include` names         globs of agent.toml, relative to the agent's folder
    agents/**                    code that is imported from there, followed from import to import
    data files of shared code    a followed module outside the agent's folder takes with it each
                                 data file (DATA_SUFFIXES) beside or below it that it names, by
                                 relative path, in a string; and what a string of the form
                                 "agents/*/NAME.SUFFIX" matches
    requirements.txt             the lock that agent.toml names

Never: hidden files, caches, tests, evals, key files, and `agent.toml` itself: it says how the agent
is deployed, and a changed limit must not change the bundle. Imports are read from the source, so a
module that is only imported by a computed name is not followed; import it somewhere by its name.
"""

from __future__ import annotations

import ast
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from infra.errors import PackageError
from infra.manifest import FILE, FOLDER, AgentManifest

DATA_SUFFIXES = frozenset({".csv", ".json", ".sql", ".toml", ".txt", ".yaml", ".yml"})
LEFT_OUT_FOLDERS = frozenset({"__pycache__", "evals", "tests"})
KEY_SUFFIXES = frozenset({".jks", ".key", ".keystore", ".p12", ".pem", ".pfx"})
REQUIREMENTS = "requirements.txt"
# Two threads that parse at once can confuse CPython 3.11 (python/cpython#106905).
_PARSING = threading.Lock()


@dataclass(frozen=True)
class SourceFile:
    """One file of a bundle: its `path` there, where it comes `from_` (both posix), its bytes.

    `why` it is in is for people.
    """

    path: str
    from_: str
    data: bytes
    why: str = ""


def collect(root: Path, manifest: AgentManifest) -> tuple[SourceFile, ...]:
    """The files of the agent's bundle under the checkout `root`, sorted by path.

    Raises:
        PackageError: something that is named is not there, may not go in, or cannot be read.
    """
    return _Collector(root, manifest).run()


class _Collector:
    def __init__(self, root: Path, manifest: AgentManifest) -> None:
        self.root, self.manifest = root, manifest
        self.folder = root / FOLDER / manifest.name
        self.toml = (FOLDER / manifest.name / FILE).as_posix()
        self.modules: dict[Path, ast.Module] = {}
        self.data: set[Path] = set()
        self.why: dict[Path, str] = {}

    def run(self) -> tuple[SourceFile, ...]:
        own = self._walk(self.folder)
        self.why |= dict.fromkeys(self._entrypoint(), f"entrypoint of {self.toml}")
        code = {path for path in own if path.suffix == ".py"}
        self.why |= dict.fromkeys(code, "the agent's own code")
        self._follow(code | self._entrypoint())
        self.data |= self._included(own)
        for module in self.modules:
            if not module.is_relative_to(self.folder):
                named = self._named_data(module)
                self.data |= named
                self._because(named, f"named in {self._shown(module)}")
        paths = sorted({*self.modules, *self.data}, key=self._shown)
        files = [
            SourceFile(self._shown(p), self._shown(p), self._read(p), self.why.get(p, ""))
            for p in paths
        ]
        files.append(self._requirements())
        return tuple(sorted(files, key=lambda file: file.path))

    def _because(self, paths: Iterable[Path], why: str) -> None:
        """Notes why files are in; the first reason stays."""
        for path in paths:
            self.why.setdefault(path, why)

    def _shown(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _walk(self, folder: Path) -> set[Path]:
        """Files under `folder` that may go into a bundle."""
        found: set[Path] = set()
        for parent, folders, names in os.walk(folder):
            for name in folders:
                if (Path(parent) / name).is_symlink() and _may_go_in(name):
                    raise PackageError(
                        "is a symbolic link to a folder",
                        where=self._shown(Path(parent) / name),
                        fix="put the folder itself there; shared code belongs into agents/shared",
                    )
            folders[:] = [name for name in folders if _may_go_in(name)]
            found |= {Path(parent) / name for name in names if _file_may_go_in(name)}
        return found

    def _entrypoint(self) -> set[Path]:
        module = self.manifest.entrypoint.partition(":")[0]
        if not (files := self._resolve(module)) or not _is_module(files, module):
            expected = module.replace(".", "/") + ".py"
            raise PackageError(
                f"the entry point {self.manifest.entrypoint} has no source file {expected}",
                where=self.toml,
                fix=f'write {expected}, or correct entrypoint = "MODULE:OBJECT" in {self.toml}',
            )
        return files

    def _included(self, own: set[Path]) -> set[Path]:
        found: set[Path] = set()
        for pattern in self.manifest.include:
            parts = PurePosixPath(pattern)
            if not pattern or parts.is_absolute() or ".." in parts.parts:
                raise PackageError(
                    f"include = {pattern!r} leads out of the agent's folder",
                    where=self.toml,
                    fix=f"name files below {self._shown(self.folder)}/",
                )
            matches = set(self.folder.glob(pattern)) & own
            if not matches:
                raise PackageError(
                    f"include = {pattern!r} matches no file that may go into a bundle",
                    where=self.toml,
                    fix="correct the pattern, or remove it",
                )
            found |= matches
            self._because(matches, f"include = {pattern!r}")
        return found

    def _follow(self, start: set[Path]) -> None:
        """Reads modules, and what they import of `agents`, until there is nothing new."""
        always = self._resolve("agents")
        self._because(always, "always")
        waiting = sorted(start | always)
        while waiting:
            path = waiting.pop()
            if path in self.modules:
                continue
            self.modules[path] = self._parse(path)
            package = path.relative_to(self.root).parent.parts
            for name in _imports(self.modules[path], package):
                found = self._resolve(name) - self.modules.keys()
                self._because(found, f"imported by {self._shown(path)}")
                waiting += sorted(found)

    def _resolve(self, dotted: str) -> set[Path]:
        """Source files that importing `agents.x.y` runs; a last part may be a name in a module."""
        parts = dotted.split(".")
        if parts[0] != FOLDER.name or not all(part.isidentifier() for part in parts):
            return set()
        candidates = [
            self.root.joinpath(*parts[:i], "__init__.py") for i in range(1, len(parts) + 1)
        ]
        candidates += [
            self.root.joinpath(*parts[: i - 1], f"{parts[i - 1]}.py")
            for i in range(2, len(parts) + 1)
        ]
        return {path for path in candidates if path.is_file()}

    def _parse(self, path: Path) -> ast.Module:
        source = self._read(path)
        try:
            with _PARSING:
                return ast.parse(source)
        except SyntaxError as error:
            raise PackageError(
                f"not valid Python: {error.msg}",
                where=f"{self._shown(path)}:{error.lineno or 1}",
                fix=f"edit {self._shown(path)}",
            ) from None
        except ValueError as error:
            raise PackageError(
                f"not valid Python: {error}", where=self._shown(path), fix="save it as UTF-8 text"
            ) from None

    def _named_data(self, module: Path) -> set[Path]:
        """Data files that `module` names in a string: beside or below it, or one of each agent."""
        found: set[Path] = set()
        for node in ast.walk(self.modules[module]):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            name = PurePosixPath(node.value)
            if name.suffix not in DATA_SUFFIXES or name.is_absolute() or ".." in name.parts:
                continue
            allowed = all(map(_may_go_in, name.parts[:-1])) and _file_may_go_in(name.name)
            if allowed and name.parts[:-1] == (FOLDER.name, "*"):
                found |= {path for path in self.root.glob(node.value) if _may_go_in(path.parts[-2])}
                continue
            path = module.parent / name
            if allowed and len(node.value) < 256 and path.is_file():
                found.add(path)
        return found

    def _read(self, path: Path) -> bytes:
        shown = self._shown(path)
        if path.suffix in KEY_SUFFIXES:
            raise PackageError(
                "looks like a key; keys never go into a bundle",
                where=shown,
                fix="keep it in Secret Manager and name the secret in [secrets] of agent.toml",
            )
        if not path.resolve().is_relative_to((self.root / FOLDER).resolve()):
            raise PackageError(
                f"is a symbolic link that leads out of {FOLDER}/",
                where=shown,
                fix="put a copy of the file there",
            )
        try:
            return path.read_bytes()
        except OSError as error:
            raise PackageError(
                f"cannot be read: {error.strerror}", where=shown, fix="make the file readable"
            ) from None

    def _requirements(self) -> SourceFile:
        named = self.manifest.requirements
        path = (self.root / named).resolve()
        if not path.is_file() or not path.is_relative_to(self.root.resolve()):
            raise PackageError(
                f"requirements = {named!r} is no file of this checkout",
                where=self.toml,
                fix="name the lock of the agent's dependencies, or write it with scripts/lock",
            )
        why = f"requirements of {self.toml}"
        return SourceFile(REQUIREMENTS, named, path.read_bytes(), why)


def _may_go_in(name: str) -> bool:
    return not name.startswith(".") and name not in LEFT_OUT_FOLDERS


def _file_may_go_in(name: str) -> bool:
    a_test = name.endswith(".py") and (name.startswith("test_") or name == "conftest.py")
    return not name.startswith(".") and not name.endswith(".pyc") and name != FILE and not a_test


def _is_module(files: set[Path], module: str) -> bool:
    """Whether the last part of `module` is itself one of the files, not only its parents."""
    last = module.rpartition(".")[2]
    return any(
        path.stem == last or (path.name == "__init__.py" and path.parent.name == last)
        for path in files
    )


def _imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[str]:
    """Dotted names that a module of `package` imports; from-imports with each of their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            base += node.module.split(".") if node.module else []
            yield from (".".join([*base, alias.name]) for alias in node.names)
