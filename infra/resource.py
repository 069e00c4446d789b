"""A generic resource of the google provider on the CDK's core, checked against its schema.

The CDK's typed bindings cost hundreds of megabytes and seconds a run; these take the provider's own
snake_case arguments, give the same JSON, and find the same mistakes when they are constructed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from infra import cdk
from infra.schema import check

SOURCE = "hashicorp/google"
VERSION: str = check.google()["provider_version"]


class GoogleProvider(cdk.TerraformProvider):
    """The google provider at the version that the schema was taken from."""

    def __init__(self, stack: cdk.TerraformStack, **fields: Any) -> None:
        """Takes the provider's arguments; raises InputError for those it would not take."""
        check.check_provider(fields)
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


class Resource(cdk.TerraformResource):
    """One `resource` block, at the Terraform address `TYPE.NAME`."""

    def __init__(
        self,
        stack: cdk.TerraformStack,
        type_: str,
        name: str,
        /,
        *,
        depends_on: Iterable[Resource] = (),
        ignore_changes: Iterable[str] = (),
        **fields: Any,
    ) -> None:
        """Adds the resource to `stack`; arguments that are None are left out.

        Args:
            type_: the resource type, such as `google_storage_bucket`.
            name: the resource's name in Terraform, unique for its type.
            ignore_changes: arguments that someone else owns once the resource exists.
            fields: the provider's arguments; a block is a dict, a repeated block a list of dicts.

        Raises:
            InputError: an argument that the provider would not take.
        """
        self.address = f"{type_}.{name}"
        self._type, self._name = type_, name
        self._fields = {key: value for key, value in fields.items() if value is not None}
        check.check_resource(type_, name, self._fields)
        ignored = list(ignore_changes)
        for attribute in ignored:
            check.check_reference(type_, name, attribute)
        super().__init__(
            stack,
            self.address,
            terraform_resource_type=type_,
            terraform_generator_metadata=cdk.TerraformProviderGeneratorMetadata(
                provider_name="google"
            ),
            depends_on=list(depends_on) or None,
            lifecycle=cdk.TerraformResourceLifecycle(ignore_changes=ignored) if ignored else None,
        )
        # The CDK makes names from ids that are unique over all types; ours are unique for a type.
        self.override_logical_id(name)

    @cdk.member(jsii_name="synthesizeAttributes")
    def _synthesize_attributes(self) -> dict[str, Any]:
        return self._fields

    def ref(self, attribute: str) -> str:
        """`${TYPE.NAME.ATTRIBUTE}`; raises InputError when the type has no such attribute."""
        check.check_reference(self._type, self._name, attribute)
        return f"${{{self.address}.{attribute}}}"


def literal(text: str) -> str:
    """`text` with Terraform's template marks escaped, so that it is taken as it stands."""
    return text.replace("${", "$${").replace("%{", "%%{")
