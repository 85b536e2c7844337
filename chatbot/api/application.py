"""Puts the API together: one application for every address but the pages'."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.middleware.cors import CORSMiddleware

import chatbot
from chatbot.api import (
    chat_routes,
    comparison_routes,
    conversation_routes,
    document_routes,
    memory_routes,
    openai_routes,
    question_routes,
    status_routes,
)
from chatbot.api.caller import Door
from chatbot.api.gate import Gate, Rates
from chatbot.api.host import Host
from chatbot.api.metrics import Metrics
from chatbot.api.problems import Problem, declared, handle_problems
from chatbot.settings import Settings
from chatbot.store.api_keys import ApiKeys, open_api_keys

__all__ = ["build_api"]

PARTS = (
    question_routes,
    comparison_routes,
    document_routes,
    conversation_routes,
    memory_routes,
    status_routes,
    chat_routes,
    openai_routes,
)
UPLOADS = ("/api/v1/documents",)
DESCRIPTION = (
    "Answers questions about PDFs, each statement with its page. Errors are problem documents (RFC 9457). "
    "Send a key as `Authorization: Bearer`, unless the server listens on this machine only."
)


def build_api(host: Host, settings: Settings) -> FastAPI:
    """Returns the API over what `host` opens."""
    api = FastAPI(
        title="Finpolicy",
        version=chatbot.__version__,
        description=DESCRIPTION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        responses={},
        generate_unique_id_function=_operation,
    )

    @cache
    def keys() -> ApiKeys:
        return open_api_keys(settings)

    metrics = Metrics()
    api.state.door = Door(
        host, keys, Rates(settings.api_rate), metrics, settings.origins, settings.telegram_secret
    )
    handle_problems(api)
    for part in PARTS:
        if part is openai_routes:  # whose clients send parameters of their own
            api.include_router(part.ROUTER)
        else:
            api.include_router(part.ROUTER, dependencies=[Depends(_check_parameters)], responses=declared())
    api.state.routes = [route for part in PARTS for route in part.ROUTER.routes]
    if settings.origins:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=settings.origins,
            allow_methods=["*"],
            allow_headers=["*"],
            allow_credentials="*" not in settings.origins,
        )
    api.add_middleware(Gate, metrics=metrics, most_upload_mb=settings.max_upload_mb, uploads=UPLOADS)
    api.openapi = partial(_described, api)  # type: ignore[method-assign]
    return api


def _check_parameters(request: Request) -> None:
    """Raises RequestValidationError for query parameters that the address does not take, so that a typing
    error is not overlooked.
    """
    route: APIRoute = request.scope["route"]
    unknown = sorted(set(request.query_params).difference(_names(route.dependant)))
    if unknown:
        raise RequestValidationError(
            [{"type": "extra_forbidden", "loc": ("query", name)} for name in unknown]
        )


def _names(dependant: Dependant) -> Iterator[str]:
    for parameter in dependant.query_params:
        kind = parameter.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from kind.model_fields
        else:
            yield parameter.alias
    for needed in dependant.dependencies:
        yield from _names(needed)


def _operation(route: APIRoute) -> str:
    """Returns the id of an address in the description: its part of the API, and what it does there."""
    return "_".join([*map(str, route.tags[:1]), route.name]).lower().replace(" ", "_")


def _described(api: FastAPI) -> dict[str, Any]:
    """Returns the OpenAPI document, with the form of a problem."""
    if not api.openapi_schema:
        found = get_openapi(
            title=api.title, version=api.version, description=api.description, routes=api.routes
        )
        found.setdefault("components", {}).setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
        for schema in found["components"]["schemas"].values():
            _name_files(schema)
        api.openapi_schema = found
    return api.openapi_schema


def _name_files(schema: dict[str, Any]) -> None:
    """Says of files that they are bytes, by the name that generators of clients know."""
    for one in schema.get("properties", {}).values():
        items = one.get("items", one)
        if items.pop("contentMediaType", None):
            items["format"] = "binary"
