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
    "problem_response",
    "refusal",
    "status_of",
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
    headers: further headers of the response.
    """

    def __init__(
        self, status: int, detail: str, *, hint: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.status, self.hint = status, hint


def problem_response(
    status: int,
    detail: str,
    *,
    hint: str = "",
    request_id: str = "",
    errors: list[str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Returns a problem document as a response."""
    problem = Problem(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        hint=hint,
        request_id=request_id,
        errors=errors or [],
    )
    return JSONResponse(
        problem.model_dump(),
        status,
        media_type=PROBLEM,
        headers={"cache-control": "no-store", **(headers or {})},
    )


def refusal(scope: MutableMapping[str, Any], status: int, detail: str, hint: str = "") -> JSONResponse:
    """Returns the answer to a request that does not reach the API, in the form of its address."""
    return _response(Request(scope), status, detail, hint=hint)


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
    api.add_exception_handler(ProblemError, _refused)
    api.add_exception_handler(ProjectError, _failed)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _unknown)
    api.add_exception_handler(Exception, _broken)


def status_of(error: ProjectError) -> int:
    """Returns the status that an error of the chatbot is answered with."""
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def hint_of(error: ProjectError) -> str:
    """Returns the hint of an error, with the API's addresses in place of commands that do the same."""
    hint = error.hint
    for command, address in ADDRESSES_OF.items():
        hint = hint.replace(f"`{PROGRAM} {command}`", address).replace(f"{PROGRAM} {command}", address)
    return hint


def openai_error(status: int, detail: str, hint: str = "") -> dict[str, Any]:
    """Returns an error in the form of OpenAI's addresses."""
    kind, code = OPENAI_ERRORS.get(status, ("invalid_request_error", "invalid_request"))
    message = f"{detail} {hint}".strip()
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _response(
    request: Request,
    status: int,
    detail: str,
    *,
    hint: str = "",
    errors: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Returns the response in the form of the request's address."""
    if not request.url.path.startswith(OPENAI_ADDRESSES):
        request_id = str(request.scope.get("state", {}).get("request_id", ""))
        return problem_response(
            status, detail, hint=hint, request_id=request_id, errors=list(errors), headers=headers
        )
    said = "; ".join(errors) or hint
    status = 400 if status == 422 else status
    return JSONResponse(
        openai_error(status, detail, said), status, headers={"cache-control": "no-store", **(headers or {})}
    )


def _id(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProblemError)
    return _response(request, error.status, error.detail, hint=error.hint, headers=error.headers)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ProjectError)
    headers = {"retry-after": "5"} if error.retryable else {}
    return _response(request, status_of(error), error.message, hint=hint_of(error), headers=headers)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _response(
        request,
        422,
        "The request is not in the form that this address takes.",
        hint="Fix what `errors` names; /api/openapi.json describes the form.",
        errors=plain_errors(error.errors()),
    )


async def _unknown(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    hints = {
        400: "Send JSON in UTF-8, or a form of at most 1,000 files and fields.",
        404: "See /api/openapi.json for all addresses.",
        405: "See the header Allow for what it takes.",
    }
    details = {
        400: "The body of the request cannot be read.",
        404: "There is nothing at this address.",
        405: "This address does not take that method.",
    }
    return _response(
        request,
        error.status_code,
        details.get(error.status_code, str(error.detail)),
        hint=hints.get(error.status_code, ""),
        headers={**(error.headers or {}), **_allowed(request, error.status_code)},
    )


def _allowed(request: Request, status: int) -> dict[str, str]:
    """Returns what an address takes instead. Starlette names what its first route takes."""
    if status != 405:
        return {}
    methods = set[str]()
    for route in request.app.state.routes:
        match, _ = route.matches(request.scope)
        if match == Match.PARTIAL:
            methods |= route.methods
    return {"allow": ", ".join(sorted(methods))}


async def _broken(request: Request, error: Exception) -> JSONResponse:
    log.error("answering request %s failed", _id(request), exc_info=error)
    return _response(request, 500, INSIDE, hint="The server's log says why, under this request's id.")
