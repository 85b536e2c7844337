"""What the program alone can tell of a statement, without anybody who reads it."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, permutations

from chatbot.answer.formulas import amount_of, evaluates_to, find_formulas, is_constant
from chatbot.answer.verification.figure_proof import (
    ProvenCalculation,
    ProvenFigure,
    in_table,
    is_of_name,
    is_result,
    states_figure,
)
from chatbot.answer.verification.located import LocatedQuote, fills_lines, is_passage, locate_quotation
from chatbot.answer.verification.statements import AnswerStatement
from chatbot.evidence.page import PageEvidence, figures_said
from chatbot.evidence.page_figures import OnPage, digits_of
from chatbot.evidence.word_runs import Words, common_end, comparable_words, distinctive_words, tells
from chatbot.question_reading import read_question
from ingestion.language.list_items import without_item
from ingestion.language.numbers import Figure, same_value
from ingestion.language.sentences import sentence_spans

__all__ = ["FigureFindings", "figures_known", "look_up", "word_for_word"]

NOWHERE = "{figure} is on none of the pages"
NO_RESULT = "{figure} is on none of the pages, and what stands before it does not come to it"
OTHERWISE = "where the answer has {figure}, the page has {printed}"
# So many equal words around two figures show that one is misquoted.
ALIGNED, ALIGNED_DIGITS = 6, 3
# Bare whole numbers up to this count things, which need not be printed.
MOST_COUNTED = 10
# Figures of one statement that are compared with each other, and places of one value on a page.
MOST_BESIDE = 2  # telling words beside written arithmetic; more state something that it does not show
FEWEST_DIGITS = 3  # fewer stand on a page by chance
MOST_FIGURES, MOST_PLACES = 40, 50
_ASIDE = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class FigureFindings:
    """What the program finds of a statement's figures.

    figures: each with the place that states it; None where none does.
    doubts: offset of a figure in the statement -> why it is doubted.
    misquoted: the offsets of those that a cited page prints otherwise.
    is_calculated: whether it has arithmetic, all of which comes out, with amounts that stand on pages.
    """

    figures: Mapping[Figure, ProvenFigure | None] = field(default_factory=dict)
    doubts: Mapping[int, str] = field(default_factory=dict)
    misquoted: frozenset[int] = frozenset()
    is_calculated: bool = False


def word_for_word(statement: AnswerStatement, views: Mapping[str, PageEvidence]) -> LocatedQuote | None:
    """Where a page has a statement word for word, the cited pages first; None where none has."""
    said = without_item(statement.text).strip()
    for key in _in_order(statement, views):
        view = views[key]
        spans = locate_quotation(said, view)
        if len(spans) == 1 and is_passage(*spans[0], view) and _is_whole(said, *spans[0], view):
            return LocatedQuote(key, spans)
    return None


def _is_whole(said: str, start: int, end: int, view: PageEvidence) -> bool:
    """Whether a stretch of a page is a whole sentence or row, with the signs and stops of a statement."""
    if "?" in view.text[end : end + 2] or _signs(said) != _signs(view.text[start:end]):
        return False
    if fills_lines(start, end, view):
        return True
    for first, last in view.once(sentence_spans, view.text):
        if first <= start < last:
            beside = view.text[first:start] + view.text[end:last]
            return end <= last and not comparable_words(without_item(beside)).texts
    return False


def _signs(text: str) -> list[str]:
    """The signs that change what words and figures say: currencies, comparisons, stops, brackets, powers."""
    return [
        sign
        for at, sign in enumerate(text.strip().rstrip(".,;:"))
        if sign in ",;:?!%‰()/^"
        or (unicodedata.category(sign) in {"Sc", "Sm", "So"} and sign not in "|~")
        or (unicodedata.category(sign) == "No" and text[max(0, at - 1) : at].isdigit())
    ]


def look_up(
    statement: AnswerStatement,
    views: Mapping[str, PageEvidence],
    *,
    question: str,
    beside: Sequence[Figure] = (),
    calculations: Sequence[ProvenCalculation] = (),
) -> FigureFindings:
    """The figures of a statement, looked for on all pages.

    One that stands on none of them, and may not be worked out from figures of the answer or of rows that the
    statement speaks of, is doubted; so is one that a cited page prints otherwise.

    beside: as `figures_known` gives them. calculations: those that the calculator worked out for the answer,
        with amounts that are printed on these pages: what they come to is not doubted.
    """
    text = statement.text
    figures = figures_said(text, views.values())[:MOST_FIGURES]
    found = {figure: _place(figure, statement, views) for figure in figures}
    formulas = [*find_formulas(text, figures)]
    results = {figures[formula.result] for formula in formulas}
    # Nobody has read what these were worked out for: they are not doubted, and prove nothing further.
    unexplained = [figure for figure in figures if not found[figure] and figure not in results]
    recorded = {figure for one in calculations for figure in unexplained if is_result(figure, one)}
    results |= recorded
    doubts: dict[int, str] = {}
    misquoted: set[int] = set()
    asked = read_question(question).figures
    # Arithmetic has amounts of several rows, without their signs.
    about = comparable_words("" if formulas else text)
    if not formulas and not distinctive_words(about):
        about = comparable_words(question)
    for figure, place in found.items():
        if not any(map(str.isdigit, figure.text)):  # "two thirds" is rounded freely
            continue
        is_known = place is not None or any(figure.value == one.value for one in results)
        other = _misquoted(figure, statement, views, about, is_known=is_known)
        if place and not other:
            other = _displaced(figure, statement, views, about)
        if other:
            misquoted.add(figure.start)
            doubts[figure.start] = OTHERWISE.format(figure=figure.text, printed=other)
        elif place:
            continue
        elif figure in results:
            found[figure] = ProvenFigure("calculated")
        elif not (
            any(same_value(figure, other) for other in asked)
            or is_of_name(figure, text, question, views.values())
            or _is_count(figure, text)
            or is_constant(figure)
            or _is_in_another_scale(figure, views.values())
            or _follows(figure, beside, text, views.values())
        ):
            reason = NO_RESULT if text[: figure.start].rstrip().endswith(("=", "≈")) else NOWHERE
            doubts[figure.start] = reason.format(figure=figure.text)
    operands = [figures[index] for formula in formulas for index in formula.operands]
    proven = (
        recorded.isdisjoint(operands)
        and all(found[figure] or is_constant(figure) for figure in operands)
        and any(found[figure] and not is_constant(figure) for figure in operands)
    )
    written = [*operands, *(figures[formula.result] for formula in formulas)]
    is_calculated = proven and not doubts and _says_little(text, written)
    return FigureFindings(found, doubts, frozenset(misquoted), is_calculated)


def _says_little(text: str, written: Sequence[Figure]) -> bool:
    """Whether a statement is little more than the arithmetic that it writes out. written: its figures."""
    start, end = min(figure.start for figure in written), max(figure.end for figure in written)
    return distinctive_words(comparable_words(f"{text[:start]} {text[end:]}")) <= MOST_BESIDE


def _is_count(figure: Figure, text: str) -> bool:
    """Whether a small whole number counts what follows it: "3 measures"."""
    counted = text[figure.end : figure.end + 2].strip()[:1].islower()
    return counted and figure.bare and not figure.unit and figure.value in range(MOST_COUNTED + 1)


def _is_in_another_scale(figure: Figure, views: Iterable[PageEvidence]) -> bool:
    """Whether the digits of an amount stand on a page, or are rounded to thousands there, without a scale.

    The page before may state it.
    """
    digits = digits_of(figure)
    if figure.percent or len(digits) < FEWEST_DIGITS:
        return False
    for other, places in chain.from_iterable(view.figures.by_digits.items() for view in views):
        rounded = len(other) - len(digits) in {3, 6} and abs(int(other[: len(digits)]) - int(digits)) <= 1
        is_same = (other == digits and figure.scale > 1) or rounded
        if is_same and any(one.mark is None and one.figure.scale == 1 for one in places):
            return True
    return False


def figures_known(statements: Iterable[AnswerStatement], views: Mapping[str, PageEvidence]) -> list[Figure]:
    """The figures of an answer that stand on its pages or are results of arithmetic that it writes out."""
    known = list[Figure]()
    for one in statements:
        figures = figures_said(one.text, views.values())[:MOST_FIGURES]
        results = {formula.result for formula in find_formulas(one.text, figures)}
        known += [figure for at, figure in enumerate(figures) if at in results or _place(figure, one, views)]
    return known[:MOST_FIGURES]


def _in_order(statement: AnswerStatement, views: Mapping[str, PageEvidence]) -> list[str]:
    """The keys of the pages, those that the statement cites first."""
    return sorted(views, key=lambda key: key not in statement.keys)


def _place(
    figure: Figure, statement: AnswerStatement, views: Mapping[str, PageEvidence]
) -> ProvenFigure | None:
    figure = in_table(figure, statement.text)
    for key in _in_order(statement, views):
        view = views[key]
        for placed in view.figures.by_digits.get(digits_of(figure), [])[:MOST_PLACES]:
            if relation := states_figure(figure, statement.text, placed):
                return ProvenFigure(relation, key, placed.figure.text, placed.figure.start)
        if rounded := _rounded(figure, statement.text, view):
            return ProvenFigure("rounded", key, rounded.figure.text, rounded.figure.start)
    return None


def _rounded(figure: Figure, text: str, view: PageEvidence) -> OnPage | None:
    """A figure of a page that a statement's is rounded from."""
    digits = digits_of(figure) or "0"
    kept = max(1, len(digits) - 1)
    starts = digits[:kept], str(int(digits) - 1)[:kept]
    for other, places in view.figures.by_digits.items():
        if len(other) > len(digits) and other.startswith(starts):
            for placed in places[:MOST_PLACES]:
                if states_figure(figure, text, placed):
                    return placed
    return None


def _misquoted(
    figure: Figure,
    statement: AnswerStatement,
    views: Mapping[str, PageEvidence],
    about: Words,
    *,
    is_known: bool,
) -> str:
    """The figure that a cited page has where a statement has another; "" where the page has the statement's
    own there, or none.

    It stands there if the words around both are the same, or its row is named; of fewer words if its digits
    are the same, or all but one. Without all of these words, other digits count only where the statement's
    have no place. A place with the words around it counts more than others.
    """
    text = statement.text
    words = comparable_words(text)
    before = tuple(word for word, end in zip(words.texts, words.ends, strict=True) if end <= figure.start)
    after = tuple(word for word, start in zip(words.texts, words.starts, strict=True) if start >= figure.end)
    found = list[tuple[bool, bool, bool, str]]()
    for view in filter(None, map(views.get, statement.keys)):
        for placed in chain(view.figures.all, view.figures.by_digits.get(digits_of(figure), ())):
            alike = common_end(before, placed.before) + common_end(after[::-1], placed.after[::-1])
            named = _is_named(placed, view, about)
            if named and set(comparable_words(figure.text).texts) <= set(_label(placed, view)):
                continue  # "12 months", the name of a row
            same = abs(figure.value) == abs(placed.figure.value)
            if same and figure.scale > placed.figure.scale == 1 and placed.mark is None:
                continue  # the page before may state the scale
            open_to_doubt = same or not is_known
            in_place = alike >= ALIGNED or (named and open_to_doubt)
            misprint = same or _is_misprint(figure, placed, fewest=2 if figure.bare or not in_place else 1)
            if in_place or (misprint and open_to_doubt and alike >= ALIGNED_DIGITS):
                states = states_figure(figure, text, placed)
                if states or misprint:
                    closest = alike >= ALIGNED or (named and states not in {"", "rounded"})
                    found.append((closest, bool(states), same, placed.figure.text))
    _, is_stated, _, printed = max(found, key=lambda one: one[:3], default=(False, True, True, ""))
    return "" if is_stated else printed


def _displaced(
    figure: Figure, statement: AnswerStatement, views: Mapping[str, PageEvidence], about: Words
) -> str:
    """What a row that a statement speaks of has on a cited page, where that is not the statement's figure,
    nor worked out to it; "" where no row is known to be meant.

    It is if the statement has its label, and no other words of these pages than such rows have.
    """
    pages = [views[key] for key in statement.keys if key in views]
    rows = [row for view in pages for row in _rows_named(about, view)]
    known = frozenset[str]().union(*(words for words, _, _ in rows))
    others = [word for word in about.texts if tells(word) and word not in known]
    printed_here = frozenset[str]().union(*(view.words.texts for view in pages))
    if len(others) > MOST_BESIDE or not printed_here.isdisjoint(others):
        return ""
    if known.issuperset(comparable_words(figure.text).texts):  # "12 months", the name of a row
        return ""
    printed = ""
    for _, row, cells in rows:
        alike = [one for one in cells if _is_of_kind(figure, one)]
        is_there = any(
            digits_of(one.figure) == digits_of(figure) or states_figure(figure, statement.text, one)
            for one in alike
        )
        if is_there or _comes_of(figure, [_amounts(cells)]):
            return ""
        if alike:
            printed = f"{', '.join(one.figure.text for one in alike)} in {row}"
    return printed


def _is_of_kind(figure: Figure, placed: OnPage) -> bool:
    """Whether both may be percentages, or neither."""
    return any(reading.percent == figure.percent for reading in placed.readings)


def _rows_named(about: Words, view: PageEvidence) -> Iterator[tuple[frozenset[str], str, list[OnPage]]]:
    """(words of label, section, heads, caption and unit; name; figures) of the rows that some words name."""
    for (number, at), cells in _rows_of(view, lambda placed: _is_named(placed, view, about)).items():
        shown = view.tables.views[number]
        table, row = shown.table, shown.table.rows[at]
        around = " ".join((row.label, row.section, *table.heads, table.caption, table.unit))
        yield frozenset(view.once(_words_of, around)), shown.row_shown(at), cells


def _rows_of(view: PageEvidence, fits: Callable[[OnPage], bool]) -> Mapping[tuple[int, int], list[OnPage]]:
    """The cells of a page that fit, by the numbers of their tables and rows."""
    rows = defaultdict[tuple[int, int], list[OnPage]](list)
    for placed in view.figures.all:
        if placed.place and fits(placed):
            rows[placed.place.table, placed.place.row].append(placed)
    return rows


def _amounts(cells: Iterable[OnPage]) -> list[float]:
    return [amount_of(one.readings[-1]) for one in cells]


def _is_named(placed: OnPage, view: PageEvidence, about: Words) -> bool:
    """Whether some words have the label of a cell's row."""
    label = _label(placed, view)
    return bool(label) and f" {' '.join(label)} " in about.joined


def _label(placed: OnPage, view: PageEvidence) -> tuple[str, ...]:
    """The words of the label of a cell's row, without footnote marks and asides: "Net income (loss) (1)"."""
    if placed.place is None:
        return ()
    table = view.tables.views[placed.place.table].table
    return view.once(_words_of, _ASIDE.sub(" ", table.rows[placed.place.row].label))


def _words_of(label: str) -> tuple[str, ...]:
    return comparable_words(without_item(label)).texts


def _is_misprint(figure: Figure, placed: OnPage, *, fewest: int) -> bool:
    """Whether all digits of two figures but one, or the order of two neighbours, are the same.

    fewest: digits that they must have.
    """
    one, two = digits_of(figure), digits_of(placed.figure)
    if figure.decimals == placed.figure.decimals:  # "510" is no misprint of "51", but of "500"
        one, two = (
            f"{abs(each.value):.{each.decimals}f}".replace(".", "").lstrip("0")
            for each in (figure, placed.figure)
        )
    if len(one) != len(two) or len(one) < fewest:
        return False
    apart = [at for at in range(len(one)) if one[at] != two[at]]
    if len(apart) == 2 and apart[1] == apart[0] + 1:
        return one[apart[0]] == two[apart[1]] and one[apart[1]] == two[apart[0]]
    return len(apart) == 1


def _follows(figure: Figure, stated: Sequence[Figure], text: str, views: Iterable[PageEvidence]) -> bool:
    """Whether a figure is a sum, difference, ratio, share or growth of two figures of the answer, or of two
    in one row, column or sentence that its statement speaks of. Nothing speaks against it then; nothing is
    proven either."""
    of_pages = ((_amounts_of_rows(text, view), _amounts_of_sentences(text, view)) for view in views)
    return _comes_of(figure, chain([list(map(amount_of, stated))], *chain.from_iterable(of_pages)))


def _comes_of(figure: Figure, groups: Iterable[Sequence[float]]) -> bool:
    """Whether two amounts of one group come to a figure."""
    unsigned = replace(figure, value=abs(figure.value))
    return any(
        evaluates_to(value, unsigned) or (figure.percent and evaluates_to(value / 100, unsigned))
        for group in groups
        for value in _values(group)
    )


def _amounts_of_rows(text: str, view: PageEvidence) -> Iterator[list[float]]:
    """The amounts of each row that a statement speaks of, and of each column in them."""
    said = set(filter(tells, comparable_words(text).texts))
    rows = _rows_of(view, lambda placed: not said.isdisjoint(_label(placed, view)))
    columns = defaultdict[tuple[int, int], list[OnPage]](list)
    for placed in chain.from_iterable(rows.values()):
        if placed.place:
            columns[placed.place.table, placed.place.column].append(placed)
    yield from map(_amounts, (*rows.values(), *columns.values()))


def _amounts_of_sentences(text: str, view: PageEvidence) -> Iterator[list[float]]:
    """The amounts of each sentence of a page that has two telling words of a statement."""
    said = set(filter(tells, comparable_words(text).texts))
    printed = [placed for placed in view.figures.all if placed.place is None]
    for start, end in view.once(sentence_spans, view.text):
        amounts = _amounts(one for one in printed if start <= one.figure.start < end)
        if len(amounts) > 1 and len(said.intersection(view.once(_words_of, view.text[start:end]))) > 1:
            yield amounts


def _values(amounts: Sequence[float]) -> Iterator[float]:
    """What any two amounts come to."""
    amounts = amounts[:MOST_FIGURES]
    for first, second in permutations(amounts, 2):
        yield abs(first - second)
        yield abs(first + second)
        if abs(second) < 1:
            yield abs(first * second)
        if second:
            yield abs(first / second)
            yield abs(first / second - 1)
    yield abs(math.fsum(amounts))
