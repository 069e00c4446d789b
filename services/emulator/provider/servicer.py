"""Terraform's provider protocol over the resource types: one method for each call of the core's."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from functools import cached_property, wraps
from pathlib import Path
from typing import Any

from services.emulator.provider import schema, settings
from services.emulator.provider.codec import UNKNOWN, State, decode, encode
from services.emulator.provider.errors import Problem, ProviderError
from services.emulator.provider.planning import conform
from services.emulator.provider.protocol import pb
from services.emulator.provider.resources import KINDS
from services.emulator.provider.resources.kind import Kind

_IMPORTED = b"imported"
"""Private data of a state that knows nothing but its ID."""
_log = logging.getLogger(__name__)


class Servicer:
    """The provider. Requests and responses are messages of the module `pb`, by method name."""

    def __init__(self, endpoint: str, path: Path) -> None:
        """Args:
        endpoint: base URL of the platform's REST, without a slash.
        path: the provider's schema.
        """
        self._endpoint, self._path = endpoint, path
        self._configured: tuple[State, settings.Provider] | None = None
        self._kinds: dict[str, Kind] = {}

    @cached_property
    def schema(self) -> schema.Schema:
        """Read when Terraform first asks."""
        return schema.load(self._path)

    def get_metadata(self, request: Any) -> Any:
        """GetMetadata."""
        del request
        types = [pb.GetMetadata.ResourceMetadata(type_name=n) for n in self.schema.resources]
        return pb.GetMetadata.Response(resources=types)

    def get_schema(self, request: Any) -> Any:
        """GetProviderSchema."""
        del request
        resources = {name: schema.message(block) for name, block in self.schema.resources.items()}
        return pb.GetProviderSchema.Response(
            provider=schema.message(self.schema.provider), resource_schemas=resources
        )

    def validate_provider(self, request: Any) -> Any:
        """ValidateProviderConfig."""
        found = settings.problems(decode(request.config), self._endpoint)
        return pb.ValidateProviderConfig.Response(diagnostics=_diagnostics(found))

    def configure(self, request: Any) -> Any:
        """ConfigureProvider; the same configuration again changes nothing."""
        config = decode(request.config)
        found = settings.problems(config, self._endpoint)
        if not found and (self._configured is None or self._configured[0] != config):
            self._configured = config, settings.configure(config, self._endpoint)
        return pb.ConfigureProvider.Response(diagnostics=_diagnostics(found))

    def validate_resource(self, request: Any) -> Any:
        """ValidateResourceConfig."""
        found = self._kind(request.type_name).problems(decode(request.config))
        return pb.ValidateResourceConfig.Response(diagnostics=_diagnostics(found))

    def upgrade(self, request: Any) -> Any:
        """UpgradeResourceState: a state of another release of the schema takes this one's shape."""
        state = json.loads(request.raw_state.json)
        shaped = self.schema.resources[request.type_name].shaped(state)
        return pb.UpgradeResourceState.Response(upgraded_state=encode(shaped))

    def read(self, request: Any) -> Any:
        """ReadResource."""
        kind, imported = self._kind(request.type_name), request.private == _IMPORTED
        state = kind.read(self._provider, decode(request.current_state), imported=imported)
        private = b"" if imported else request.private
        return pb.ReadResource.Response(new_state=encode(state), private=private)

    def plan(self, request: Any) -> Any:
        """PlanResourceChange."""
        proposed = decode(request.proposed_new_state)
        if proposed is None:
            return pb.PlanResourceChange.Response(planned_state=request.proposed_new_state)
        kind, prior = self._kind(request.type_name), decode(request.prior_state)
        planned, replaced = kind.plan(self._provider, proposed, prior)
        return pb.PlanResourceChange.Response(
            planned_state=encode(planned), requires_replace=[_path((name,)) for name in replaced]
        )

    def apply(self, request: Any) -> Any:
        """ApplyResourceChange: create, update or delete, then read back."""
        kind, planned = self._kind(request.type_name), decode(request.planned_state)
        prior, provider = decode(request.prior_state), self._provider
        try:
            if planned is None:
                kind.delete(provider, prior)
                return pb.ApplyResourceChange.Response(new_state=request.planned_state)
            if prior is not None:
                kind.update(provider, prior, planned)
                identity: State = {}
            else:
                identity = kind.create(provider, planned, decode(request.config))
        except ProviderError as error:
            verb = "deleting" if planned is None else "creating" if prior is None else "updating"
            told = _refusal(error, f"Error {verb} {_title(kind, planned or prior)}")
            return pb.ApplyResourceChange.Response(
                new_state=request.prior_state, diagnostics=[told]
            )
        made = {**planned, **identity}
        actual, refusals = self._read_back(kind, made)
        state = encode(conform(kind.block, planned, actual))
        return pb.ApplyResourceChange.Response(new_state=state, diagnostics=refusals)

    def import_(self, request: Any) -> Any:
        """ImportResourceState."""
        kind = self._kind(request.type_name)
        known = kind.locate(self._provider, request.id)
        if "deletion_policy" in kind.block.attributes:
            known["deletion_policy"] = self._provider.deletion_policy
        imported = pb.ImportResourceState.ImportedResource(
            type_name=kind.type, state=encode(kind.block.shaped(known)), private=_IMPORTED
        )
        return pb.ImportResourceState.Response(imported_resources=[imported])

    def stop(self, request: Any) -> Any:
        """StopProvider: what runs is short, and ends by itself."""
        del request
        return pb.StopProvider.Response()

    @property
    def _provider(self) -> settings.Provider:
        if self._configured is None:
            raise ProviderError("the provider is not configured")
        return self._configured[1]

    def _kind(self, name: str) -> Kind:
        if name not in KINDS:
            raise ProviderError(
                f"{name} is not supported by the local platform",
                f"It is in the provider's schema, but has no part here. Supported: {sorted(KINDS)}",
            )
        if name not in self._kinds:
            self._kinds[name] = KINDS[name](self.schema.resources[name])
        return self._kinds[name]

    def _read_back(self, kind: Kind, made: State) -> tuple[State, list[Any]]:
        """What the server holds now; what was made is not lost when it cannot be read."""
        try:
            actual = kind.read(self._provider, made)
            if actual is not None:
                return actual, []
            error = ProviderError("it was not there when it was read back")
        except ProviderError as refused:
            error = refused
        return made, [_refusal(error, f"Error reading {_title(kind, made)}")]


def guarded(method: Callable[[Any], Any], response: Any) -> Callable[[Any, Any], Any]:
    """The method as gRPC calls it; what it raises becomes a diagnostic of an empty response."""

    @wraps(method)
    def handler(request: Any, context: Any) -> Any:
        del context
        try:
            return method(request)
        except ProviderError as error:
            return response(diagnostics=[_refusal(error)])
        except Exception as error:  # noqa: BLE001 - a fault of ours must reach the user as one line
            _log.exception("%s failed", method.__name__)
            told = ProviderError(f"the local provider failed: {type(error).__name__}: {error}")
            return response(diagnostics=[_refusal(told)])

    return handler


def _diagnostics(problems: Iterable[Problem]) -> list[Any]:
    return [
        pb.Diagnostic(
            severity=pb.Diagnostic.ERROR,
            summary=problem.text,
            attribute=_path(problem.path) if problem.path else None,
        )
        for problem in problems
    ]


def _refusal(error: ProviderError, doing: str = "") -> Any:
    summary = f"{doing}: {error.summary}" if doing else error.summary
    return pb.Diagnostic(severity=pb.Diagnostic.ERROR, summary=summary, detail=error.detail)


def _path(names: tuple[str, ...]) -> Any:
    return pb.AttributePath(steps=[pb.AttributePath.Step(attribute_name=name) for name in names])


def _title(kind: Kind, state: State) -> str:
    """The type, and what tells the resource apart."""
    names = ("id", "display_name", "account_id", "secret_id", "name", "role")
    known = (state.get(name) for name in names)
    return " ".join([kind.type, *[v for v in known if v and v is not UNKNOWN][:1]])
