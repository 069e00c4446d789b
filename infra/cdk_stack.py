"""Hands what an environment declares to the CDK, which writes the stack's Terraform JSON."""

from __future__ import annotations

from typing import Any

from infra import cdk, state
from infra.environment import Environment
from infra.resource import SOURCE, VERSION, Declarations


class EnvironmentStack(cdk.TerraformStack):
    """The stack of one environment, named after it."""

    def __init__(self, app: cdk.App, env: Environment, declared: Declarations) -> None:
        """Adds the backend, the provider, and everything that is declared."""
        super().__init__(app, env.name)
        cdk.GcsBackend(self, bucket=state.bucket(env), prefix=state.prefix(env))
        _GoogleProvider(self, declared.provider)
        for name, arguments in declared.variables.items():
            options = dict(arguments)
            ephemeral = options.pop("ephemeral", False)
            variable = cdk.TerraformVariable(self, name, **options)
            if ephemeral:
                variable.add_override("ephemeral", True)
        _Blocks(self, declared.blocks())
        for name, value in declared.outputs.items():
            cdk.TerraformOutput(self, name, value=value)


class _GoogleProvider(cdk.TerraformProvider):
    """The google provider at the version that the schema was taken from."""

    def __init__(self, stack: cdk.TerraformStack, fields: dict[str, Any]) -> None:
        self._fields = fields
        super().__init__(
            stack,
            "google",
            terraform_resource_type="google",
            terraform_provider_source=SOURCE,
            terraform_generator_metadata=cdk.TerraformProviderGeneratorMetadata(
                provider_name="google",
                provider_version=VERSION,
                provider_version_constraint=VERSION,
            ),
        )

    @cdk.member(jsii_name="synthesizeAttributes")
    def _synthesize_attributes(self) -> dict[str, Any]:
        return self._fields


class _Blocks(cdk.TerraformElement):
    """All resources of a stack as one element: an object in Node.js for each costs 2 ms."""

    def __init__(self, stack: cdk.TerraformStack, blocks: dict[str, Any]) -> None:
        self._own = blocks
        super().__init__(stack, "resources")

    # jsii finds an override by the method's own name.
    @cdk.member(jsii_name="toTerraform")
    def to_terraform(self) -> dict[str, Any]:
        """Terraform's JSON of the element."""
        return self._own
