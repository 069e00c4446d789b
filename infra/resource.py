"""A generic resource of the google provider, checked against its schema when it is declared.

The CDK's typed bindings cost hundreds of megabytes and seconds a run. Here a resource takes the
provider's own snake_case arguments, and a whole environment is plain data until infra/cdk_stack.py
hands it to the CDK: it can be checked without Node.js, and costs one call to it and not hundreds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from infra.errors import InputError
from infra.schema import check

SOURCE = "hashicorp/google"
VERSION: str = check.google()["provider_version"]


@dataclass
class Declarations:
    """What one environment's stack holds.

    Attributes:
        provider: arguments of the google provider.
        variables: Terraform variables by name, with their arguments.
        outputs: by name.
        imports, moved: Terraform's blocks of these names.
        waits: resource type -> the API that makes it.
    """

    provider: dict[str, Any] = field(default_factory=dict)
    resources: list[Resource] = field(default_factory=list)
    variables: dict[str, dict[str, Any]] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    imports: list[dict[str, str]] = field(default_factory=list)
    moved: list[dict[str, str]] = field(default_factory=list)
    waits: dict[str, Resource] = field(default_factory=dict)

    def blocks(self) -> dict[str, Any]:
        """The `resource`, `import` and `moved` blocks in Terraform's JSON."""
        found: dict[str, dict[str, Any]] = {}
        for resource in self.resources:
            found.setdefault(resource.type, {})[resource.name] = resource.block()
        blocks: dict[str, Any] = {"resource": found}
        if self.imports:
            blocks["import"] = self.imports
        if self.moved:
            blocks["moved"] = self.moved
        return blocks


class Resource:
    """One `resource` block, at the Terraform address `TYPE.NAME`.

    Attributes:
        origin: `FILE:LINE` of what asked for it; errors name it.
        fields: the provider's arguments.
    """

    def __init__(
        self,
        stack: Declarations,
        type_: str,
        name: str,
        /,
        *,
        origin: str,
        depends_on: Iterable[Resource] = (),
        ignore_changes: Iterable[str] = (),
        **fields: Any,
    ) -> None:
        """Adds the resource to `stack`; arguments that are None are left out.

        Args:
            type_: the resource type, such as `google_storage_bucket`.
            name: the resource's name in Terraform, unique for its type.
            origin: `FILE:LINE` of what asks for it.
            ignore_changes: arguments that someone else owns once the resource exists.
            fields: the provider's arguments; a block is a dict, a repeated block a list of dicts.

        Raises:
            InputError: an argument that the provider would not take.
        """
        self.address, self.origin = f"{type_}.{name}", origin
        self.type, self.name = type_, name
        self.fields: Mapping[str, Any] = {k: v for k, v in fields.items() if v is not None}
        self._ignored = list(ignore_changes)
        try:
            check.check_resource(type_, name, self.fields)
            for attribute in self._ignored:
                check.check_reference(type_, name, attribute)
        except InputError as error:
            raise InputError(f"{error.where}: {error.what}", where=origin, fix=error.fix) from None
        self._after = [resource.address for resource in depends_on]
        if type_ in stack.waits:
            self._after.append(stack.waits[type_].address)
        stack.resources.append(self)

    def ref(self, attribute: str) -> str:
        """`${TYPE.NAME.ATTRIBUTE}`; raises InputError when the type has no such attribute."""
        check.check_reference(self.type, self.name, attribute)
        return f"${{{self.address}.{attribute}}}"

    def block(self) -> dict[str, Any]:
        """The block in Terraform's JSON."""
        block = dict(self.fields)
        if self._after:
            block["depends_on"] = self._after
        if self._ignored:
            block["lifecycle"] = {"ignore_changes": self._ignored}
        return block


def literal(text: str) -> str:
    """`text` with Terraform's template marks escaped, so that it is taken as it stands."""
    return text.replace("${", "$${").replace("%{", "%%{")


def expression(resource: Resource, attribute: str) -> str:
    """`TYPE.NAME.ATTRIBUTE`, for use inside `${…}`."""
    return resource.ref(attribute).removeprefix("${").removesuffix("}")
