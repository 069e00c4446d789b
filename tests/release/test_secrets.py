"""The first version of a secret that nobody has to know."""

from __future__ import annotations

import logging

import pytest
from google.cloud import secretmanager_v1 as secretmanager

from infra.errors import RemoteError
from services.release.secrets import Vault
from tests.release.worlds import SECRET, World


def test_a_secret_without_a_version_gets_a_random_one_once(
    world: World, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    assert Vault(world.target, world.descriptor).ensure_generated(SECRET) is True
    assert Vault(world.target, world.descriptor).ensure_generated(SECRET) is False
    client = secretmanager.SecretManagerServiceClient(
        transport="rest",
        credentials=world.target.credentials,
        client_options={"api_endpoint": world.target.endpoints.secret_manager},
    )
    name = world.descriptor.secrets[SECRET]
    assert len(list(client.list_secret_versions(request={"parent": name}))) == 1
    logged = caplog.text + "".join(capfd.readouterr())
    value = client.access_secret_version(request={"name": f"{name}/versions/latest"})
    text = value.payload.data.decode()
    assert len(text) == 43, "32 bytes in URL-safe base64"
    assert text not in logged


def test_a_secret_that_the_environment_does_not_have_is_an_error(world: World) -> None:
    with pytest.raises(RemoteError, match="has no secret 'other'"):
        Vault(world.target, world.descriptor).ensure_generated("other")
