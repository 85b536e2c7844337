"""Defines the requests that OpenAI's clients send to `/v1/`, as far as they are used here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from chatbot.asking.question import LONGEST_QUESTION
from chatbot.errors import UsageError
from chatbot.records import Exchange

__all__ = ["CompletionIn", "EmbeddingsIn"]

MOST_MESSAGES = 1_000
MOST_PARTS = 100
MOST_TEXTS = 256
LONGEST_TEXT = 100_000
Text = Annotated[str, Field(max_length=1_000_000)]
Part = dict[str, Any]
# A list is given up with its first wrong entry: an error for each would keep all requests waiting.
Tokens = Annotated[list[int], Field(fail_fast=True)]


class MessageIn(BaseModel):
    """A message of a conversation. content: its text, or parts of which those of the type "text" count."""

    model_config = ConfigDict(extra="ignore")

    role: Annotated[str, Field(max_length=40)]
    content: Text | Annotated[list[Part], Field(max_length=MOST_PARTS)] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        if isinstance(self.content, list):
            texts = [part.get("text") for part in self.content if part.get("type") == "text"]
            return "\n".join(text for text in texts if isinstance(text, str))
        return self.content or ""


class StreamOptions(BaseModel):
    """include_usage: whether the last event counts the tokens."""

    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class CompletionIn(BaseModel):
    """A question with the conversation before it.

    The last message is the question. Messages of the role "system" are not used: what is to be said and how
    it is checked is this program's own. Parameters that are not listed, such as `temperature`, are ignored.

    model: "finpolicy", "extractive" or "PROVIDER:MODEL".
    """

    model_config = ConfigDict(extra="ignore")

    model: Annotated[str, Field(min_length=1, max_length=200)]
    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = 1
    tool_choice: str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None

    def check(self) -> None:
        """Raises UsageError for what cannot be done and would be missed."""
        if self.n not in (None, 1):
            raise UsageError(f"n is {self.n}: each question gets one answer.", hint="Leave n out.")
        if isinstance(self.tool_choice, dict) or self.tool_choice == "required":
            raise UsageError("No tools of the caller's are called.", hint="Leave tool_choice out.")
        kind = (self.response_format or {}).get("type", "text")
        if kind != "text":
            raise UsageError(
                f"response_format is {str(kind)[:40]!r}: answers are text.",
                hint="Remove it. POST /api/v1/ask gives JSON.",
            )
        if self.messages[-1].role != "user":
            raise UsageError("The last message is not of the role user.", hint="End with the question.")

    @property
    def question(self) -> str:
        """The last message."""
        return self.messages[-1].text

    @property
    def history(self) -> tuple[Exchange, ...]:
        """The exchanges before the question, each user's message with what was answered to it."""
        exchanges: list[Exchange] = []
        for message in self.messages[:-1]:
            if message.role == "user":
                exchanges.append(Exchange(message.text[:LONGEST_QUESTION], ""))
            elif message.role == "assistant" and exchanges and not exchanges[-1].assistant:
                exchanges[-1] = Exchange(exchanges[-1].user, message.text)
        return tuple(exchange for exchange in exchanges if exchange.assistant)


class EmbeddingsIn(BaseModel):
    """Texts to embed. dimensions: only the model's own."""

    model_config = ConfigDict(extra="ignore")

    model: Annotated[str, Field(min_length=1, max_length=200)]
    input: (
        Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
        | Annotated[
            list[Annotated[str, Field(max_length=LONGEST_TEXT)]],
            Field(min_length=1, max_length=MOST_TEXTS, fail_fast=True),
        ]
        | Annotated[Tokens | Annotated[list[Tokens], Field(fail_fast=True)], Field(min_length=1)]
    )
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = None

    @property
    def texts(self) -> list[str]:
        """The texts. Raises UsageError for numbers of tokens, whose vocabulary is not known."""
        given = [self.input] if isinstance(self.input, str) else self.input
        texts = [text for text in given if isinstance(text, str)]
        if len(texts) < len(given):
            raise UsageError(
                "The input is numbers of tokens, not text.",
                hint="Send text; with LangChain, OpenAIEmbeddings(check_embedding_ctx_length=False).",
            )
        return texts
