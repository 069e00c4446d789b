"""The boundary to Google's clients: what may be repeated, and what an answer means to a person.

Every error that a client raises becomes a RemoteError here, with the API's own words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from infra.errors import RemoteError

RETRY_SECONDS = 20.0
"""How long a call that may be repeated is repeated."""
ATTEMPTS = 5
BACKOFF_SECONDS = 0.2
"""Wait before the second attempt; it doubles from there."""

FIXES = {
    401: "sign in again: gcloud auth application-default login",
    403: "ask for a role that holds the permission named above, then run the same command again",
    429: "wait a minute, then run the same command again; if it stays, raise the quota",
    503: "run the same command again in a minute",
}


class Refused(RemoteError):
    """An answer other than success. `status` is the HTTP status, `words` are the API's own."""

    def __init__(self, where: str, status: int, words: str, fix: str | None = None) -> None:
        self.status = status
        super().__init__(
            f"the API answered {status}: {words.strip() or 'no message'}",
            where=where,
            fix=fix or FIXES.get(status, "run the same command again; --debug shows more"),
        )


def unreachable(where: str, error: Exception) -> RemoteError:
    """The error for a connection that could not be made or broke."""
    return RemoteError(
        f"cannot be reached: {_root(error)}",
        where=where,
        fix="check the network (the local platform: slipway up), then run the command again",
    )


@contextmanager
def calling(where: str, *, fix: str | None = None) -> Iterator[None]:
    """Turns what Google's clients raise inside into a RemoteError about `where`."""
    import requests
    from google.api_core.exceptions import GoogleAPICallError, RetryError
    from google.auth.exceptions import GoogleAuthError

    try:
        yield
    except GoogleAPICallError as error:
        raise Refused(where, int(error.code or 0), str(error.message), fix) from error
    except RetryError as error:
        # Uploads raise an error of Storage's own, which has the whole answer.
        answer = getattr(error.cause, "response", None)
        if answer is not None and getattr(answer, "text", None):
            raise Refused(where, answer.status_code, _words(answer.text), fix) from error
        raise unreachable(where, error.cause or error) from error
    except GoogleAuthError as error:
        raise RemoteError(
            f"the credentials were refused: {_root(error)}", where=where, fix=FIXES[401]
        ) from error
    except requests.RequestException as error:
        raise unreachable(where, error) from error


def _words(text: str) -> str:
    """The message in a Google API's error, or the answer's beginning."""
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return text[:200]


def _root(error: BaseException) -> str:
    """The innermost reason in one line: clients wrap a refused connection several times."""
    seen = {id(error)}
    while (inner := error.__cause__ or error.__context__) is not None and id(inner) not in seen:
        if isinstance(inner, RemoteError):  # what was being handled when this came on top
            break
        seen.add(id(inner))
        error = inner
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
