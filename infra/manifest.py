"""The model of an agent's manifest, `agents/NAME/agent.toml`: what it is, needs and may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from infra.environment import Owner
from infra.errors import InputError
from infra.toml_file import FileModel, parse, read, wrong

FOLDER = Path("agents")
FILE = "agent.toml"

# Set by Agent Runtime itself; a deployment that declares one of them is refused.
RESERVED_ENV = frozenset(
    {
        "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_CLOUD_QUOTA_PROJECT",
        "GOOGLE_CLOUD_AGENT_ENGINE_ID", "GOOGLE_CLOUD_AGENT_ENGINE_LOCATION",
        "GOOGLE_APPLICATION_CREDENTIALS", "PORT", "K_SERVICE", "K_REVISION", "K_CONFIGURATION",
    }
)  # fmt: skip
# Accounts of pipelines have these names in the stack.
RESERVED_NAMES = frozenset({"deployer", "promote", "rollback"})
# Set by slipway on every engine; a manifest cannot set them.
KIT_ENV = frozenset(
    {
        "AGENT_PLATFORM_ENDPOINT", "SLIPWAY_MODEL", "SLIPWAY_DATA", "SLIPWAY_MEMORY",
        "SLIPWAY_RELEASE", "SLIPWAY_BUNDLE", "SLIPWAY_CONTROL_BUCKET", "SLIPWAY_STORAGE_ENDPOINT",
        "SLIPWAY_TURNS_PER_MINUTE", "SLIPWAY_ARTIFACTS_BUCKET",
    }
)  # fmt: skip


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EngineRef(_Model):
    """The engine ID of another agent of this kit."""

    engine: str


class MemoryBankRef(_Model):
    """The memory bank's engine ID or its location."""

    memory_bank: Literal["id", "location"]


class SettingRef(_Model):
    """A value of the environment's file; the variable is left out where the file has none."""

    setting: Literal[
        "bigquery.dataset",
        "databricks.host",
        "databricks.warehouse",
        "databricks.schema",
        "databricks.replan_job",
    ]


def _one_of(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    try:
        return handler(value)
    except ValidationError:
        raise ValueError(
            'a text, { engine = "AGENT" }, { memory_bank = "id" }, '
            '{ memory_bank = "location" } or { setting = "TABLE.KEY" } is expected'
        ) from None


EnvValue = Annotated[str | EngineRef | MemoryBankRef | SettingRef, WrapValidator(_one_of)]
EnvName = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,127}$")]
SecretId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,61}[a-z0-9]$")]


class Scaling(_Model):
    """Instances and limits of one engine (the runtime's rules: CPU 1/2/4/6/8; Gi up to 32)."""

    min_instances: Annotated[int, Field(ge=0, le=10)] = 1
    max_instances: Annotated[int, Field(ge=1, le=1000)] = 3
    cpu: Literal["1", "2", "4", "6", "8"] = "2"
    memory: Annotated[str, Field(pattern=r"^([1-9]|[12][0-9]|3[0-2])Gi$")] = "4Gi"
    container_concurrency: Annotated[int, Field(ge=1, le=1000)] = 9

    @model_validator(mode="after")
    def _limits_fit(self) -> Scaling:
        if self.min_instances > self.max_instances:
            raise wrong("must not be greater than max_instances", "min_instances")
        gib = int(self.memory.removesuffix("Gi"))
        needed = next((cpu for limit, cpu in ((24, 8), (16, 6), (8, 4), (4, 2)) if gib > limit), 1)
        if int(self.cpu) < needed:
            raise wrong(f"memory = {self.memory} needs cpu = {needed} or more", "cpu")
        return self


class AgentManifest(FileModel):
    """What `agents/NAME/agent.toml` says."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
    """The folder's name; also the engine's key in the descriptor."""
    description: Annotated[str, Field(min_length=1, max_length=500)]
    entrypoint: Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]
    """`module:object`, the module as seen from the root of the bundle."""
    python: Literal["3.10", "3.11", "3.12", "3.13", "3.14"] = "3.11"
    include: tuple[str, ...] = ()
    """Files beside the code that go into the bundle: globs relative to the agent's folder."""
    smoke: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """A question that every deployment asks the agent before it serves; it leaves no trace."""
    requirements: str = "agents/requirements.lock"
    """The hashed lock, relative to the checkout, that becomes the bundle's requirements.txt."""
    renamed_from: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")] | None = None
    """The agent's former name: its engine is kept (Terraform's `moved`) instead of made anew."""
    app_name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,62}$")] | None = None
    """The ADK app's name, for the one agent people talk to; with the user, the memory scope."""
    calls_all: bool = False
    """Whether it is given the engine ID of every other agent, as NAME_ENGINE_ID."""
    uses_memory: bool = False
    """Whether the agent's account may read and write the memory bank."""
    env: dict[EnvName, EnvValue] = Field(default_factory=dict)
    """Environment variables: a literal, `{ engine = "NAME" }`, `{ memory_bank = "id" }`
    or `{ setting = "databricks.host" }`."""
    secrets: dict[EnvName, SecretId] = Field(default_factory=dict)
    """Environment variables whose value is the newest version of a Secret Manager secret."""
    scaling: Scaling = Scaling()
    owner: Owner | None = None
    """Labels `team` and `cost_centre` of this agent's resources; default: the environment's."""

    @property
    def calls(self) -> tuple[str, ...]:
        """Names of the agents whose engine IDs this one is given, sorted."""
        return tuple(sorted({v.engine for v in self.env.values() if isinstance(v, EngineRef)}))

    @model_validator(mode="after")
    def _names_are_free(self) -> AgentManifest:
        if self.name in RESERVED_NAMES:
            raise wrong("a name of slipway's own; call the agent otherwise", "name")
        for table, declared in (("env", self.env), ("secrets", self.secrets)):
            for name in declared:
                if name in RESERVED_ENV:
                    raise wrong("is set by Agent Runtime and cannot be declared", table, name)
                if name in KIT_ENV:
                    raise wrong("is set by slipway on every engine", table, name)
        if both := set(self.env) & set(self.secrets):
            raise wrong("is declared both in [env] and in [secrets]", "secrets", min(both))
        return self


def load_all(root: Path) -> dict[str, AgentManifest]:
    """Reads every `agents/*/agent.toml` under the checkout `root`, by name, sorted.

    Folders named `shared` or starting with `_` or `.` hold no agent.

    Raises:
        InputError: a folder without its manifest, a manifest that is wrong, or a reference to
            an agent that does not exist.
    """
    manifests: dict[str, AgentManifest] = {}
    folders = (
        sorted(p for p in (root / FOLDER).iterdir() if p.is_dir())
        if (root / FOLDER).is_dir()
        else []
    )
    for folder in folders:
        if folder.name == "shared" or folder.name.startswith(("_", ".")):
            continue
        manifests[folder.name] = load(root, folder.name)
    for name, manifest in manifests.items():
        if manifest.calls_all:
            others = {
                f"{other.upper()}_ENGINE_ID": EngineRef(engine=other)
                for other in manifests
                if other != name
            }
            manifests[name] = manifest.model_copy(update={"env": others | manifest.env})
    if not manifests:
        raise InputError(
            "there is no agent",
            where=str(FOLDER),
            fix=f"an agent is a folder {FOLDER}/NAME with a {FILE}",
        )
    for manifest in manifests.values():
        for other in manifest.calls:
            if other not in manifests:
                raise InputError(
                    f"[env] refers to the engine of {other!r}, but there is no such agent",
                    where=str(FOLDER / manifest.name / FILE),
                    fix=f"known agents: {', '.join(manifests)}",
                )
    return manifests


def chosen(
    manifests: Mapping[str, AgentManifest], names: Sequence[str]
) -> dict[str, AgentManifest]:
    """The agents of these names; all of them when none is named.

    Raises:
        InputError: there is none of a name.
    """
    for name in names:
        if name not in manifests:
            raise InputError(
                f"there is no agent {name!r}",
                where=str(FOLDER),
                fix=f"known: {', '.join(manifests)}",
            )
    return {name: manifests[name] for name in names or manifests}


def front(manifests: Mapping[str, AgentManifest]) -> AgentManifest:
    """The agent that people talk to: the one with an `app_name`.

    Raises:
        InputError: none has one, or several have.
    """
    fronts = [manifest for manifest in manifests.values() if manifest.app_name]
    if len(fronts) != 1:
        named = ", ".join(manifest.name for manifest in fronts) or "none"
        raise InputError(
            f"exactly one agent has an app_name; here: {named}",
            where=str(FOLDER),
            fix=f'write app_name = "…" into the {FILE} of the agent people talk to, and no other',
        )
    return fronts[0]


def load(root: Path, name: str) -> AgentManifest:
    """Reads one manifest; raises InputError as `load_all` does."""
    path = FOLDER / name / FILE
    if not (root / path).is_file():
        raise InputError(
            f"the agent folder {FOLDER / name} has no {FILE}",
            where=str(FOLDER / name),
            fix=f"write {path}, or remove the folder",
        )
    manifest = parse(AgentManifest, read(root / path, shown=str(path)))
    if manifest.name != name:
        raise InputError(
            f"name is {manifest.name!r}, but the folder is called {name!r}",
            where=str(path),
            fix=f'write name = "{name}", or rename the folder',
        )
    return manifest
