"""Checks an answer's citations and figures again, on pages that were read just now.

Looks nothing up and trusts no recorded status.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.answer.citations.shown_keys import with_whole_keys, without_added
from chatbot.answer.verification.checked_text import CheckedText, check_statements
from chatbot.answer.verification.own_text import check_quoted
from chatbot.answer.verification.reading_call import kept_reading
from chatbot.answer.verification.statements import statements_of
from chatbot.audit.record import FigureCheckRecord, Quote, Record, Source, StatementRecord, recorded
from chatbot.evidence.highlights import confidence_of
from chatbot.records import Citation, Hit, NumberCheck, Prompt, ReadBack, Statement
from ingestion.chunks import chunk_pages
from ingestion.document import DocumentReading
from ingestion.language.numbers import find_figures
from ingestion.records import Word

__all__ = ["RecheckedAnswer", "asked_of", "check_again", "checks_of", "stated", "with_keys"]


@dataclass(frozen=True, slots=True)
class RecheckedAnswer:
    """What the checker finds today.

    citations: in the order of the answer's keys.
    checks: the checks of its figures.
    statements: the checks of its statements.
    asked: as ReadingRecord.asked.
    """

    citations: tuple[Citation, ...]
    checks: tuple[FigureCheckRecord, ...]
    statements: tuple[StatementRecord, ...] = ()
    asked: tuple[str, ...] = ()


def check_again(
    record: Record, readings: Mapping[str, DocumentReading], titles: Mapping[str, Sequence[str]]
) -> RecheckedAnswer:
    """Returns the answer's citations and figures as checked on these readings, by SHA-256 of the file.

    Sources whose file is not among the readings are left out.

    titles: the titles that each file may have in the context of its chunks. A title taken from the record
        could say anything.

    Raises KeyError for a page that a document does not have.
    """
    hits: dict[str, Hit] = {}
    words: dict[str, tuple[Word, ...]] = {}
    for source in record.sources:
        reading = readings.get(source.sha256)
        if reading is None:
            continue
        hits[source.key] = _hit(source, reading, titles.get(source.sha256, ()))
        words[source.key.partition("-")[0]] = reading.pages[source.page - 1].words
    sent = record.sent
    prompt = Prompt(
        record.question,
        record.query,
        hits,
        (),
        (),
        sent.messages if sent else (),
        "",
        calculations=sent.calculations if sent else (),
        pictured=sent.pictured if sent else (),
    )
    checked, asked = _checked(record, prompt)
    citations = tuple(_with_confidence(citation, words) for citation in checked.citations)
    return RecheckedAnswer(citations, checks_of(checked.numbers), stated(checked.statements), asked)


def _checked(record: Record, prompt: Prompt) -> tuple[CheckedText, tuple[str, ...]]:
    """Proves all anew: of a model's answer without the keys that were added, by what its reader said then.

    Also what that reader was asked.
    """
    text = with_keys(record.answer, record.quotes, [source.key for source in record.sources])
    if not record.by_model:
        return check_quoted(text, prompt), ()
    statements = []
    for noted in record.statements:
        statements.append(Statement(with_whole_keys(noted.text, prompt), noted.status, noted.citation))
    kept = record.reading
    reading = kept_reading(ReadBack(kept.model, kept.host, kept.reply, kept.reason)) if kept else None
    written = without_added(text, statements, prompt)
    return check_statements(written, prompt, reading), asked_of(written, prompt)


def asked_of(written: str, prompt: Prompt) -> tuple[str, ...]:
    """What a reader is asked of a model's answer, as ReadingRecord.asked. written: as the model wrote it."""
    statements = statements_of(written, prompt.sources)
    return tuple(hashlib.sha256(one.text.encode("utf-8", "replace")).hexdigest() for one in statements)


def stated(statements: Sequence[Statement]) -> tuple[StatementRecord, ...]:
    """Returns the statements in the form of the record."""
    found = []
    for one in statements:
        worked_out = one.calculation.expression if one.calculation else ""
        found.append(recorded(StatementRecord, one, calculation=worked_out))
    return tuple(found)


def checks_of(numbers: Sequence[NumberCheck]) -> tuple[FigureCheckRecord, ...]:
    """Returns the checks in the form of the record, with the figures of each formula before its result."""
    found = []
    for check in numbers:
        computed = (check.formula or "").rpartition("=")[0]
        operands = tuple(dict.fromkeys(figure.text for figure in find_figures(computed)))
        value = check.value if math.isfinite(check.value) else None
        found.append(recorded(FigureCheckRecord, check, value=value, operands=operands))
    return tuple(found)


def with_keys(answer: str, quotes: Sequence[Quote], keys: Sequence[str]) -> str:
    """Returns the answer with its keys as the model was given them.

    An answer shows keys as [S1]. Only the whole key shows that it was a known one.
    """
    whole = {key.partition("-")[0]: key for key in keys}
    left = iter(quotes)

    def whole_key(found: re.Match[str]) -> str:
        quote = next(left, None)
        if quote is None or quote.leaf is None:
            return found[0]
        return whole.get(found[0], found[0])

    return KEYS_IN_BRACKETS.sub(lambda mark: ANY_KEY.sub(whole_key, mark[0]), answer)


def _hit(source: Source, reading: DocumentReading, titles: Sequence[str]) -> Hit:
    page = {page.number: page for page in reading.pages}[source.page]
    title = source.title if source.title in titles else ""
    text, context = page.text, ""
    for chunk in chunk_pages(reading.pages, title):
        if chunk.ordinal == source.chunk:
            if chunk.page == page.number:
                text, context = chunk.text, chunk.context
            break
    return Hit(
        document=source.document,
        version=0,
        page=page.number,
        page_label=page.label,
        label_source=page.label_source,
        extraction_method=page.method,
        confidence=page.confidence,
        chunk_id="",
        text=text,
        page_text=page.text,
        context=context,
        tables=page.tables,
        kinds=page.kinds,
        instructions=page.instructions,
        facts=reading.facts,
    )


def _with_confidence(citation: Citation, words: Mapping[str, tuple[Word, ...]]) -> Citation:
    if citation.confidence is None or citation.start < 0:
        return citation
    confidence = confidence_of(words.get(citation.key, ()), citation.start, citation.end)
    return replace(citation, confidence=confidence)
