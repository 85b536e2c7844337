"""Defines what a request may say of how a long conversation is shortened for its question."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chatbot.api.body import Body
from chatbot.user_settings import MOST_WINDOW, Value

__all__ = ["ShorteningIn"]


class ShorteningIn(Body):
    """How a long conversation is shortened for a question; null takes the settings' own.

    compression_ratio: the share that is kept.
    gamma: how unevenly sentences are dropped.
    rho: the share of what is dropped that whole messages take.
    scoring: "query" keeps what has to do with the question, "seed" what has financial words.
    keep_last: messages at the end that stay whole.
    """

    compression_ratio: Annotated[float, Field(ge=0.05, le=1)] | None = None
    gamma: Annotated[float, Field(ge=0, le=10)] | None = None
    rho: Annotated[float, Field(ge=0, le=1)] | None = None
    scoring: Literal["query", "seed"] | None = None
    keep_last: Annotated[int, Field(ge=1, le=2 * MOST_WINDOW)] | None = None

    @property
    def compression(self) -> tuple[tuple[str, Value], ...]:
        """What it changes of the settings, by their names."""
        changes: dict[str, Value] = {}
        if self.scoring is not None:
            # The best share of whole messages differs between the two.
            changes = {"seed_scoring": self.scoring == "seed"}
            changes["compression_rho"] = 0.5 if self.scoring == "seed" else 1.0
        if self.rho is not None:
            changes["compression_rho"] = self.rho
        if self.gamma is not None:
            changes["compression_gamma"] = self.gamma
        if self.compression_ratio is not None:
            changes["compression_ratio"] = self.compression_ratio
        if self.keep_last is not None:
            changes["prompt_exchanges"] = (self.keep_last + 1) // 2
        return tuple(changes.items())
