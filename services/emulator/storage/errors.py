"""Errors in Cloud Storage's own shape, which names a reason where other APIs name a status."""

from __future__ import annotations

from starlette.responses import JSONResponse

from services.emulator.errors import ApiError

# HTTP status -> google.rpc.Code name
_STATUS = {
    400: "INVALID_ARGUMENT",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    412: "CONDITION_NOT_MET",
    416: "INVALID_ARGUMENT",
}


class StorageError(ApiError):
    """An answer other than success; `reason` is Storage's, such as `conditionNotMet`."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(_STATUS[code], message)
        self.http, self.reason = code, reason

    def response(self) -> JSONResponse:
        """The error as Storage would send it."""
        detail = {"message": self.message, "domain": "global", "reason": self.reason}
        body = {"error": {"code": self.http, "message": self.message, "errors": [detail]}}
        return JSONResponse(body, status_code=self.http)


def bad_request(message: str) -> StorageError:
    """400 invalid."""
    return StorageError(400, "invalid", message)


def no_bucket() -> StorageError:
    """404 for a bucket."""
    return StorageError(404, "notFound", "The specified bucket does not exist.")


def no_object(bucket: str, name: str) -> StorageError:
    """404 for an object or one of its generations."""
    return StorageError(404, "notFound", f"No such object: {bucket}/{name}")


def unmet() -> StorageError:
    """412: a precondition of the request does not hold."""
    return StorageError(
        412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold."
    )
