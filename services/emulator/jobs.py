"""Databricks jobs: `run-now` and `runs/get`, as the local platform's workspace has them.

One job exists (JOB), which takes RUN_SECONDS. A person signs in with the token `local-user-NAME`.
`run-now` with a known `idempotency_token` starts nothing and answers with the run of before
(https://docs.databricks.com/api/workspace/jobs/runnow). Errors have Databricks' shape.
"""

from __future__ import annotations

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from services.emulator.platform import Platform
from services.emulator.state import Body

KIND, TOKENS = "databricksRun", "databricksIdempotencyToken"
JOB = 1
RUN_SECONDS = 5.0
MOST_TOKEN = 64
USER = "local-user-"


class _Refused(Exception):
    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def routes(platform: Platform) -> list[BaseRoute]:
    """Its REST routes, of versions 2.1 and 2.2 of the API."""
    jobs = _Jobs(platform)
    return [
        Route("/api/{version}/jobs/run-now", jobs.run_now, methods=["POST"]),
        Route("/api/{version}/jobs/runs/get", jobs.get, methods=["GET"]),
    ]


class _Jobs:
    def __init__(self, platform: Platform) -> None:
        self._store = platform.store

    async def run_now(self, request: Request) -> Response:
        """Starts a run, or finds the one that the token has started."""
        try:
            user, body = _user(request), await _body(request)
            return JSONResponse(self._started(user, body))
        except _Refused as error:
            return _refusal(error)

    async def get(self, request: Request) -> Response:
        """One run."""
        try:
            _user(request)
            text = request.query_params.get("run_id", "")
            found = self._store.get(KIND, text)
            if found is None:
                raise _Refused(400, "INVALID_PARAMETER_VALUE", f"Run {text} does not exist.")
            return JSONResponse(found | {"state": _state(found)})
        except _Refused as error:
            return _refusal(error)

    def _started(self, user: str, body: Body) -> Body:
        if body.get("job_id") != JOB:
            told = f"Job {body.get('job_id')} does not exist."
            raise _Refused(400, "INVALID_PARAMETER_VALUE", told)
        token = body.get("idempotency_token") or ""
        if not isinstance(token, str) or len(token) > MOST_TOKEN:
            told = f"idempotency_token has more than {MOST_TOKEN} characters."
            raise _Refused(400, "INVALID_PARAMETER_VALUE", told)
        known = self._store.get(TOKENS, token) if token else None
        if known is not None:
            return {"run_id": known["run_id"]}
        number = self._store.next_id("databricks-run")
        parameters = body.get("job_parameters") or {}
        with self._store.transaction():
            self._store.put(
                KIND,
                str(number),
                {
                    "run_id": number,
                    "job_id": JOB,
                    "creator_user_name": user,
                    "start_time": int(time.time() * 1000),
                    "job_parameters": [
                        {"name": str(name), "value": str(value)}
                        for name, value in parameters.items()
                    ],
                },
            )
            if token:
                self._store.put(TOKENS, token, {"run_id": number})
        return {"run_id": number}


def _user(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise _Refused(401, "UNAUTHENTICATED", "Credential was not sent.")
    if not token.startswith(USER) or token == USER:
        raise _Refused(403, "PERMISSION_DENIED", "Invalid access token.")
    return token.removeprefix(USER)


async def _body(request: Request) -> Body:
    try:
        body: Any = await request.json()
    except ValueError:
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("job_parameters") or {}, dict):
        raise _Refused(400, "MALFORMED_REQUEST", "Invalid JSON in the body.")
    return body


def _state(run: Body) -> Body:
    """By its age; nothing has to run for that."""
    if time.time() - run["start_time"] / 1000 < RUN_SECONDS:
        return {"life_cycle_state": "RUNNING", "state_message": "In run"}
    return {"life_cycle_state": "TERMINATED", "result_state": "SUCCESS", "state_message": ""}


def _refusal(error: _Refused) -> Response:
    return JSONResponse({"error_code": error.code, "message": str(error)}, error.status)
