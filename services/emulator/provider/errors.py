"""What goes wrong in the provider, in words that Terraform shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """Something in the configuration that no schema can say; `path` names the attribute."""

    text: str
    path: tuple[str, ...] = ()


class ProviderError(Exception):
    """A refusal: one line that Terraform shows, and perhaps more below it."""

    def __init__(self, summary: str, detail: str = "") -> None:
        super().__init__(summary)
        self.summary, self.detail = summary, detail


class ApiFailure(ProviderError):
    """An API's answer other than success, in the API's words. `code` is the HTTP status."""

    def __init__(self, code: int, status: str, message: str, call: str) -> None:
        # The first words are those of Google's Go client, which the google provider passes on.
        told = f"googleapi: Error {code}: {message}"
        super().__init__(f"{told} ({status})" if status else told, f"The request was: {call}")
        self.code = code
