"""The only module that imports the CDK for Terraform.

Its upstream `cdktf` is archived. The maintained fork `cdktn` has the same names: to change over,
put it into the one import below (and into pyproject.toml); the synthesized JSON stays the same but
for the version of the CDK in its metadata.
"""

from __future__ import annotations

import os

from infra import node

# Importing the CDK starts Node.js, so what it is to run on is decided first.
os.environ.update(node.settings(os.environ))

from cdktf import (
    App,
    GcsBackend,
    TerraformElement,
    TerraformOutput,
    TerraformProvider,
    TerraformProviderGeneratorMetadata,
    TerraformStack,
    TerraformVariable,
)
from jsii import member

__all__ = [
    "App",
    "GcsBackend",
    "TerraformElement",
    "TerraformOutput",
    "TerraformProvider",
    "TerraformProviderGeneratorMetadata",
    "TerraformStack",
    "TerraformVariable",
    "member",
]
