"""Defines what a request may say of how a long conversation is shortened for its question."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chatbot.forms import Body
from chatbot.user_settings import MOST_TOKENS, MOST_WINDOW, Value

__all__ = ["ShorteningIn"]


class ShorteningIn(Body):
    """How a long conversation is shortened for a question; null takes the settings' own.

    use_r2c: whether the whole conversation is sent, shortened when it is long.
    max_tokens: the tokens above which it is, as far as the prompt has room.
    compression_ratio: the share that is kept.
    gamma: how unevenly sentences are dropped.
    rho: the share of what is dropped that whole messages take.
    scoring: "query" keeps what has to do with the question, "seed" what has financial words.
    keep_last: messages at the end that stay whole.
    """

    use_r2c: bool | None = None
    max_tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS)] | None = None
    compression_ratio: Annotated[float, Field(ge=0.05, le=1)] | None = None
    gamma: Annotated[float, Field(ge=0, le=10)] | None = None
    rho: Annotated[float, Field(ge=0, le=1)] | None = None
    scoring: Literal["query", "seed"] | None = None
    keep_last: Annotated[int, Field(ge=1, le=2 * MOST_WINDOW)] | None = None

    @property
    def compression(self) -> tuple[tuple[str, Value], ...]:
        """What it changes of the settings, by their names."""
        given = {
            "compression": self.use_r2c,
            "seed_scoring": None if self.scoring is None else self.scoring == "seed",
            "compression_tokens": self.max_tokens,
            "compression_ratio": self.compression_ratio,
            "compression_gamma": self.gamma,
            "compression_rho": self.rho,
        }
        changes: dict[str, Value] = {name: value for name, value in given.items() if value is not None}
        if self.keep_last is not None:
            changes["prompt_exchanges"] = (self.keep_last + 1) // 2
        return tuple(changes.items())
