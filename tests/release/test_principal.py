"""Whose credentials are used, as the platform's tokeninfo and the credentials say."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from google.oauth2.credentials import Credentials

from services.release.principal import acting
from tests.release.targets import target_at
from tests.release.worlds import World, account, rest


def test_it_is_on_record_beside_the_account_of_the_machine(world: World) -> None:
    world.deploy()
    assert world.document(1)["principal"] == "user:operator@slipway.local"


def test_a_service_account_by_its_token_or_by_its_credentials(world: World) -> None:
    email = account("router", world.descriptor.project)
    path = f"v1/projects/-/serviceAccounts/{email}:generateAccessToken"
    token = rest(world.target, "POST", path, {})["accessToken"]
    other = replace(world.target, credentials=Credentials(token))
    assert acting(other) == f"serviceAccount:{email}"
    named = SimpleNamespace(service_account_email="ci@acme.iam.gserviceaccount.com")
    assert acting(replace(world.target, credentials=named)) == (
        "serviceAccount:ci@acme.iam.gserviceaccount.com"
    )


def test_where_nobody_tells_it_is_none() -> None:
    assert acting(target_at("http://127.0.0.1:1")) is None
