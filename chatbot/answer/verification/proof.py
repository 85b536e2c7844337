"""Proves what a reader says of an answer's statements, and gives each the mark that is proven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chatbot.answer.verification.figure_proof import (
    ProvenCalculation,
    ProvenFigure,
    is_quoted,
    prove_calculations,
    prove_figure,
    quoted_figures,
    unread_number,
)
from chatbot.answer.verification.located import LocatedQuote, is_passage, locate_quotations
from chatbot.answer.verification.mechanical_checks import FigureFindings, look_up, word_for_word
from chatbot.answer.verification.reply import ReadStatement
from chatbot.answer.verification.statements import AnswerStatement
from chatbot.evidence.page import PageEvidence, figures_said
from ingestion.language.numbers import Figure

__all__ = ["JudgedStatement", "judge"]

NOT_QUOTED = "the reader's quotation is not on the page"
TOO_LITTLE = "the reader quotes a word or two"
NOTHING_QUOTED = "the reader quotes nothing for it"
MACHINE = "the page addresses its reader as a machine"
FIGURE_UNPROVEN = "{figure} is not proven by the quotations"


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """A statement with what was found of it.

    verdict: the reader's, "" without one.
    mark: one of MARKS, "" for none.
    quotes: that it rests on, or that speak against it.
    figures: each figure of the statement with where it is from; None where nothing proves it.
    doubts: offset of a figure in the statement -> why it is doubted.
    reason: why it has no mark, or a doubt; "" for none.
    misquoted: whether a cited page has another figure where the statement has one.
    """

    statement: AnswerStatement
    verdict: str = ""
    mark: str = ""
    quotes: tuple[LocatedQuote, ...] = ()
    figures: tuple[tuple[Figure, ProvenFigure | None], ...] = ()
    doubts: Mapping[int, str] = field(default_factory=dict)
    calculations: tuple[ProvenCalculation, ...] = ()
    reason: str = ""
    misquoted: bool = False


def judge(
    statement: AnswerStatement,
    read: ReadStatement | None,
    views: Mapping[str, PageEvidence],
    *,
    question: str,
    beside: Sequence[Figure] = (),
    instructing: frozenset[str] = frozenset(),
    worked_out: Sequence[str] = (),
    calculations: Sequence[ProvenCalculation] = (),
) -> JudgedStatement:
    """What is proven of a statement.

    read: what the reader says of it, its pages by the keys of `views`; None if no reader was asked, or its
        reply was unusable. beside: as in look_up. instructing: keys of pages that address
        their reader as a machine. worked_out: expressions that the calculator worked out for the answer.
        calculations: those whose amounts are printed on the pages.
    """
    is_denied = read is not None and read.verdict in {"contradicted", "not_stated"}
    copied = None if is_denied else word_for_word(statement, views)
    found = look_up(statement, views, question=question, beside=beside, calculations=calculations)
    if copied:
        marked = "" if copied.key in instructing else "quoted"
        return JudgedStatement(statement, read.verdict if read else "", marked, (copied,), _places(found), {})
    if read is None:
        return _unread(statement, found)
    located = locate_quotations([(quote.page, quote.text) for quote in read.quotes], views)
    written = read.calculation.expression.split(";") if read.calculation else []
    quoted = prove_calculations([*written, *worked_out], quoted_figures(located, views))
    figures = tuple(
        (
            figure,
            prove_figure(
                figure, statement.text, read, located, views, question=question, calculations=quoted
            ),
        )
        for figure in figures_said(statement.text, views.values())
    )
    quotes = tuple(quote for quote in located if quote)
    mark, reason = _mark(
        read,
        located,
        figures,
        quoted,
        unread=unread_number(statement.text, [figure for figure, _ in figures], question, views.values()),
        tells_enough=any(is_passage(*span, views[quote.key]) for quote in quotes for span in quote.spans),
    )
    if mark in {"stated", "calculated"} and any(quote.key in instructing for quote in quotes):
        mark, reason = "", MACHINE
    doubts: Mapping[int, str] = {
        figure.start: found.doubts[figure.start]
        for figure, proof in figures
        if proof is None
        and figure.start in found.doubts
        and (figure.start in found.misquoted or not is_quoted(figure, read, located))
    }
    if not mark and doubts:
        mark, reason = "not_found", next(iter(doubts.values()))
    else:
        doubts = {}
    if mark in {"contradicted", "not_found"}:
        doubts, reason = found.doubts, read.difference or reason
    misquoted = bool(found.misquoted)
    return JudgedStatement(
        statement, read.verdict, mark, quotes, figures, doubts, tuple(quoted), reason, misquoted
    )


def _mark(
    read: ReadStatement,
    located: Sequence[LocatedQuote | None],
    figures: Sequence[tuple[Figure, ProvenFigure | None]],
    calculations: Sequence[ProvenCalculation],
    *,
    unread: str,
    tells_enough: bool,
) -> tuple[str, str]:
    """(the mark that is proven, "" for none; why it is not the one that the verdict asks for).

    unread: a number of the statement that is no figure for the program, "" for none. tells_enough: whether a
    quotation is more than a word or two.
    """
    quoted = bool(located) and all(located)
    unproven = next((figure.text for figure, proof in figures if proof is None), "") or unread
    match read.verdict:
        case "contradicted":
            return ("contradicted", "") if any(located) else ("not_found", "")
        case "not_stated":
            return "not_found", ""
        case "about_sources" if not unproven:
            return "", ""
    if not quoted:
        return "", NOT_QUOTED if located else NOTHING_QUOTED
    if unproven:
        return "", FIGURE_UNPROVEN.format(figure=unproven)
    if not tells_enough:
        return "", TOO_LITTLE
    if read.verdict == "inferred":
        return "inference", ""
    if any(proof and proof.relation == "calculated" for _, proof in figures):
        return "calculated", ""
    return ("calculated" if read.verdict == "computed" and calculations else "stated"), ""


def _unread(statement: AnswerStatement, found: FigureFindings) -> JudgedStatement:
    """What the program alone finds of a statement."""
    if found.doubts:
        reason = next(iter(found.doubts.values()))
        misquoted = bool(found.misquoted)
        return JudgedStatement(
            statement, "", "not_found", (), _places(found), found.doubts, (), reason, misquoted
        )
    return JudgedStatement(statement, "", "calculated" if found.is_calculated else "", (), _places(found))


def _places(found: FigureFindings) -> tuple[tuple[Figure, ProvenFigure | None], ...]:
    return tuple(found.figures.items()) if found.figures else ()
