"""The `provider "google"` block, as far as this provider uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.emulator.provider.client import Client
from services.emulator.provider.codec import UNKNOWN, State, Value
from services.emulator.provider.errors import Problem, ProviderError

DELETE = "DELETE"


@dataclass(frozen=True)
class Provider:
    """A configured provider."""

    client: Client
    project: str | None
    region: str | None
    default_labels: Mapping[str, str] = field(default_factory=dict)
    attribute: bool = True
    """Whether new resources get the label that says that Terraform made them."""
    deletion_policy: str = DELETE

    def project_of(self, state: State) -> str:
        """The project of a resource: its own, or the provider's.

        Raises:
            ProviderError: neither is set.
        """
        return _given(state.get("project"), self.project, "project")

    def region_of(self, state: State, name: str = "region") -> str:
        """The region of a resource: its own, or the provider's.

        Raises:
            ProviderError: neither is set.
        """
        return _given(state.get(name), self.region, "region")


def problems(config: State, endpoint: str) -> list[Problem]:
    """What this provider cannot work with."""
    found = []
    for name, value in config.items():
        if not name.endswith("_custom_endpoint") or value is None or value is UNKNOWN:
            continue
        if not str(value).startswith(f"{endpoint}/"):
            told = f"{name} is {value}, but this provider serves the platform at {endpoint}/ only."
            found.append(Problem(told, (name,)))
    if config.get("access_token") is None:
        told = "access_token is not set, and this provider looks for no other credentials."
        found.append(Problem(told, ("access_token",)))
    return found


def configure(config: State, endpoint: str) -> Provider:
    """The provider for a whole configuration, which has no problems."""
    return Provider(
        client=Client(endpoint, str(config["access_token"])),
        project=config.get("project"),
        region=config.get("region"),
        default_labels=config.get("default_labels") or {},
        attribute=config.get("add_terraform_attribution_label") is not False,
        deletion_policy=config.get("deletion_policy") or DELETE,
    )


def _given(own: Value, default: str | None, name: str) -> str:
    value = own if own and own is not UNKNOWN else default
    if not value:
        raise ProviderError(f"{name}: set it on the resource or in the provider's configuration")
    return str(value)
