"""The model of an environment file, `infra/environments/NAME.toml`: one project and region.

Every field is named in the file or has the default given here; an unknown key is an error. The
limits come from the provider's schema, from Agent Runtime's rules, and from the services' own
naming rules. docs/environments.md is generated from this module.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from infra.toml_file import FileModel, wrong

# Where Vertex AI has regional endpoints: SUPPORTED_REGIONS of google-cloud-aiplatform 2.7.0,
# without `global`. A test compares the two.
REGIONS = frozenset(
    {
        "africa-south1", "asia-east1", "asia-east2", "asia-northeast1", "asia-northeast2",
        "asia-northeast3", "asia-south1", "asia-south2", "asia-southeast1", "asia-southeast2",
        "australia-southeast1", "australia-southeast2", "europe-central2", "europe-north1",
        "europe-north2", "europe-southwest1", "europe-west1", "europe-west12", "europe-west2",
        "europe-west3", "europe-west4", "europe-west6", "europe-west8", "europe-west9",
        "me-central1", "me-central2", "me-west1", "northamerica-northeast1",
        "northamerica-northeast2", "southamerica-east1", "southamerica-west1", "us-central1",
        "us-east1", "us-east4", "us-east5", "us-east7", "us-south1", "us-west1", "us-west2",
        "us-west3", "us-west4", "us-west8",
    }
)  # fmt: skip


def _region(value: str) -> str:
    if value not in REGIONS:
        near = difflib.get_close_matches(value, REGIONS, n=1)
        raise ValueError(
            f"Vertex AI has no such region{f'; did you mean {near[0]}?' if near else ''}"
        )
    return value


LabelValue = Annotated[str, Field(pattern=r"^[a-z0-9_-]{1,63}$")]
"""Google's labels: 1 to 63 of `[a-z0-9_-]`."""
Group = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", max_length=254)]
"""The e-mail address of a Google group."""
Days = Annotated[int, Field(ge=1, le=3650)]
EngineId = Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]
AgentName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")]
Data = Literal["sample", "bigquery", "databricks"]
Version = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Owner(_Table):
    """Labels that say who answers for the resources and who pays. An agent may have its own."""

    team: LabelValue = "agents"
    """Label `team` of every resource that takes labels (1 to 63 of `[a-z0-9_-]`)."""
    cost_centre: LabelValue = "none"
    """Label `cost_centre` of the same resources (1 to 63 of `[a-z0-9_-]`)."""


class Bank(_Table):
    """The memory bank: models and lifetimes. What it remembers is `infra/memory_topics.toml`."""

    deletion_policy: Literal["DELETE", "FORCE", "PREVENT", "ABANDON"] = "PREVENT"
    """What a destroy may do to the memory bank; anything but PREVENT only where the environment
    is ephemeral or its Terraform provider is the local platform's."""
    generation_model: Annotated[str, Field(pattern=r"^gemini-[a-z0-9.-]+$")] | None = None
    """Model that makes memories; default: the runtime's own."""
    embedding_model: Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]+$")] | None = None
    """Model that finds similar memories; default: the runtime's own."""
    created_days: Days | None = None
    """Days that a memory written by a client is kept (1 to 3650); default: for ever."""
    generated_days: Days | None = None
    """Days that a generated memory is kept (1 to 3650); default: for ever."""
    updated_days: Days | None = None
    """Days that a memory is kept after it was updated (1 to 3650); default: for ever."""
    revision_days: Days | None = None
    """Days that a memory's revisions are kept (1 to 3650); default: the runtime's own."""
    revisions: bool = True
    """Whether revisions of memories are kept."""
    event_count: Annotated[int, Field(ge=1, le=100)] | None = None
    """Generate memories after this many events (1 to 100); default: at each flush."""
    fixed_interval_minutes: Annotated[int, Field(ge=1, le=1440)] | None = None
    """Generate memories this often (1 to 1440 minutes)."""
    idle_minutes: Annotated[int, Field(ge=1, le=1440)] | None = None
    """Generate memories after a conversation was idle for this long (1 to 1440 minutes)."""


class Build(_Table):
    """Cloud Build: which repository deploys, and on which workers."""

    repository: Annotated[
        str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}/[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    ] = "github/agents"
    """`CONNECTION/REPOSITORY` (2nd generation) in this project and region. A person makes the
    connection once, in the console."""
    remote_uri: Annotated[str, Field(pattern=r"^https://\S+\.git$")] | None = None
    """Clone address; when it is given, Terraform links the repository to the connection."""
    branch: Annotated[str, Field(pattern=r"^\S{1,200}$")] = "^main$"
    """Regular expression (RE2) of the branches whose pushes deploy."""
    promote_to: str | None = None
    """The environment that this one's releases are promoted to; none: the last one."""
    worker_pool: Literal["default", "private"] = "default"
    """`private`: a worker pool of this environment's own, without external addresses."""
    machine_type: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,60}$")] = "e2-standard-2"
    """Machine of the private pool's workers."""
    disk_gb: Annotated[int, Field(ge=100, le=4000)] = 100
    """Disk of the private pool's workers, in GB (100 to 4000)."""
    audit_schedule: Annotated[str, Field(pattern=r"^\S+( \S+){4}$")] = "17 5 * * 1"
    """When the memory audit runs: five cron fields, in UTC."""


class Groups(_Table):
    """Google groups of people, by what they do; each optional. Nobody is named alone."""

    viewer: Group | None = None
    """Sees engines, logs, builds and releases; changes nothing."""
    releaser: Group | None = None
    """Starts deployments, promotions and rollbacks; approves none."""
    approver: Group | None = None
    """Approves the builds that wait for it."""
    memory_officer: Group | None = None
    """Reads, exports and forgets memories."""
    break_glass: Group | None = None
    """May do everything with engines and records in an emergency; empty on other days."""


class Alerts(_Table):
    """Whom to tell, and where the runbooks are."""

    email: Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+\.[^@\s]+$", max_length=254)] | None = (
        None
    )
    """Address of the notification channel; none: alerts show in the console only."""
    runbooks: Annotated[str, Field(pattern=r"^https://\S+$", max_length=500)] = (
        "https://example.com/runbooks"
    )
    """Base address of the runbooks; an alert links to RUNBOOKS/NAME."""
    errors_per_5_minutes: Annotated[int, Field(ge=1, le=10_000)] = 5
    """Errors of one agent within five minutes that raise an alert (1 to 10000)."""


class Budget(_Table):
    """A budget on a billing account; left out: none."""

    billing_account: Annotated[str, Field(pattern=r"^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$")]
    """ID of the billing account, such as 012345-6789AB-CDEF01."""
    amount: Annotated[int, Field(ge=1, le=100_000_000)]
    """Whole units of the currency a month."""
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "EUR"
    """ISO 4217 code; it must be the billing account's own."""


class Network(_Table):
    """Private Service Connect: how engines reach a network of the team's."""

    subnetwork: Annotated[
        str,
        Field(
            pattern=r"^projects/[a-z][a-z0-9-]{4,28}[a-z0-9]/regions/[a-z0-9-]+/subnetworks/[a-z][a-z0-9-]{0,62}$"
        ),
    ]
    """Full name of the subnetwork, in this environment's region."""


class BigQuery(_Table):
    """The dataset of agents whose `[data]` is `bigquery`. Their service accounts may run queries in
    this project; whoever owns the dataset gives them `roles/bigquery.dataViewer` on it."""

    dataset: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]\.[A-Za-z0-9_]{1,1024}$")]
    """`PROJECT.DATASET`, in a location that this project may query."""


class Databricks(_Table):
    """The Databricks workspace, which is used as the person who asks."""

    host: Annotated[str, Field(pattern=r"^(local|https://[A-Za-z0-9.-]+)$")]
    """Base address of the workspace; `local` on the local platform: jobs, no tables."""
    warehouse: Annotated[str, Field(pattern=r"^[A-Za-z0-9]{1,64}$")] | None = None
    """ID of the SQL warehouse that agents whose `[data]` is `databricks` read by."""
    schema_: Annotated[
        str | None, Field(alias="schema", pattern=r"^[A-Za-z0-9_]{1,255}\.[A-Za-z0-9_]{1,255}$")
    ] = None
    """`CATALOG.SCHEMA` of their tables."""
    replan_job: Annotated[int, Field(ge=1)] | None = None
    """ID of the job that plans supply anew; none: nobody can ask for it."""


class Environment(FileModel):
    """One project-and-region target, described by one file."""

    name: Annotated[str, Field(pattern=r"^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$")]
    """1 to 20 of `[a-z0-9-]`, a letter first; ends names of resources, so it is short."""
    project: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")]
    """Google Cloud project ID (6 to 30 characters)."""
    region: Annotated[str, AfterValidator(_region)] = "us-central1"
    """Region of the engines, the buckets and the triggers: one with Vertex AI."""
    endpoint: Literal["google", "local"]
    """Whose APIs are called."""
    credentials: Literal["application-default", "local"]
    """Whose credentials are sent."""
    provider: Literal["google", "local"]
    """Which Terraform provider applies the stack."""
    terraform: Annotated[str, Field(pattern=r"^[0-9.,<>=~! ]{1,60}$")] = ">= 1.11, < 2"
    """Terraform versions that may write this environment's state, as a version constraint."""
    model: Annotated[str, Field(pattern=r"^(offline|gemini-[a-z0-9.-]+)$")] = "offline"
    """`offline`, or the name of a Gemini model."""
    memory: Literal["bank", "none"] = "bank"
    """`bank`: agents need a memory bank; `none`: they run without one."""
    turns_per_minute: Annotated[int, Field(ge=1, le=10_000)] = 120
    """Turns that one person may have in a minute, for each instance of an engine (1 to 10000)."""
    name_prefix: Annotated[str, Field(pattern=r"^([a-z]([a-z0-9-]{0,8}[a-z0-9])?)?$")] = ""
    """Begins the names of all resources (at most 10 of `[a-z0-9-]`), so that two kits or two
    environments can share a project."""
    ephemeral: bool = False
    """Whether the environment lives for `ttl_hours` only; `slipway env reap` destroys it then."""
    ttl_hours: Annotated[int, Field(ge=1, le=720)] | None = None
    """Hours that an ephemeral environment lives after its last apply (1 to 720)."""
    deletion_policy: Literal["DELETE", "FORCE", "PREVENT", "ABANDON"] = "PREVENT"
    """What a destroy may do to an agent's engine (FORCE also deletes its sessions)."""
    kms_key: (
        Annotated[
            str,
            Field(
                pattern=r"^projects/[^/]+/locations/[a-z0-9-]+/keyRings/[\w-]{1,63}/cryptoKeys/[\w-]{1,63}$"
            ),
        ]
        | None
    ) = None
    """Full name of the key that encrypts engines and memories (CMEK), in this region."""
    owner: Owner = Owner()
    bank: Bank = Bank()
    build: Build = Build()
    groups: Groups = Groups()
    alerts: Alerts = Alerts()
    budget: Budget | None = None
    network: Network | None = None
    bigquery: BigQuery | None = None
    databricks: Databricks | None = None
    data: dict[AgentName, Data] = Field(default_factory=dict)
    """Where each agent's tables are, by its name: `sample` (the files that it carries; the
    default), `bigquery` or `databricks`."""
    adopt: dict[str, EngineId] = Field(default_factory=dict)
    """Engines made by hand that are taken over: an agent's name, or `memory-bank`, to engine ID."""
    write_only: dict[str, Version] = Field(default_factory=dict)
    """Secrets whose value Terraform passes on without keeping it: secret ID to a version of your
    counting. The value is TF_VAR_secret_ID; a new number writes it anew."""

    _platform: Literal["local"] | None = PrivateAttr(default=None)

    @property
    def platform(self) -> Literal["local"] | None:
        """What `--platform` was laid over the file."""
        return self._platform

    def on(self, platform: Literal["local"] | None) -> Self:
        """Itself, knowing from now on what was laid over it."""
        self._platform = platform
        return self

    @property
    def scope(self) -> str:
        """What tells this environment's names apart: its name, after the prefix if it has one."""
        return f"{self.name_prefix}-{self.name}" if self.name_prefix else self.name

    @model_validator(mode="after")
    def _platform_is_whole(self) -> Environment:
        if self.endpoint != self.provider:
            raise wrong("endpoint and provider must name the same platform", "provider")
        if (self.endpoint == "local") != (self.credentials == "local"):
            told = 'credentials = "local" goes with endpoint = "local", and only with it'
            raise wrong(told, "credentials")
        return self

    @model_validator(mode="after")
    def _lifetimes_fit(self) -> Environment:
        if self.ephemeral != (self.ttl_hours is not None):
            raise wrong("ttl_hours goes with ephemeral = true, and only with it", "ephemeral")
        if self.ephemeral and self.deletion_policy == "PREVENT":
            raise wrong("an ephemeral environment must be destroyable", "deletion_policy")
        kept = self.bank.deletion_policy == "PREVENT"
        if self.ephemeral and kept:
            raise wrong("an ephemeral environment must be destroyable", "bank", "deletion_policy")
        if not kept and not self.ephemeral and self.provider != "local":
            told = "memories outlive a destroy: only PREVENT, unless ephemeral = true"
            raise wrong(told, "bank", "deletion_policy")
        return self

    @model_validator(mode="after")
    def _bank_is_whole(self) -> Environment:
        bank = self.bank
        rule = ("event_count", "fixed_interval_minutes", "idle_minutes")
        for key in rule:
            if getattr(bank, key) is not None and bank.generation_model is None:
                # The provider's schema: a trigger lies in generation_config, which needs a model.
                raise wrong("needs generation_model beside it", "bank", key)
        return self

    @model_validator(mode="after")
    def _data_is_whole(self) -> Environment:
        for agent, kind in self.data.items():
            if kind == "bigquery" and self.bigquery is None:
                raise wrong("needs a table [bigquery]", "data", agent)
            found = self.databricks
            if kind == "databricks" and not (found and found.warehouse and found.schema_):
                raise wrong("needs [databricks] with host, warehouse and schema", "data", agent)
        if self.databricks and (self.databricks.host == "local") != (self.endpoint == "local"):
            told = 'host = "local" goes with endpoint = "local", and only with it'
            raise wrong(told, "databricks", "host")
        return self

    @model_validator(mode="after")
    def _places_fit(self) -> Environment:
        if self.kms_key and self.kms_key.split("/")[3] != self.region:
            raise wrong(f"must lie in {self.region}, where the engines are", "kms_key")
        if self.network and self.network.subnetwork.split("/")[3] != self.region:
            told = f"must lie in {self.region}, where the engines are"
            raise wrong(told, "network", "subnetwork")
        return self
