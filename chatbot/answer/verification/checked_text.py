"""Puts together what was found of an answer: text, citations, figures and marks as they are shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.answer.citations.latex import plain_arithmetic
from chatbot.answer.citations.shown_keys import short_key, with_key, with_short_keys
from chatbot.answer.citations.shown_orders import instructs_by_name
from chatbot.answer.verification.figure_proof import printed_figures, prove_calculations
from chatbot.answer.verification.located import LocatedQuote
from chatbot.answer.verification.mechanical_checks import figures_known
from chatbot.answer.verification.proof import JudgedStatement, judge
from chatbot.answer.verification.reading_call import StatementReading
from chatbot.answer.verification.statements import MOST_STATEMENTS, statements_of
from chatbot.evidence.page import page_of
from chatbot.evidence.table_cells import cells_at
from chatbot.records import (
    CONFIRMED,
    DOUBTFUL,
    Citation,
    Hit,
    NumberCheck,
    Prompt,
    Statement,
    StatementCalculation,
    StatementQuote,
)
from ingestion.precedence import giving_way
from ingestion.records import Span

__all__ = ["UNKNOWN_KEY", "CheckedText", "at_cells", "check_statements", "cited", "judged_statements"]

UNKNOWN_KEY = "there is no source with this number"
ELSEWHERE = "it is on page {page}, not on this one"
UNREAD = "what it says was not compared with the page"
PLACED = "it is on page {page}; what it means there was not checked"
UNPLACED = "it was not checked"
PICTURED = "the page's text does not prove it; the model also had a picture of the page, which nobody checks"


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A checked answer.

    text: as shown, with the keys that were added.
    citations, numbers, statements: as in Answer.
    """

    text: str
    citations: tuple[Citation, ...]
    numbers: tuple[NumberCheck, ...]
    statements: tuple[Statement, ...]


def check_statements(text: str, prompt: Prompt, reading: StatementReading | None = None) -> CheckedText:
    """A chat model's answer with what is proven of it.

    text: as the model wrote it, with whole keys. A statement without a key gets that of the page on which it
        was found.
    reading: what a reader says of its statements, None without one.
    """
    text = plain_arithmetic(text)
    judged = judged_statements(text, prompt, reading)
    by = reading.by[0] if reading and reading.read else ""
    pieces = list[str]()
    starts = list[int]()
    statements = list[Statement]()
    length = position = 0
    for one in judged:
        start, end = one.statement.start, one.statement.end
        added = one.quotes[0].key if one.quotes and one.mark in CONFIRMED and not one.statement.keys else ""
        said = with_key(text[start:end], added)
        starts.append(length + start - position)
        pieces += [text[position:start], said]
        length = starts[-1] + len(said)
        position = end
        statements.append(_statement(one, said, added, by, prompt))
    whole = "".join([*pieces, text[position:]])
    numbers = tuple(check for one in judged for check in _numbers(one, prompt))
    citations = _citations(whole, starts, judged, prompt)
    return CheckedText(with_short_keys(whole, prompt), citations, numbers, tuple(statements))


def judged_statements(
    text: str, prompt: Prompt, reading: StatementReading | None = None
) -> list[JudgedStatement]:
    """The statements of a model's answer with what is proven of each. text: with whole keys."""
    views = {key: page_of(hit) for key, hit in prompt.sources.items()}
    orders = frozenset(
        key for key, hit in prompt.sources.items() if hit.instructions or instructs_by_name(hit)
    )
    statements = statements_of(text, prompt.sources)
    read = reading.read if reading else {}
    looked_at, others = statements[:MOST_STATEMENTS], statements[MOST_STATEMENTS:]
    beside = figures_known(looked_at, views)
    calculations = (
        prove_calculations(prompt.calculations, printed_figures(views)) if prompt.calculations else []
    )
    judged = [
        judge(
            one,
            read.get(number),
            views,
            question=prompt.question,
            beside=beside,
            instructing=orders,
            worked_out=prompt.calculations,
            calculations=calculations,
        )
        for number, one in enumerate(giving_way(looked_at), 1)
    ]
    pictured = frozenset(prompt.pictured)
    return [*(_from_picture(one, pictured) for one in judged), *map(JudgedStatement, others)]


def _from_picture(one: JudgedStatement, pictured: frozenset[str]) -> JudgedStatement:
    """A statement that nothing but the picture of a page it cites can bear out is so marked."""
    denied = one.misquoted or one.verdict == "contradicted"
    if one.mark != "not_found" or denied or pictured.isdisjoint(one.statement.keys):
        return one
    return replace(one, mark="pictured", doubts={}, reason=PICTURED)


# --- citations
# ------------------------------------------------------------------------------------------------------------


def _citations(
    text: str, starts: Sequence[int], judged: Sequence[JudgedStatement], prompt: Prompt
) -> tuple[Citation, ...]:
    """A citation for each key of the text, in order. starts: of the statements in it."""
    found = list[Citation]()
    for mark in KEYS_IN_BRACKETS.finditer(text):
        at = bisect_right(starts, mark.start()) - 1
        for key in ANY_KEY.findall(mark[0]):
            hit = prompt.sources.get(key)
            if hit is None:
                found.append(Citation(key, None, None, None, "", False, reason=UNKNOWN_KEY))
            else:
                found.append(_citation(key, hit, judged[at] if at >= 0 else None, prompt))
    return tuple(found)


def _citation(key: str, hit: Hit, one: JudgedStatement | None, prompt: Prompt) -> Citation:
    """The citation of a page for a statement. None for one that stands behind none."""
    quotes = one.quotes if one else ()
    own = next((quote for quote in quotes if quote.key == key), None)
    start, end = max(own.spans, key=lambda span: span[1] - span[0]) if own else (-1, -1)
    instructs = instructs_by_name(hit) or any(
        start < 0 or (first < end and start < last) for first, last in hit.instructions
    )
    verified = bool(own and one and one.mark in CONFIRMED | {"inference"})
    reason = None
    if one and not verified:
        other = next((quote.key for quote in quotes), "")
        reason = one.reason or (ELSEWHERE.format(page=prompt.sources[other].page) if other else UNREAD)
    if own is None and one:
        start, end = _row_of_figure(one, key, hit)
    doubted = bool(one and one.mark in DOUBTFUL)
    basis = "located" if verified or doubted else "unread"
    if one and one.mark == "pictured" and key in prompt.pictured:
        basis = "pictured"
    proofs = [proof for _, proof in one.figures if proof and proof.key == key] if one else []
    figures = [(proof.start, proof.start + 1) for proof in proofs if proof.start >= 0]
    found = cited(key, hit, (start, end), reason, verified=verified, instructs=instructs, basis=basis)
    return at_cells(found, hit, figures)


def cited(
    key: str,
    hit: Hit,
    span: tuple[int, int],
    reason: str | None,
    *,
    verified: bool,
    instructs: bool,
    basis: str = "located",
) -> Citation:
    """The citation of a page. key: whole. span: of its quotation in the page's text, (-1, -1) for none."""
    start, end = span
    return Citation(
        short_key(key),
        hit.document,
        hit.page,
        hit.page_label,
        page_of(hit).text[start:end] if start >= 0 else "",
        verified,
        start,
        end,
        hit.version,
        reason,
        hit.confidence,
        instructs,
        basis,
    )


def at_cells(citation: Citation, hit: Hit, figures: Sequence[Span]) -> Citation:
    """The citation of a workbook's page with its cells in place of the page's label: those that these
    figures stand in, else those of its quotation.
    """
    places = figures or [(citation.start, citation.end)]
    return replace(citation, page_label=cells_at(hit.tables, places, hit.page_label))


def _row_of_figure(one: JudgedStatement, key: str, hit: Hit) -> tuple[int, int]:
    """The line of a page that has a figure of a statement, where no quotation is known."""
    for _, proof in one.figures:
        if proof and proof.key == key and proof.start >= 0:
            start = hit.page_text.rfind("\n", 0, proof.start) + 1
            end = hit.page_text.find("\n", proof.start)
            return start, end if end >= 0 else len(hit.page_text)
    return -1, -1


# --- figures and statements
# ------------------------------------------------------------------------------------------------------------


def _numbers(one: JudgedStatement, prompt: Prompt) -> Iterator[NumberCheck]:
    confirmed = one.mark in CONFIRMED or one.mark == "inference" or one.verdict == "about_sources"
    for figure, proof in one.figures:
        status, reason, formula = "not_checked", one.reason if one.mark == "pictured" else UNPLACED, None
        if proof and proof.key:
            page = prompt.sources[proof.key].page
            reason = f"it is {proof.printed} on page {page}" if confirmed else PLACED.format(page=page)
        doubt = one.doubts.get(figure.start)
        if doubt and one.mark != "contradicted":
            status, reason = "unsupported", doubt
        elif proof and confirmed:
            status = "derived" if proof.relation == "calculated" else "supported"
            if status == "derived":
                written = "; ".join(each.calculation.expression for each in one.calculations)
                formula = f"{written} = {figure.text}" if written else one.statement.text
                reason = "it is calculated from figures of the pages"
        elif one.mark == "contradicted" and proof is None:
            status, reason = "contradicted", one.reason
        yield NumberCheck(
            figure.text,
            figure.value,
            figure.unit,
            figure.scale,
            figure.period,
            status,
            short_key(proof.key) if proof and proof.key else None,
            formula,
            reason,
        )


def _shown_quote(quote: LocatedQuote, hit: Hit) -> StatementQuote:
    parts = [hit.page_text[slice(*span)] for span in quote.spans]
    return StatementQuote(short_key(quote.key), hit.document, hit.page, " … ".join(parts), *quote.spans[0])


def _statement(one: JudgedStatement, said: str, added: str, by: str, prompt: Prompt) -> Statement:
    keys = one.statement.keys
    if keys:
        status = "cited"
    elif added:
        status = "cited_by_check"
    else:
        status = "unsupported" if one.mark in DOUBTFUL else "not_checked"
    quotes = tuple(_shown_quote(quote, prompt.sources[quote.key]) for quote in one.quotes)
    calculation = None
    if one.mark == "calculated" and one.calculations:
        first = one.calculations[0]
        written = "; ".join(each.calculation.expression for each in one.calculations)
        operands = [pair for each in one.calculations for pair in each.operands]
        shown = tuple((text, short_key(key)) for text, key in operands)
        calculation = StatementCalculation(written, first.calculation.value, shown)
    key = next(iter(keys), added)
    return Statement(
        with_short_keys(said, prompt),
        status,
        short_key(key) if key else None,
        one.verdict or "not_checked",
        one.mark,
        quotes,
        calculation,
        one.reason,
        by if one.verdict else "",
    )
