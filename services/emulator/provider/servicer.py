"""The provider protocol's calls, as far as Terraform core makes them."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from pyvider.protocols.tfprotov6.protobuf import tfplugin6_pb2 as pb
from pyvider.protocols.tfprotov6.protobuf import tfplugin6_pb2_grpc as rpc

from services.emulator.provider import planning, resources
from services.emulator.provider import schema as schemas
from services.emulator.provider.client import ApiFailure, Client
from services.emulator.provider.codec import Values, decode, encode, known, unknown
from services.emulator.provider.resources.base import Context, Refused, Resource
from services.emulator.provider.schema import Schema

# Endpoint arguments of the provider, without `_custom_endpoint`, and where they lie here.
PATHS = {
    "cloud_build": "v1/",
    "iam": "v1/",
    "resource_manager": "v1/",
    "secret_manager": "v1/",
    "service_usage": "v1/",
    "storage": "storage/v1/",
    "vertex_ai": "v1/",
}


class Provider(rpc.ProviderServicer):
    """One provider, configured anew by each Terraform run."""

    def __init__(self, schema: Path, endpoint: str) -> None:
        self._path, self._endpoint = schema, endpoint
        self._context: Context | None = None

    @cached_property
    def _schema(self) -> Schema:
        return Schema(self._path)

    @cached_property
    def _resources(self) -> dict[str, Resource]:
        return resources.registry(self._schema)

    def GetMetadata(self, request: Any, context: Any) -> Any:
        """Names of the resource types."""
        result = pb.GetMetadata.Response(server_capabilities=pb.ServerCapabilities())
        for name in self._schema.resources:
            result.resources.append(pb.GetMetadata.ResourceMetadata(type_name=name))
        return result

    def GetProviderSchema(self, request: Any, context: Any) -> Any:
        """The whole schema."""
        result = pb.GetProviderSchema.Response(provider=schemas.message(self._schema.provider))
        for name, block in self._schema.resources.items():
            result.resource_schemas[name].CopyFrom(schemas.message(block))
        return result

    def ValidateProviderConfig(self, request: Any, context: Any) -> Any:
        """Terraform has checked it against the schema."""
        return pb.ValidateProviderConfig.Response()

    def ValidateResourceConfig(self, request: Any, context: Any) -> Any:
        """Refuses types that the stand-in does not implement."""
        if request.type_name in self._resources:
            return pb.ValidateResourceConfig.Response()
        known_types = ", ".join(sorted(self._resources))
        text = f"The local platform has no {request.type_name}. It has: {known_types}."
        return pb.ValidateResourceConfig.Response(diagnostics=[_error("Not implemented", text)])

    def ConfigureProvider(self, request: Any, context: Any) -> Any:
        """Takes project, region, token, endpoints and default labels."""
        config = decode(request.config)
        endpoints = {
            api: config.get(f"{api}_custom_endpoint") or f"{self._endpoint}/{path}"
            for api, path in PATHS.items()
        }
        if self._context is not None:
            self._context.client.close()
        self._context = Context(
            client=Client(endpoints, config.get("access_token") or "terraform"),
            project=config.get("project") or "",
            region=config.get("region") or "us-central1",
            default_labels=config.get("default_labels") or {},
        )
        return pb.ConfigureProvider.Response()

    def UpgradeResourceState(self, request: Any, context: Any) -> Any:
        """There is one version of each schema."""
        state = pb.DynamicValue(json=request.raw_state.json)
        return pb.UpgradeResourceState.Response(upgraded_state=state)

    def ReadResource(self, request: Any, context: Any) -> Any:
        """The resource as the server has it now."""
        state = decode(request.current_state)

        def read() -> Any:
            found = self._type(request).read(self._configured(), state)
            return pb.ReadResource.Response(new_state=encode(found))

        failed = pb.ReadResource.Response(new_state=request.current_state)
        return _answering(read, failed, f"{request.type_name}: cannot be read")

    def PlanResourceChange(self, request: Any, context: Any) -> Any:
        """What apply will make of the configuration."""
        config, prior = decode(request.config), decode(request.prior_state)
        if config is None:
            state = request.proposed_new_state
            return pb.PlanResourceChange.Response(planned_state=state, legacy_type_system=True)

        def plan() -> Any:
            kind, place = self._type(request), self._configured()
            value = planning.planned(kind.block, config, prior)
            kind.plan(place, value)
            planning.plan_labels(value, prior, dict(place.default_labels))
            again = planning.replaced(prior, value, kind.force_new) if prior else []
            if again:
                value = planning.planned(kind.block, config, None)
                kind.plan(place, value)
                planning.plan_labels(value, None, dict(place.default_labels))
            steps = [
                pb.AttributePath(steps=[pb.AttributePath.Step(attribute_name=name)])
                for name in again
            ]
            return pb.PlanResourceChange.Response(
                planned_state=encode(value), requires_replace=steps, legacy_type_system=True
            )

        failed = pb.PlanResourceChange.Response(planned_state=request.proposed_new_state)
        return _answering(plan, failed, f"{request.type_name}: cannot be planned")

    def ApplyResourceChange(self, request: Any, context: Any) -> Any:
        """Makes, changes or deletes the resource."""
        prior, value = decode(request.prior_state), decode(request.planned_state)
        config = decode(request.config)

        def apply() -> Any:
            kind, place = self._type(request), self._configured()
            if value is None:
                kind.delete(place, prior)
                made = None
            else:
                planned = _with_write_only(_null_unknowns(value), config)
                if prior is None:
                    made = kind.create(place, planned)
                else:
                    made = kind.update(place, prior, planned)
                made = _without_write_only(made)
            return pb.ApplyResourceChange.Response(new_state=encode(made), legacy_type_system=True)

        failed = pb.ApplyResourceChange.Response(
            new_state=request.prior_state, legacy_type_system=True
        )
        verb = "deleted" if value is None else "created" if prior is None else "changed"
        return _answering(apply, failed, f"{request.type_name}: cannot be {verb}")

    def ImportResourceState(self, request: Any, context: Any) -> Any:
        """The arguments that the ID gives; Terraform reads the rest."""

        def take() -> Any:
            kind = self._type(request)
            given = kind.imported(self._configured(), request.id)
            state = {**schemas.empty(kind.block), **given}
            one = pb.ImportResourceState.ImportedResource(
                type_name=request.type_name, state=encode(state)
            )
            return pb.ImportResourceState.Response(imported_resources=[one])

        failed = pb.ImportResourceState.Response()
        return _answering(take, failed, f"{request.type_name}: cannot be imported")

    def StopProvider(self, request: Any, context: Any) -> Any:
        """Running calls are short; nothing is stopped."""
        return pb.StopProvider.Response()

    def _type(self, request: Any) -> Resource:
        found = self._resources.get(request.type_name)
        if found is None:
            raise Refused(f"the local platform has no {request.type_name}")
        return found

    def _configured(self) -> Context:
        if self._context is None:
            raise Refused("the provider is not configured")
        return self._context


def _answering(work: Callable[[], Any], failed: Any, summary: str) -> Any:
    """What `work` answers; `failed` with a diagnostic when an API or the provider refuses."""
    try:
        return work()
    except (ApiFailure, Refused) as error:
        failed.diagnostics.append(_error(summary, str(error)))
    except Exception as error:  # noqa: BLE001 - a fault here must reach Terraform, and the log
        traceback.print_exc()
        text = f"The provider failed: {type(error).__name__}: {error}"
        failed.diagnostics.append(_error(summary, text))
    return failed


def _error(summary: str, detail: str) -> Any:
    return pb.Diagnostic(severity=pb.Diagnostic.ERROR, summary=summary, detail=detail)


def _null_unknowns(value: Any) -> Any:
    """What the server is to compute is not sent."""
    if known(value):
        return value
    if isinstance(value, dict):
        return {key: _null_unknowns(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_null_unknowns(item) for item in value]
    return None if unknown(value) else value


def _with_write_only(value: Values, config: Values) -> Values:
    return value | {name: config.get(name) for name in value if schemas.write_only(name)}


def _without_write_only(value: Values) -> Values:
    return {name: None if schemas.write_only(name) else item for name, item in value.items()}
