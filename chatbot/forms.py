"""Defines what the bodies of all requests, and the arguments of all tools, have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

__all__ = ["Body", "Strict"]


class Body(BaseModel):
    """A request's body, or the arguments of a tool. A field that is null is as if it were left out."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {
            name: value for name, value in given.items() if value is not None or name not in cls.model_fields
        }


class Strict(Body):
    """A field that is not known is an error, so that a typing error is not overlooked."""

    model_config = ConfigDict(extra="forbid")
