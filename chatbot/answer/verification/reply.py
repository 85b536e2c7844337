"""What a reader replies of an answer's statements, and how the reply is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from chatbot.errors import ProjectError
from chatbot.models.model_text import clean_json

__all__ = [
    "Calculated",
    "ReadFigure",
    "ReadQuote",
    "ReadStatement",
    "ReplyError",
    "read_reply",
    "reply_schema",
    "written_reply",
]

# Of one reply; a longer one is of something else than what was asked.
LONGEST_REPLY = 400_000
MOST_QUOTES, LONGEST_QUOTE, MOST_FIGURES = 8, 2_000, 60
LONGEST_PLACE = 60
_FENCE = "```"


class ReplyError(ProjectError):
    """A reply that is not what was asked for."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ReadQuote(_Part):
    """Words of a page, verbatim. page: its key."""

    page: str
    text: str


_NONE = ReadQuote(page="", text="")


class ReadFigure(_Part):
    """A figure of a statement and the figure of a quotation that it is taken from.

    quote: the position of that quotation, from 0; -1 for none.
    """

    as_written: str
    as_printed: str
    quote: int
    relation: Literal["same", "rounded", "unit_converted", "sign_in_words", "counted", "not_a_claim"]


class Operand(_Part):
    """A number of a calculation as it is printed. quote: as in ReadFigure."""

    value: str
    quote: int


class Calculated(_Part):
    """How a figure of a statement is worked out."""

    expression: str
    operands: list[Operand]


class ReadStatement(_Part):
    """What a reader found of one statement."""

    number: int
    verdict: Literal["stated", "computed", "inferred", "about_sources", "contradicted", "not_stated"]
    quotes: list[ReadQuote]
    figures: list[ReadFigure]
    calculation: Calculated | None
    difference: str


class _Reply(_Part):
    statements: list[ReadStatement]


def reply_schema() -> Mapping[str, Any]:
    """The JSON schema of a reply, with every object closed and every property required."""
    return _Reply.model_json_schema()


def written_reply(parts: Sequence[ReadStatement]) -> str:
    """What `read_reply` reads, as it is kept."""
    return _Reply(statements=list(parts)).model_dump_json()


def read_reply(text: str, numbers: Sequence[int] = ()) -> dict[int, ReadStatement]:
    """What a reply says of each statement that was asked about. numbers: of these, () for any.

    Of a number that comes twice the first counts. Too many quotations and figures are left out. Raises
    ReplyError with what is wrong with it, for the model.
    """
    if len(text) > LONGEST_REPLY:
        raise ReplyError("The reply is too long.", hint="Reply with the JSON object alone.")
    text = text.strip().removeprefix(_FENCE).removeprefix("json").removesuffix(_FENCE)
    try:
        parts = _Reply.model_validate(clean_json(json.loads(text, strict=False))).statements
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))[:LONGEST_PLACE]
        raise ReplyError(
            f"The reply breaks the schema at {place}: {first['msg']}.", hint="Keep it."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReplyError("The reply is not JSON.", hint="Reply with the JSON object alone.") from error
    found: dict[int, ReadStatement] = {}
    for part in parts:
        if (not numbers or part.number in numbers) and part.number not in found:
            quotes = [quote if len(quote.text) <= LONGEST_QUOTE else _NONE for quote in part.quotes]
            limits = {"quotes": quotes[:MOST_QUOTES], "figures": part.figures[:MOST_FIGURES]}
            found[part.number] = part.model_copy(update=limits)
    if not found and numbers:
        raise ReplyError("The reply has none of the statements.", hint="Judge each by its number.")
    return found
