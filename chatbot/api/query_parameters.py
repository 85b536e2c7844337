"""Refuses query parameters that an address does not know, so that a typing error is not overlooked."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel

__all__ = ["check_parameters"]


def check_parameters(request: Request) -> None:
    """Raises RequestValidationError for query parameters that the address does not take."""
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
