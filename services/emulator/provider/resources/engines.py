"""google_vertex_ai_reasoning_engine: Agent Runtime's engines, a memory bank among them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

from services.emulator.provider.codec import State
from services.emulator.provider.errors import Problem, ProviderError
from services.emulator.provider.mapping import INPUT, Body, Field, Fields
from services.emulator.provider.resources.kind import Kind, parse
from services.emulator.provider.settings import Provider


def _parsed(text: str) -> Any:
    """JSON that the configuration gives as text.

    Raises:
        ProviderError: it is none.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise ProviderError(f"{text[:60]!r} is not valid JSON: {error}") from None


_JSON = Field(encode=_parsed, decode=lambda value: json.dumps(value, separators=(",", ":")))
_STRUCTURED = "context_spec.memory_bank_config.structured_memory_configs"
# Ways to give an engine its code; the API takes one.
_SOURCES = ("container_spec", "package_spec", "source_code_spec")


class Engine(Kind):
    """`name` is the bare ID; `id` the full name, with the project as it is configured."""

    type = "google_vertex_ai_reasoning_engine"
    force_new = ("region", "project", "encryption_spec")
    volatile = ("update_time",)
    policies = ("DELETE", "FORCE", "PREVENT", "ABANDON")
    fields: ClassVar[Fields] = {
        "name": Field(decode=lambda name: str(name).rpartition("/")[2]),
        "region": Field(()),
        "spec.class_methods": _JSON,
        "spec.source_code_spec.inline_source.source_archive": INPUT,
        "spec.source_code_spec.agent_config_source.inline_source.source_archive": INPUT,
        "spec.source_code_spec.agent_config_source.adk_config.json_config": _JSON,
        f"{_STRUCTURED}.schema_configs.memory_schema": _JSON,
    }

    def check(self, config: State) -> Iterator[Problem]:
        """A spec has one source of code, and JSON where JSON is meant."""
        for spec in _items(config.get("spec")):
            given = [name for name in _SOURCES if spec.get(name)]
            if len(given) > 1:
                yield Problem(f"spec: {' and '.join(given)} exclude each other.", ("spec",))
            methods = spec.get("class_methods")
            if isinstance(methods, str) and not _is_json_list(methods):
                yield Problem("spec.class_methods must be a JSON list.", ("spec",))

    def create(self, provider: Provider, planned: State, config: State) -> State:
        """POST and wait."""
        del config
        collection = f"{self._location(provider, planned)}/reasoningEngines"
        operation = provider.client.call("POST", f"/v1/{collection}", self.body(planned))
        name = str(provider.client.wait(operation)["name"]).rpartition("/")[2]
        return {"name": name, "id": f"{collection}/{name}"}

    def fetch(self, provider: Provider, state: State) -> Body | None:
        """GET by name."""
        return provider.client.find(self._path(provider, state))

    def update(self, provider: Provider, prior: State, planned: State) -> None:
        """PATCH of the top-level fields that differ."""
        mask, body = self.difference(prior, planned)
        if not mask:
            return
        query = {"updateMask": ",".join(mask)}
        path = self._path(provider, planned)
        provider.client.wait(provider.client.call("PATCH", path, body, query=query))

    def remove(self, provider: Provider, state: State) -> None:
        """DELETE, with what hangs on it if the policy is FORCE."""
        query = {"force": "true"} if state.get("deletion_policy") == "FORCE" else {}
        path = self._path(provider, state)
        provider.client.wait(provider.client.call("DELETE", path, query=query))

    def locate(self, provider: Provider, id_: str) -> State:
        """A full name, or less of it."""
        found = parse(
            id_,
            "projects/{project}/locations/{region}/reasoningEngines/{name}",
            "{project}/{region}/{name}",
            "{region}/{name}",
            "{name}",
        )
        state: State = {"project": provider.project, "region": provider.region, **found}
        state["id"] = f"{self._location(provider, state)}/reasoningEngines/{state['name']}"
        return state

    def _location(self, provider: Provider, state: State) -> str:
        return f"projects/{provider.project_of(state)}/locations/{provider.region_of(state)}"

    def _path(self, provider: Provider, state: State) -> str:
        return f"/v1/{self._location(provider, state)}/reasoningEngines/{state['name']}"


def _items(value: Any) -> list[State]:
    return value if isinstance(value, list) else []


def _is_json_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except ValueError:
        return False
