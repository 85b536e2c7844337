"""Defines the requests that OpenAI's clients send to `/v1/`, as far as they are used here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from chatbot.asking.question import LONGEST_QUESTION
from chatbot.asking.schema_answers import check_schema
from chatbot.errors import UsageError
from chatbot.forms import Body
from chatbot.models.tokens import text_of_tokens
from chatbot.records import Exchange

__all__ = ["CompletionIn", "EmbeddingsIn", "ResponseIn", "TalkIn"]

MOST_MESSAGES = 1_000
MOST_PARTS = 100
MOST_TEXTS = 2_048
LONGEST_TEXT = 100_000
MOST_TOKENS = 50_000
# A part's text, by what its type ends in: "text", "input_text" and "output_text".
TEXT = "text"
Text = Annotated[str, Field(max_length=1_000_000)]
Part = dict[str, Any]
Model = Annotated[str, Field(min_length=1, max_length=200)]
# A list is given up with its first wrong entry: an error for each would keep all requests waiting.
Tokens = Annotated[list[int], Field(fail_fast=True, max_length=MOST_TOKENS)]


class MessageIn(Body):
    """A message of a conversation. content: its text, or parts, which are texts."""

    role: Annotated[str, Field(max_length=40)] = ""
    content: Text | Annotated[list[Part], Field(max_length=MOST_PARTS)] = ""

    @property
    def text(self) -> str:
        """Its words. Raises UsageError for what is not read, such as an image."""
        if isinstance(self.content, str):
            return self.content
        for part in self.content:
            kind = str(part.get("type"))
            if not kind.endswith(TEXT) and kind != "refusal":
                raise UsageError(
                    f"A message has a part of the type {kind[:40]!r}, which is not read.",
                    hint="Send its text. Files go to POST /api/v1/documents.",
                )
        texts = [part.get(TEXT) or part.get("refusal") for part in self.content]
        return "\n".join(text for text in texts if isinstance(text, str))


class TalkIn(Body):
    """A question with the conversation before it, as all forms of it have it.

    The last message is the question. Messages of the role "system" are not used: what is to be said and how
    it is checked is this program's own. Parameters that are not listed, such as `temperature`, are ignored.

    model: "finpolicy", "extractive" or "PROVIDER:MODEL".
    """

    model: Model
    stream: StrictBool = False
    tool_choice: str | dict[str, Any] = ""

    @property
    def talk(self) -> Sequence[MessageIn]:
        """The messages."""
        raise NotImplementedError

    @property
    def form(self) -> dict[str, Any]:
        """What is said of the answer's form: its type, and the schema."""
        raise NotImplementedError

    def check(self) -> None:
        """Raises UsageError for what cannot be done and would be missed."""
        if isinstance(self.tool_choice, dict) or self.tool_choice == "required":
            raise UsageError("No tools of the caller's are called.", hint="Leave tool_choice out.")
        kind = self.form.get("type", TEXT)
        if kind not in (TEXT, "json_schema"):
            raise UsageError(
                f"The form of the answer is {str(kind)[:40]!r}.",
                hint="Use text, or json_schema with your schema. POST /api/v1/ask gives JSON.",
            )
        if not self.talk or self.talk[-1].role != "user":
            raise UsageError("The last message is not of the role user.", hint="End with the question.")

    @property
    def schema_wanted(self) -> dict[str, Any] | None:
        """The schema that the answer is to follow, None for text. Raises UsageError for one that is none."""
        if self.form.get("type") != "json_schema":
            return None
        return check_schema(self.form.get("json_schema", self.form).get("schema"))

    @property
    def question(self) -> str:
        """The last message."""
        return self.talk[-1].text

    @property
    def history(self) -> tuple[Exchange, ...]:
        """The exchanges before the question, each user's message with what was answered to it."""
        exchanges: list[Exchange] = []
        for message in self.talk[:-1]:
            if message.role == "user":
                exchanges.append(Exchange(message.text[:LONGEST_QUESTION], ""))
            elif message.role == "assistant" and exchanges and not exchanges[-1].assistant:
                exchanges[-1] = Exchange(exchanges[-1].user, message.text)
        return tuple(exchange for exchange in exchanges if exchange.assistant)


class StreamOptions(Body):
    """include_usage: whether the last event counts the tokens."""

    include_usage: StrictBool = False


class CompletionIn(TalkIn):
    """The body of /v1/chat/completions."""

    messages: Annotated[list[MessageIn], Field(min_length=1, max_length=MOST_MESSAGES)]
    stream_options: StreamOptions = StreamOptions()
    n: int = 1
    response_format: dict[str, Any] = Field(default_factory=dict)

    def check(self) -> None:
        """See TalkIn.check."""
        if self.n != 1:
            raise UsageError(f"n is {self.n}: each question gets one answer.", hint="Leave n out.")
        super().check()

    @property
    def talk(self) -> Sequence[MessageIn]:
        """The messages."""
        return self.messages

    @property
    def form(self) -> dict[str, Any]:
        """What is said of the answer's form."""
        return self.response_format


class TextForm(Body):
    """How the text of a response is to be. format: its type, and the schema."""

    format: dict[str, Any] = Field(default_factory=dict)


class ResponseIn(TalkIn):
    """The body of /v1/responses. input: the question, or the conversation that ends with it."""

    input: Text | Annotated[list[MessageIn], Field(min_length=1, max_length=MOST_MESSAGES)]
    text: TextForm = TextForm()
    previous_response_id: str = ""
    background: StrictBool = False

    def check(self) -> None:
        """See TalkIn.check."""
        if self.previous_response_id:
            raise UsageError(
                "Responses are not kept, so none can be followed.", hint="Send the conversation as input."
            )
        if self.background:
            raise UsageError("No response is made in the background.", hint="Leave background out.")
        super().check()

    @property
    def talk(self) -> Sequence[MessageIn]:
        """The messages. Items of other kinds, such as calls of tools, have no role."""
        if isinstance(self.input, str):
            return [MessageIn(role="user", content=self.input)]
        return [item for item in self.input if item.role]

    @property
    def form(self) -> dict[str, Any]:
        """What is said of the answer's form."""
        return self.text.format


class EmbeddingsIn(Body):
    """Texts to embed, or tokens of cl100k_base. dimensions: only the model's own."""

    model: Model
    input: (
        Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]
        | Annotated[
            list[Annotated[str, Field(max_length=LONGEST_TEXT)]],
            Field(min_length=1, max_length=MOST_TEXTS, fail_fast=True),
        ]
        | Annotated[Tokens, Field(min_length=1)]
        | Annotated[list[Tokens], Field(min_length=1, max_length=MOST_TEXTS, fail_fast=True)]
    )
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int = 0

    @property
    def texts(self) -> list[str]:
        """The texts. Raises UsageError for tokens that are none."""
        given = [self.input] if isinstance(self.input, str) or isinstance(self.input[0], int) else self.input
        try:
            return [one if isinstance(one, str) else text_of_tokens(one) for one in given]
        except ValueError as error:
            raise UsageError(
                f"The input is no tokens of cl100k_base: {error}.",
                hint="Send text; with LangChain, OpenAIEmbeddings(check_embedding_ctx_length=False).",
            ) from error
