"""The model of `infra/memory_topics.toml`: what the memory bank may remember, and for whom."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from infra.toml_file import FileModel, parse, read

FILE = Path("infra/memory_topics.toml")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class Topic(_Model):
    """A managed topic, or a custom one with a label and a description."""

    managed: (
        Literal[
            "USER_PERSONAL_INFO",
            "USER_PREFERENCES",
            "KEY_CONVERSATION_DETAILS",
            "EXPLICIT_INSTRUCTIONS",
        ]
        | None
    ) = None
    label: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")] | None = None
    description: Annotated[str, Field(min_length=1, max_length=2000)] | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> Topic:
        if self.managed is not None and (self.label or self.description):
            raise ValueError("a managed topic has no label and no description of its own")
        if self.managed is None and not (self.label and self.description):
            raise ValueError("a topic needs managed, or both label and description")
        return self

    @property
    def name(self) -> str:
        """The label, or the managed topic's name."""
        return self.managed or self.label or ""


class Topics(FileModel):
    """All topics, and the keys that keep one person's memories apart from another's."""

    scope_keys: Annotated[tuple[str, ...], Field(min_length=1)] = ("app_name", "user_id")
    topic: Annotated[tuple[Topic, ...], Field(min_length=1, max_length=100)]

    @model_validator(mode="after")
    def _names_differ(self) -> Topics:
        names = [topic.name for topic in self.topic]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"the topic {min(twice)} is there twice")
        return self


def load(root: Path) -> Topics:
    """Reads `infra/memory_topics.toml` under the checkout `root`.

    Raises:
        InputError: the file is missing or wrong.
    """
    path = root / FILE
    return parse(Topics, read(path, shown=str(FILE)))
