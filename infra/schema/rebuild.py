"""Rebuilds `google.json` from the CDK's public typed bindings: a development step, run by hand.

    python -m infra.schema.rebuild            # writes google.json anew, for the types it holds
    python -m infra.schema.rebuild --check    # changes nothing; exit code 3 if it would
    python -m infra.schema.rebuild --add google_pubsub_subscription

No Terraform and no Google provider is needed: the bindings were generated from the provider's own
schema and still carry it. Their wheel (about 65 MB) holds JavaScript in which every argument of a
block is listed with its kind, and every attribute with a comment that says whether it is computed,
optional or required:

    // location - computed: false, optional: false, required: true
    location: { value: …, isBlock: false, type: "simple", storageClassType: "string" }
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

PACKAGE = "cdktn-provider-google==21.1.0"
"""The bindings, at the version that binds google 8.7.0."""
FILE = Path(__file__).with_name("google.json")
DOWNLOAD_SECONDS = 600

# One entry of a function or method that lists a block's arguments.
_ENTRY = re.compile(
    r"^\s+(?P<name>\w+): \{\n"
    r"\s+value: (?P<value>.+?),\n"
    r"\s+isBlock: (?P<block>true|false),\n"
    r'\s+type: "(?P<kind>\w+)",\n'
    r'\s+storageClassType: "(?P<storage>\w+)"',
    re.MULTILINE,
)
# The comment above an attribute's accessor, and the lines of the accessor that tell its type.
_FLAGS = re.compile(
    r"// (?P<name>\w+) - computed: (?P<computed>true|false), "
    r"optional: (?P<optional>true|false), required: (?P<required>true|false)\n"
    r"(?=(?P<body>(?:.*\n){1,3}))"
)
_MAPPER = re.compile(r"(?<![\w.])([a-z]\w+)ToHclTerraform")
_TYPES = {"string": "string", "number": "number", "boolean": "bool"}

Block = dict[str, Any]


@dataclass(frozen=True)
class Flags:
    """What a comment says about one attribute; `body` is the accessor below it."""

    computed: bool = False
    optional: bool = True
    required: bool = False
    body: str = ""


class Module:
    """The JavaScript of one resource type or of the provider."""

    def __init__(self, source: str) -> None:
        """Takes the text of an `index.js`."""
        self._source = source

    @cached_property
    def _classes(self) -> dict[str, str]:
        """The text of each class by its name."""
        starts = list(re.finditer(r"^class (\w+) extends", self._source, re.MULTILINE))
        ends = [*(match.start() for match in starts[1:]), len(self._source)]
        pairs = zip(starts, ends, strict=True)
        return {match[1]: self._source[match.start() : end] for match, end in pairs}

    def resource(self, type_: str) -> Block:
        """The schema of the class that stands for a resource type."""
        mark = f"terraformResourceType: '{type_}'"
        return self._root(next(name for name, text in self._classes.items() if mark in text))

    def provider(self) -> tuple[str, Block]:
        """The provider's version and its own schema."""
        name = next(name for name in self._classes if name.endswith("Provider"))
        version = re.search(r"providerVersion: '([\d.]+)'", self._classes[name])
        assert version is not None, "the bindings name the provider's version"
        return version[1], self._root(name)

    def _root(self, class_: str) -> Block:
        text = self._classes[class_]
        return self._block(text[text.rindex("synthesizeHclAttributes") :], class_)

    def _function(self, name: str) -> str:
        """The text of the function that writes a nested block."""
        start = self._source.index(f"function {name}ToHclTerraform(")
        return self._source[start : self._source.index("\n}\n", start)]

    def _flags(self, class_: str) -> dict[str, Flags]:
        """The flags in a class; a block without references to it has no class, and so none."""
        found = _FLAGS.finditer(self._classes.get(class_, ""))
        return {
            match["name"]: Flags(
                match["computed"] == "true",
                match["optional"] == "true",
                match["required"] == "true",
                match["body"],
            )
            for match in found
        }

    def _block(self, entries: str, class_: str) -> Block:
        flags = self._flags(class_)
        attributes: Block = {}
        blocks: Block = {}
        for entry in _ENTRY.finditer(entries):
            name = entry["name"]
            mapper = _MAPPER.search(entry["value"])
            if mapper and name == "timeouts":
                blocks[name] = {"nesting_mode": "single", "block": self._nested(mapper[1])}
            elif mapper and entry["block"] == "true":
                blocks[name] = self._nested_block(entry, mapper[1], flags.get(name, Flags()))
            else:
                type_ = _argument_type(entry["kind"], entry["storage"])
                attributes[name] = _attribute(type_, flags.get(name, Flags()))
        for name, flag in flags.items():
            only_computed = flag.computed and not flag.optional and not flag.required
            if only_computed and name not in attributes and name not in blocks:
                attributes[name] = {"type": _computed_type(flag.body), "computed": True}
        parts = {"attributes": attributes, "block_types": blocks}
        return {key: value for key, value in parts.items() if value}

    def _nested(self, mapper: str) -> Block:
        class_ = f"{mapper[0].upper()}{mapper[1:]}OutputReference"
        return self._block(self._function(mapper), class_)

    def _nested_block(self, entry: re.Match[str], mapper: str, flags: Flags) -> Block:
        found: Block = {"nesting_mode": entry["kind"], "block": self._nested(mapper)}
        if "listMapperHcl" not in entry["value"]:
            found["max_items"] = 1
        if flags.required:
            found["min_items"] = 1
        return found


def _argument_type(kind: str, storage: str) -> Any:
    """Terraform's type: `"string"`, or `["list", "string"]`."""
    if kind == "simple":
        return _TYPES.get(storage, "string")
    return [kind, _TYPES.get(re.sub(r"(Map|List|Set)+$", "", storage), "string")]


def _computed_type(body: str) -> Any:
    """The type of an attribute that nobody sets, from how its accessor reads it."""
    if "getNumberAttribute" in body:
        return "number"
    if "getBooleanAttribute" in body:
        return "bool"
    if "StringMap" in body:
        return ["map", "string"]
    return ["list", "string"] if "getListAttribute" in body else "string"


def _attribute(type_: Any, flags: Flags) -> Block:
    attribute: Block = {"type": type_}
    if flags.required:
        attribute["required"] = True
    elif flags.optional:
        attribute["optional"] = True
    if flags.computed:
        attribute["computed"] = True
    return attribute


def build(bindings: tarfile.TarFile, types: Iterable[str]) -> dict[str, Any]:
    """The schema of the provider and of `types`, from the bindings' package.

    The shape is that of `terraform providers schema -json`; `missing` lists the types that the
    bindings do not have.
    """
    folders = {type_: type_.removeprefix("google_").replace("_", "-") for type_ in sorted(types)}
    version, provider = _module(bindings, "provider").provider()
    there = {name.split("/")[2] for name in bindings.getnames() if name.count("/") >= 3}
    resources = {
        type_: {"version": 0, "block": _module(bindings, folder).resource(type_)}
        for type_, folder in folders.items()
        if folder in there
    }
    return {
        "missing": [type_ for type_ in folders if type_ not in resources],
        "provider": {"version": 0, "block": provider},
        "provider_version": version,
        "resource_schemas": resources,
    }


def _module(bindings: tarfile.TarFile, folder: str) -> Module:
    file = bindings.extractfile(f"package/lib/{folder}/index.js")
    assert file is not None, f"{folder} is a file in the bindings"
    return Module(file.read().decode())


def download(package: str, folder: Path) -> Path:
    """Downloads a wheel with pip, without what it depends on."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", str(folder)]
    subprocess.run([*command, package], check=True, timeout=DOWNLOAD_SECONDS)
    return next(folder.glob("*.whl"))


def read(wheel: Path, types: Iterable[str]) -> str:
    """The text of `google.json` for `types`, from a wheel of the bindings."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".jsii.tgz"))
        with tarfile.open(fileobj=io.BytesIO(archive.read(name))) as bindings:
            return json.dumps(build(bindings, types), indent=1, sort_keys=True)


def main() -> int:
    """Runs the command line."""
    parser = argparse.ArgumentParser(prog="python -m infra.schema.rebuild", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--package", default=PACKAGE, help="the bindings (default: %(default)s)")
    parser.add_argument("--wheel", type=Path, help="a wheel that is here already")
    parser.add_argument("--add", nargs="*", default=[], metavar="TYPE", help="more resource types")
    parser.add_argument("--check", action="store_true", help="compare only")
    args = parser.parse_args()
    current = FILE.read_text(encoding="utf-8")
    types = {*json.loads(current)["resource_schemas"], *args.add}
    with tempfile.TemporaryDirectory() as folder:
        text = read(args.wheel or download(args.package, Path(folder)), types)
    schema = json.loads(text)
    print(f"google {schema['provider_version']}: {len(schema['resource_schemas'])} types")  # noqa: T201
    for type_ in schema["missing"]:
        print(f"{type_}: not in the bindings", file=sys.stderr)  # noqa: T201
    if args.check:
        print("same" if text == current else "google.json differs")  # noqa: T201
        return 0 if text == current else 3
    FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
