"""Answers failed requests with problem documents, as RFC 9457 defines them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match

from chatbot.api.plain_errors import plain_errors
from chatbot.errors import (
    BusyError,
    DocumentError,
    ModelError,
    NotFoundError,
    ProjectError,
    QuestionError,
    SettingsError,
    StoreError,
    UsageError,
)
from chatbot.settings import PROGRAM

__all__ = [
    "PROBLEM",
    "Problem",
    "ProblemError",
    "declared",
    "handle_problems",
    "hint_of",
    "openai_error",
    "problem_of",
    "refusal",
]

log = logging.getLogger(__name__)

PROBLEM = "application/problem+json"
# The first class that fits gives the status.
STATUSES: Mapping[type[ProjectError], int] = {
    NotFoundError: 404,
    QuestionError: 422,
    UsageError: 422,
    DocumentError: 422,
    SettingsError: 503,
    StoreError: 503,
    ModelError: 502,
    BusyError: 429,
    ProjectError: 409,
}
EVERY_CALL = (401, 403, 422, 429, 503)
WITH_BODY = (400, 408, 413)
# What callers do in place of a command.
ADDRESSES_OF: Mapping[str, str] = {
    "list": "GET /api/v1/documents",
    "remove NAME --purge": "DELETE /api/v1/documents/ID?purge=true",
    "memory signals list": "GET /api/v1/memories/signals",
}
INSIDE = "Something inside failed."
# What is said of requests that reach no address, and what to do.
UNREACHED: Mapping[int, tuple[str, str]] = {
    400: (
        "The body of the request cannot be read.",
        "Send JSON in UTF-8, or a form of at most 1,000 files and fields.",
    ),
    404: ("There is nothing at this address.", "See /api/openapi.json for all addresses."),
    405: ("This address does not take that method.", "See the header Allow for what it takes."),
}
# The addresses whose clients read errors in OpenAI's form, and the type and code of each status there.
OPENAI_ADDRESSES = "/v1/"
OPENAI_ERRORS: Mapping[int, tuple[str, str]] = {
    401: ("authentication_error", "invalid_api_key"),
    403: ("permission_error", "insufficient_scope"),
    404: ("invalid_request_error", "not_found"),
    429: ("rate_limit_error", "rate_limit_exceeded"),
    500: ("server_error", "server_error"),
    502: ("server_error", "model_failed"),
    503: ("server_error", "not_ready"),
}


class Problem(BaseModel):
    """What went wrong with a request, and what to do about it."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    hint: str = ""
    request_id: str = ""
    errors: list[str] = []


class ProblemError(HTTPException):
    """A request that is refused. While it reads a body, FastAPI lets no other error through.

    status: the HTTP status.
    errors: what is wrong with which part of it.
    headers: further headers of the response.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        hint: str = "",
        errors: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.hint, self.errors = hint, errors


def refusal(scope: MutableMapping[str, Any], status: int, detail: str, hint: str = "") -> JSONResponse:
    """Returns the answer to a request that does not reach the API, in the form of its address."""
    return _response(Request(scope), ProblemError(status, detail, hint=hint))


def declared(*more: int, body: bool = False) -> dict[int | str, dict[str, Any]]:
    """Returns the statuses that a call may fail with, as FastAPI declares responses.

    more: beside those of every call.
    body: whether the call has a body.
    """
    statuses = sorted({*EVERY_CALL, *(WITH_BODY if body else ()), *more})
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


def handle_problems(api: FastAPI) -> None:
    """Has every error of the API answered with a problem document."""
    for kind in (ProblemError, ProjectError, RequestValidationError, HTTPException, Exception):
        api.add_exception_handler(kind, _answered)


def problem_of(error: Exception) -> ProblemError:
    """Returns what a request is refused with that an error ended."""
    match error:
        case ProblemError():
            return error
        case ProjectError():
            status = next(status for kind, status in STATUSES.items() if isinstance(error, kind))
            headers = {"retry-after": "5"} if error.retryable else {}
            return ProblemError(status, error.message, hint=hint_of(error), headers=headers)
        case RequestValidationError():
            return ProblemError(
                422,
                "The request is not in the form that this address takes.",
                hint="Fix what `errors` names; /api/openapi.json describes the form.",
                errors=plain_errors(error.errors()),
            )
        case HTTPException():
            status = error.status_code
            detail, hint = UNREACHED.get(status, (str(error.detail), ""))
            return ProblemError(status, detail, hint=hint, headers=error.headers)
    return ProblemError(500, INSIDE, hint="The server's log says why, under this request's id.")


def hint_of(error: ProjectError) -> str:
    """Returns the hint of an error, with the API's addresses in place of commands that do the same."""
    hint = error.hint
    for command, address in ADDRESSES_OF.items():
        hint = hint.replace(f"`{PROGRAM} {command}`", address).replace(f"{PROGRAM} {command}", address)
    return hint


def openai_error(problem: ProblemError) -> dict[str, Any]:
    """Returns a problem in the form of OpenAI's addresses."""
    kind, code = OPENAI_ERRORS.get(problem.status_code, ("invalid_request_error", "invalid_request"))
    message = f"{problem.detail} {'; '.join(problem.errors) or problem.hint}".strip()
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _response(request: Request, problem: ProblemError) -> JSONResponse:
    """Returns the response in the form of the request's address."""
    status = problem.status_code
    headers = {"cache-control": "no-store", **(problem.headers or {})}
    if request.url.path.startswith(OPENAI_ADDRESSES):
        return JSONResponse(openai_error(problem), 400 if status == 422 else status, headers=headers)
    shown = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=problem.detail,
        hint=problem.hint,
        request_id=_id(request),
        errors=list(problem.errors),
    )
    return JSONResponse(shown.model_dump(), status, media_type=PROBLEM, headers=headers)


def _id(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))


async def _answered(request: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    if problem.status_code == 405 and problem is not error:  # Starlette names what its first route takes
        problem.headers = {**(problem.headers or {}), **_allowed(request)}
    if not isinstance(error, ProjectError | RequestValidationError | HTTPException):
        log.error("answering request %s failed", _id(request), exc_info=error)
    return _response(request, problem)


def _allowed(request: Request) -> dict[str, str]:
    """Returns what an address takes instead."""
    methods = set[str]()
    for route in request.app.state.routes:
        match, _ = route.matches(request.scope)
        if match == Match.PARTIAL:
            methods |= route.methods
    return {"allow": ", ".join(sorted(methods))}
