"""Has a chat model judge an answer's statements: one call, a second try where its reply cannot be used."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatbot.answer.verification.located import locate_quotations
from chatbot.answer.verification.reply import (
    ReadStatement,
    ReplyError,
    read_reply,
    reply_schema,
    written_reply,
)
from chatbot.answer.verification.request import ReadingRequest, requests_for
from chatbot.answer.verification.statements import MOST_STATEMENTS, AnswerStatement
from chatbot.errors import ModelError
from chatbot.evidence.page import page_of
from chatbot.models.chat import LLM, Reply
from chatbot.models.tokens import count_tokens
from chatbot.records import Hit, ReadBack, Usage

__all__ = ["StatementReading", "kept_reading", "read_statements", "replies_to"]

# Tokens that a reply may take: for each statement, and for all.
TOKENS_A_STATEMENT, FEWEST_TOKENS, MOST_TOKENS = 400, 1_500, 16_000
# A reply that says these of a statement says more of it than one of another run of pages that does not.
_TELLING = ("stated", "computed", "contradicted", "inferred", "about_sources", "not_stated")
TOO_MANY_TOKENS = "To compare all pages would take too many tokens (FINPOLICY_VERIFY_TOKENS)."
_SURE = frozenset({"stated", "computed", "contradicted"})
# Endpoints that refused a schema, by model and host; they are asked in words.
_WITHOUT_SCHEMA: set[tuple[str, str]] = set()


@dataclass(frozen=True, slots=True)
class StatementReading:
    """What a reader says of an answer's statements.

    read: by their numbers, from 1, pages by the keys of the answer's prompt; what is missing was not judged.
    by: the model's name, and its host.
    reason: why statements are missing, "" if none are.
    usage: of all calls.
    failed: whether it is the endpoint that failed, or time that ran out, rather than the reader.
    """

    read: Mapping[int, ReadStatement] = field(default_factory=dict)
    by: tuple[str, str] = ("", "")
    reason: str = ""
    usage: Usage = field(default_factory=Usage)
    failed: bool = False

    @property
    def record(self) -> ReadBack:
        """The reading as it is kept with its answer."""
        parts = [one.model_copy(update={"number": number}) for number, one in sorted(self.read.items())]
        return ReadBack(*self.by, written_reply(parts) if parts else "", self.reason)


def kept_reading(kept: ReadBack | None) -> StatementReading | None:
    """A reading that was kept with its answer. None if there is none, or its reply is damaged."""
    if kept is None:
        return None
    try:
        read = read_reply(kept.reply) if kept.reply else {}
    except ReplyError:
        return None
    return StatementReading(read, (kept.model, kept.host), kept.reason)


def read_statements(
    model: LLM,
    question: str,
    statements: Sequence[AnswerStatement],
    sources: Mapping[str, Hit],
    *,
    context: int,
    timeout: float,
    tokens: int,
    stop: Callable[[], bool],
) -> StatementReading:
    """Have a model judge statements by their pages. Raises nothing: what failed is the reading's reason.

    context: of the model, in tokens. timeout: seconds for all calls. tokens: the most of all their prompts.
    stop: whether the user wants no more.

    Of a reading that is not complete only those verdicts stand that no further page can change.
    """
    end = time.monotonic() + timeout
    budget = _Budget(tokens)
    read: dict[int, ReadStatement] = {}
    reason = ""
    failed = False

    def over() -> bool:
        return stop() or time.monotonic() > end

    try:
        for request in requests_for(question, statements, sources, context):
            if over():
                break
            for number, one in _asked(model, request, sources, over, budget).items():
                if number not in read or _rank(one) < _rank(read[number]):
                    read[number] = one
    except ModelError as error:
        reason, failed = error.message, True
    except ReplyError as error:
        reason = error.message
    if over():
        reason, failed = (
            ("It was stopped." if stop() else "It took too long (FINPOLICY_VERIFY_TIMEOUT)."),
            True,
        )
    if reason:
        read = {number: one for number, one in read.items() if one.verdict in _SURE}
    elif len(read) < len(statements[:MOST_STATEMENTS]):
        reason = f"{model.name} skipped some statements."
    elif len(read) < len(statements):
        reason = f"Only the first {MOST_STATEMENTS} statements of an answer are compared."
    return StatementReading(read, (model.name, model.host), reason, budget.usage, failed)


def replies_to(request: ReadingRequest, text: str) -> dict[int, ReadStatement]:
    """What a reply says, its pages by the keys of the answer's prompt. Raises ReplyError."""
    found = {}
    for number, one in read_reply(text, request.numbers).items():
        quotes = [quote.model_copy(update={"page": request.keys.get(quote.page, "")}) for quote in one.quotes]
        found[number] = one.model_copy(update={"quotes": quotes})
    return found


def _rank(one: ReadStatement) -> int:
    return _TELLING.index(one.verdict)


@dataclass(slots=True)
class _Budget:
    """What a reading may still take, and what it took.

    tokens: of all prompts to come.
    """

    tokens: int
    usage: Usage = field(default_factory=Usage)

    def spend(self, messages: Sequence[tuple[str, str]]) -> None:
        """Raises ReplyError if the tokens do not suffice."""
        self.tokens -= sum(count_tokens(part) for _, part in messages)
        if self.tokens < 0:
            raise ReplyError(TOO_MANY_TOKENS)


def _asked(
    model: LLM, request: ReadingRequest, sources: Mapping[str, Hit], over: Callable[[], bool], budget: _Budget
) -> dict[int, ReadStatement]:
    """What a model replies. Raises ModelError, ReplyError.

    Asks once more where the reply breaks the schema or quotes what does not stand on its pages.
    """
    text = _reply(model, request.messages, len(request.numbers), over, budget)
    try:
        found = replies_to(request, text)
        fault = _unfound(found, sources)
        if not fault:
            return found
    except ReplyError as error:
        found, fault = {}, str(error)
    if over():
        return found
    try:
        second = _reply(model, request.again(text, fault), len(request.numbers), over, budget)
        return replies_to(request, second)
    except ReplyError:
        if not found:
            raise
        return found


def _unfound(found: Mapping[int, ReadStatement], sources: Mapping[str, Hit]) -> str:
    """What is wrong with the quotations of a reply, "" for nothing."""
    views = {key: page_of(hit) for key, hit in sources.items()}
    wrong = []
    for number, one in found.items():
        located = locate_quotations([(quote.page, quote.text) for quote in one.quotes], views)
        if not all(located):
            wrong.append(number)
    if not wrong:
        return ""
    numbers = ", ".join(map(str, wrong))
    return f"Quotations of statements {numbers} are not on the pages named, character by character."


def _reply(
    model: LLM,
    messages: Sequence[tuple[str, str]],
    statements: int,
    over: Callable[[], bool],
    budget: _Budget,
) -> str:
    """A model's reply. Raises ModelError, and ReplyError where the budget does not suffice."""
    budget.spend(messages)
    room = min(MOST_TOKENS, max(FEWEST_TOKENS, TOKENS_A_STATEMENT * statements))
    endpoint = model.name, model.host
    schema = None if endpoint in _WITHOUT_SCHEMA else reply_schema()
    started = time.monotonic()
    try:
        text, reply = _streamed(model, messages, room, schema, over)
    except ModelError:
        if schema is None or over():
            raise
        text, reply = _streamed(model, messages, room, None, over)
        _WITHOUT_SCHEMA.add(endpoint)
    if reply.prompt_tokens:
        usage = Usage(reply.prompt_tokens, reply.answer_tokens or count_tokens(text))
    else:
        usage = Usage(sum(count_tokens(part) for _, part in messages), count_tokens(text), estimated=True)
    usage = replace(usage, seconds=round(time.monotonic() - started, 3))
    budget.usage = usage.plus(budget.usage)
    return text


def _streamed(
    model: LLM,
    messages: Sequence[tuple[str, str]],
    room: int,
    schema: Mapping[str, object] | None,
    over: Callable[[], bool],
) -> tuple[str, Reply]:
    reply = model.stream(messages, max_tokens=room, schema=schema, stop=over)
    try:
        return "".join(reply), reply
    finally:
        reply.close()
