"""Names stay within the limits of the APIs, for every legal environment and agent."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from infra import names

AGENTS = st.from_regex(r"[a-z][a-z0-9_]{0,30}", fullmatch=True)
ENVIRONMENTS = st.from_regex(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?", fullmatch=True)
PROJECTS = st.from_regex(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", fullmatch=True)


def test_the_usual_ones() -> None:
    assert names.account_id("router", "local") == "router-local"
    assert names.account_id("qa", "dev") == "qa-dev"
    assert names.account_id("a", "b") == "a-b-agent"
    assert names.state_bucket("acme-local", "local") == "acme-local-local-tfstate"


@given(AGENTS, ENVIRONMENTS)
def test_account_ids_are_legal(agent: str, environment: str) -> None:
    # https://cloud.google.com/iam/docs/service-accounts-create: 6 to 30, a letter first.
    found = names.account_id(agent, environment)
    assert re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", found)


@given(AGENTS, AGENTS, ENVIRONMENTS)
def test_long_names_stay_apart(one: str, other: str, environment: str) -> None:
    if one.replace("_", "-") != other.replace("_", "-"):
        assert names.account_id(one, environment) != names.account_id(other, environment)


@given(PROJECTS, ENVIRONMENTS)
def test_bucket_names_are_legal(project: str, environment: str) -> None:
    for use in ("releases", "control", "policy", "tfstate"):
        assert re.fullmatch(
            r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", names.bucket(project, environment, use)
        )
