"""JSON objects in an environment's buckets, written by generation preconditions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from infra.errors import RemoteError
from services.release import remote

if TYPE_CHECKING:
    from services.release.target import Target

NOT_THERE = 0
"""The generation that stands for "there is no such object"."""


@dataclass(frozen=True)
class Stored:
    """An object's bytes and the generation they were read at."""

    data: bytes
    generation: int


class Bucket:
    """One bucket at a target."""

    def __init__(self, target: Target, name: str) -> None:
        self.name = name
        self._target = target

    def read(self, path: str) -> Stored | None:
        """The object, or None."""
        from google.api_core.exceptions import NotFound
        from google.cloud.storage.exceptions import DataCorruption

        with remote.calling(self.where(path)):
            blob = self._blob(path)
            try:
                data = blob.download_as_bytes(retry=_retry())
            except NotFound:
                return None
            except DataCorruption:
                raise RemoteError(
                    "its bytes do not match the checksum that came with them",
                    where=self.where(path),
                    fix="run the same command again",
                ) from None
            return Stored(data, int(blob.generation))

    def write(self, path: str, data: bytes, content_type: str, *, generation: int) -> int | None:
        """Writes the object if it is still at `generation`; its new generation, or None if not.

        An object that holds these very bytes counts as written: when an answer is lost, the client
        sends the request again, and finds what it wrote itself.
        """
        from google.api_core.exceptions import PreconditionFailed

        with remote.calling(self.where(path)):
            blob = self._blob(path)
            try:
                blob.upload_from_string(
                    data, content_type, if_generation_match=generation, retry=_retry()
                )
            except PreconditionFailed:
                there = self.read(path)
                return there.generation if there is not None and there.data == data else None
            return int(blob.generation)

    def delete(self, path: str, *, generation: int) -> bool:
        """Deletes the object if it is still at `generation`; whether it did."""
        from google.api_core.exceptions import NotFound, PreconditionFailed

        with remote.calling(self.where(path)):
            try:
                self._blob(path).delete(if_generation_match=generation, retry=_retry())
            except (NotFound, PreconditionFailed):
                return False
            return True

    def written(self, path: str, generation: int) -> datetime | None:
        """When this generation was written, by the bucket's time; None when it is gone."""
        from google.api_core.exceptions import NotFound, PreconditionFailed

        with remote.calling(self.where(path)):
            blob = self._blob(path)
            try:
                blob.reload(if_generation_match=generation, retry=_retry())
            except (NotFound, PreconditionFailed):
                return None
            updated: datetime = blob.updated
            return updated

    def now(self, path: str) -> datetime:
        """The bucket's own time, as it gives it to the object `path`, which is written anew."""
        with remote.calling(self.where(path)):
            blob = self._blob(path)
            blob.upload_from_string(b"{}", "application/json", retry=_retry())
            updated: datetime = blob.updated
            return updated

    def names(self, prefix: str) -> list[str]:
        """Names of the objects that begin with `prefix`, sorted."""
        with remote.calling(self.where(prefix)):
            found = self._target.storage.list_blobs(
                self.name, prefix=prefix, fields="items(name),nextPageToken", retry=_retry()
            )
            return sorted(blob.name for blob in found)

    def where(self, path: str) -> str:
        """The object's address, for messages."""
        return f"gs://{self.name}/{path}"

    def changed(self, path: str) -> RemoteError:
        """The error for an object that someone else wrote meanwhile."""
        return RemoteError(
            "was written by another run meanwhile",
            where=self.where(path),
            fix="wait until the other deployment has ended, then run the same command again",
        )

    def _blob(self, path: str) -> Any:
        return self._target.storage.bucket(self.name).blob(path)


def _retry() -> Any:
    from google.cloud.storage.retry import DEFAULT_RETRY

    return DEFAULT_RETRY.with_timeout(remote.RETRY_SECONDS)
