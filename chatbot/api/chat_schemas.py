"""Defines the parameters and replies of the addresses that a browser extension calls."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, StrictBool

from chatbot.api.schemas import Question, ShorteningIn, Strategy
from chatbot.forms import Strict

__all__ = ["ChatIn", "ChatOut", "ClearedOut", "ModelsOut", "SessionStats", "WebTextIn", "WebTextOut"]

Session = Annotated[str, Field(max_length=200)]
Address = Annotated[str, Field(max_length=2_000)]


class ChatIn(Strict, ShorteningIn):
    """A question.

    models: one or several, with commas: "PROVIDER:MODEL", "extractive" for the documents' own words; "" takes
        the settings' own.
    use_rag: whether the documents are searched; false asks the model without them, and nothing is cited.
    use_r2c: whether the whole conversation is sent, shortened when it is long; false sends the last exchanges
        alone.
    current_url: the page that the browser shows.
    strategy: how the pieces of a long question are combined.
    session_id: a name of your choice for the conversation; "" is the browser's by its cookie, or the key's
        only one.
    private: whether nothing of it is written to disk, also where sessions are kept.
    """

    question: Question
    models: Annotated[str, Field(max_length=1_000)] = ""
    is_advanced: bool = False
    use_rag: bool = True
    use_r2c: bool = True
    current_url: Address = ""
    strategy: Strategy | None = None
    session_id: Session = ""
    private: bool = False


class SessionStats(BaseModel):
    """What compression has done in a conversation.

    compression_history: {timestamp, original_tokens, compressed_tokens, chunks_compressed}, oldest first.
    threshold: tokens above which it is shortened, as far as the prompt has room.
    """

    message_count: int
    token_count: int
    compressed: bool
    compression_count: int
    compression_history: list[dict[str, int | float]]
    threshold: int


class ChatOut(BaseModel):
    """Answers.

    resp: the text by model, with documents, pages and addresses in brackets.
    reply: that of the first model.
    answers: all that is known of each, as `/api/v1/ask` gives it.
    errors: why a model failed, by model; its text in `resp` is then in the documents' own words, or missing.
    notices: what the reader should know.
    """

    resp: dict[str, str]
    reply: str
    r2c_stats: SessionStats
    session_id: str
    answers: dict[str, dict[str, Any]]
    errors: dict[str, str]
    notices: list[str]


class WebTextIn(Strict):
    """A web page as the browser shows it.

    textContent: its text; "" has the page fetched, where FINPOLICY_FETCH_PAGES allows it.
    """

    textContent: Annotated[str, Field(max_length=1_000_000)] = ""
    currentUrl: Annotated[str, Field(max_length=2_000, pattern=r"^https?://\S+$")]
    title: Annotated[str, Field(max_length=1_000)] = ""
    session_id: Session = ""
    use_r2c: StrictBool = True


class WebTextOut(BaseModel):
    """What was kept of a page. texts: how many pages the session has now."""

    resp: str
    session_id: str
    characters: int
    texts: int


class ClearedOut(BaseModel):
    """What was forgotten."""

    resp: str
    session_id: str
    messages: int
    texts: int


class ModelsOut(BaseModel):
    """The models that can be named. default: the one that answers if none is named."""

    models: list[str]
    default: str
