"""The one error of every REST answer of the local platform, in Google's JSON shape."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

# google.rpc.Code name -> HTTP status (https://cloud.google.com/apis/design/errors)
HTTP = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "CONDITION_NOT_MET": 412,
    "INTERNAL": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
}
# google.rpc.Code name -> its number, as operations carry it
RPC = {
    "INVALID_ARGUMENT": 3,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "PERMISSION_DENIED": 7,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "UNIMPLEMENTED": 12,
    "INTERNAL": 13,
    "UNAVAILABLE": 14,
    "UNAUTHENTICATED": 16,
}


class ApiError(Exception):
    """An answer other than success: `status` is a google.rpc.Code name."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status, self.message, self.http = status, message, HTTP[status]

    def response(self) -> Response:
        """The error as a Google API would send it."""
        body = {"error": {"code": self.http, "message": self.message, "status": self.status}}
        return JSONResponse(body, status_code=self.http)


def not_found(name: str) -> ApiError:
    """404 for a resource name or path."""
    return ApiError("NOT_FOUND", f"{name} was not found.")


def invalid(message: str) -> ApiError:
    """400 INVALID_ARGUMENT."""
    return ApiError("INVALID_ARGUMENT", message)
