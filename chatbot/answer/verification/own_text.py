"""Checks an answer in the documents' own words: what the program has cut from pages, put together from their
rows and worked out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.answer.citations.shown_keys import short_key, with_short_keys
from chatbot.answer.citations.shown_orders import instructs_by_name, repeats_order
from chatbot.answer.formulas import Formula, find_formulas, is_constant
from chatbot.answer.verification.checked_text import UNKNOWN_KEY, CheckedText, at_cells, cited
from chatbot.answer.verification.figure_proof import is_of_name, states_figure
from chatbot.answer.verification.own_places import Cut, find_cut
from chatbot.answer.verification.statements import statements_of
from chatbot.evidence.figure_names import agreement, period_beside, periods_in
from chatbot.evidence.page import PageEvidence, figures_said, page_of
from chatbot.evidence.page_figures import OnPage, digits_of
from chatbot.evidence.table_cells import CellPlace
from chatbot.evidence.word_runs import comparable_words, evened, tells
from chatbot.question_reading import read_question
from chatbot.records import FINE, Citation, NumberCheck, Prompt, Statement
from ingestion.language.numbers import Figure, same_value
from ingestion.language.sentences import sentence_around

__all__ = ["check_quoted"]

NOT_LOCATED = "no matching passage was found on the page"
OTHER_FIGURE = "its words are on the page, but not with {figure}"
IN_QUESTION = "it is in the question, not on the cited pages"
NOWHERE = "it is on none of the pages"
OTHER_CELL = "its value is in {shown}"
CALCULATED = "calculated from figures in the answer, correctly"
OF_NAME = "it belongs to a name"
QUOTED = "the quoted words"
LONGEST_SHOWN = 90  # characters of a page's line that a reason quotes
MOST_PLACES = 50  # of one value on a page
MOST_FIGURES = 500  # of an answer that are checked
TOO_MANY = f"not checked: only the first {MOST_FIGURES} figures of an answer are"
HEAD_REACH = 250  # characters around a figure in which its head is read out
SENTENCE_REACH = 300  # and its sentence is looked for
_BESIDE = re.compile(r"[ ,;]{0,3}")
# "(2024: 5; 2023: 4)" and "5 million (2024)".
_HEAD_BEFORE = re.compile(r"[(;] ?((?:[^();:]|\([^()]*\)){1,200}): ?\Z")
_HEAD_BEHIND = re.compile(r" ?\(((?:[^()]|\([^()]*\)){1,200})\)")
# What ends before the figures of such a sentence and stands around them, up to a formula behind a colon; the
# marks of notes behind a row's name.
_VERB = re.compile(r"(?::|\s(?:was|were|(?:fell|rose|did not change) from))\s*\Z")
_TOLD = re.compile(r"(?:\((?:[^()]|\([^()]*\))*\)|;|\b(?:and|to)\b|[\s.–-])*(?:,[^:]*)?(?::[\s=×/+()–.;-]*)?")
_NOTES = re.compile(r"(?:\s?\(\w{1,2}\))+$")

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Quoted:
    """What stands before a key, or before several side by side.

    start, end: its offsets in the answer.
    found: known key -> what of it stands on that page, None for nothing.
    """

    start: int
    end: int
    found: dict[str, Cut | None]


@dataclass(frozen=True, slots=True)
class _FigurePlace:
    """Where a figure is from.

    key: of its page. at: its place there; None for one that belongs to quoted words and is no amount there.
    doubt: why it may be another one.
    """

    key: str
    at: OnPage | None
    doubt: str = ""


def check_quoted(text: str, prompt: Prompt) -> CheckedText:
    """An answer in the documents' own words with what is proven of it.

    text: with whole keys, such as "[S1-7f3a]". What stands before a key is looked for on its page alone. A
        figure stands in what was cut from there, or in the row and column that its sentence names, or is
        worked out from such figures.
    """
    own = _OwnText(text, prompt)
    numbers = own.checks()
    citations = tuple(own.citations(numbers))
    statements = tuple(_statements(text, prompt))
    return CheckedText(with_short_keys(text, prompt), citations, numbers, statements)


def _statements(text: str, prompt: Prompt) -> Iterator[Statement]:
    """Its statements; one without a key, such as arithmetic, rests on what is cited behind it."""
    found = statements_of(text, prompt.sources)
    for number, one in enumerate(found):
        said = with_short_keys(text[one.start : one.end], prompt)
        key = next((key for other in (*found[number:], *found[:number]) for key in other.keys), "")
        yield Statement(said, "cited", short_key(key) or None)


class _OwnText:
    """An answer with its keys blanked out at equal length, cut into what stands before them."""

    def __init__(self, text: str, prompt: Prompt) -> None:
        self.prompt = prompt
        self.views = {key: page_of(hit) for key, hit in prompt.sources.items()}
        self.marks = list(KEYS_IN_BRACKETS.finditer(text))
        self.blanked = KEYS_IN_BRACKETS.sub(lambda mark: " " * len(mark[0]), text)
        self.quoted = list(self._all_quoted())
        self.figures = figures_said(self.blanked, self.views.values())
        self.places: dict[Figure, _FigurePlace | None] = {}

    def _all_quoted(self) -> Iterator[_Quoted]:
        """What stands before each mark; of marks side by side the same."""
        own = _Quoted(0, 0, {})
        before = 0
        for mark in self.marks:
            if not before or not _BESIDE.fullmatch(self.blanked, before, mark.start()):
                start = max(before, self.blanked.rfind("\n\n", 0, mark.start()) + 1)
                own = _Quoted(start, mark.start(), {})
            before = mark.end()
            said = self.blanked[own.start : own.end]
            for key in ANY_KEY.findall(mark[0]):
                if key in self.views:
                    own.found[key] = find_cut(said, self.views[key])
            yield own

    # --- figures
    # --------------------------------------------------------------------------------------------------------

    def checks(self) -> tuple[NumberCheck, ...]:
        """One for each figure, in order."""
        figures = self.figures[:MOST_FIGURES]
        self.places = {figure: self._place(figure) for figure in figures}
        results = self._results(figures)
        for figure in results:
            if self._before_key(figure) is None:
                self.places[figure] = None
        asked = read_question(self.prompt.question).figures
        return (
            *(self._check(figure, results, asked) for figure in figures),
            *(_check(figure, "unsupported", TOO_MANY) for figure in self.figures[MOST_FIGURES:]),
        )

    def _check(self, figure: Figure, results: Mapping[Figure, str], asked: Sequence[Figure]) -> NumberCheck:
        place = self.places[figure]
        period = self._period(figure)
        if place and not place.doubt:
            view = self.views[place.key]
            cell = place.at.place if place.at else None
            if cell:
                period = view.tables.period_of(cell) or period
            shown = _shown(place.at, view) if place.at else QUOTED
            return _check(figure, "supported", f"it is in {shown}", place.key, period)
        same = (text for other, text in results.items() if same_value(figure, other, rounding=True))
        if formula := results.get(figure) or next(same, ""):
            return replace(_check(figure, "derived", CALCULATED, "", period), formula=formula)
        if place:
            return _check(figure, "present_elsewhere", place.doubt, place.key, period)
        if any(same_value(figure, other) for other in asked):
            return _check(figure, "present_elsewhere", IN_QUESTION, "", period)
        if is_of_name(figure, self.blanked, self.prompt.question, self.views.values()):
            return _check(figure, "supported", OF_NAME, "", period)
        return _check(figure, "unsupported", NOWHERE, "", period)

    def _period(self, figure: Figure) -> str | None:
        """The one period beside a figure, else in its sentence, else in the question; None for others."""
        start, end = sentence_around(self.blanked, figure.start, figure.end, reach=SENTENCE_REACH)
        said = periods_in(self.blanked[start:end]) or periods_in(self.prompt.question)
        named = period_beside(self.blanked, figure) or said
        return named[0].said if len(named) == 1 else figure.period

    def _place(self, figure: Figure) -> _FigurePlace | None:
        """The place on a cited page that a figure is from; of a paragraph without keys on any of them."""
        own = self._before_key(figure)
        if own is None:
            return self._of_any(figure)
        said = self.blanked[own.start : own.end]
        local = replace(figure, start=figure.start - own.start, end=figure.end - own.start)
        places = [
            place for key, found in own.found.items() for place in self._on_page(local, said, key, found)
        ]
        return next((place for place in places if not place.doubt), next(iter(places), None))

    def _before_key(self, figure: Figure) -> _Quoted | None:
        """What stands before the next key behind a figure, if the figure is in it."""
        own = next((one for one in self.quoted if figure.start < one.end), None)
        return own if own and own.start <= figure.start else None

    def _on_page(self, figure: Figure, said: str, key: str, found: Cut | None) -> Iterator[_FigurePlace]:
        """The places of a page that may state a figure. figure: with its offsets in what is said."""
        view = self.views[key]
        same = view.figures.by_digits.get(digits_of(figure), [])
        within = [at for at in same if found and _touches(at.figure, found.spans)]
        alike = [at for at in within if evened(at.figure.text) == evened(figure.text)]
        if found and found.start <= figure.start < found.end:
            yield _FigurePlace(key, next(iter((*alike, *within)), None))
            return
        stating = [at for at in [*within, *same][:MOST_PLACES] if states_figure(figure, said, at)]
        for at in (*alike, *sorted(stating, key=lambda at: at.place is None)):
            yield _FigurePlace(key, at, _other_cell(figure, said, at, view, quoted=at in within))

    def _of_any(self, figure: Figure) -> _FigurePlace | None:
        """Where one of the quotations has a figure, sign aside: an outflow is printed with a minus.

        Else where a figure behind it is from, which it repeats.
        """
        for own in self.quoted:
            for key, found in own.found.items():
                for at in self.views[key].figures.by_digits.get(digits_of(figure), []):
                    if found and _touches(at.figure, found.spans) and _is_same_amount(figure, at):
                        return _FigurePlace(key, at)
        repeated = (other for other in self.figures if self._before_key(other) and same_value(figure, other))
        return next(filter(None, map(self._place, repeated)), None)

    def _results(self, figures: Sequence[Figure]) -> dict[Figure, str]:
        """Figures that written arithmetic comes to, and its constants, with the arithmetic."""
        results: dict[Figure, str] = {}
        # Twice, because an average may be shown before the ratios that it is of.
        for formula in [*find_formulas(self.blanked, figures)] * 2:
            operands = [figures[index] for index in formula.operands]
            result = figures[formula.result]
            unknown = [figure for figure in operands if not self._stands(figure, results)]
            if not unknown and self._has_scale(formula, operands, result):
                known = [*filter(is_constant, operands), *(figures[index] for index in formula.between)]
                results |= dict.fromkeys([*known, result], formula.text)
        return results

    def _stands(self, figure: Figure, results: Iterable[Figure]) -> bool:
        place = self.places[figure]
        if is_constant(figure) or (place and not place.doubt):
            return True
        return any(same_value(figure, other) for other in results)

    def _has_scale(self, formula: Formula, operands: Sequence[Figure], result: Figure) -> bool:
        """Whether the scale of a result is that of its operands, which may be printed above them."""
        if result.scale == 1.0 or any(figure.scale > 1 for figure in operands):
            return True
        places = [place.at for place in map(self.places.get, operands) if place and place.at]
        return formula.sums and bool(places) and all(_has_reading(at, result.scale) for at in places)

    # --- citations
    # --------------------------------------------------------------------------------------------------------

    def citations(self, numbers: Sequence[NumberCheck]) -> Iterator[Citation]:
        """One for each key, in order. numbers: of the answer's figures."""
        for mark, own in zip(self.marks, self.quoted, strict=True):
            pairs = zip(self.figures, numbers, strict=True)
            inside = [pair for pair in pairs if own.start <= pair[0].start < own.end]
            for key in ANY_KEY.findall(mark[0]):
                if key in own.found:
                    yield self._citation(key, own, inside)
                else:
                    yield Citation(key, None, None, None, "", False, reason=UNKNOWN_KEY)

    def _citation(self, key: str, own: _Quoted, inside: Sequence[tuple[Figure, NumberCheck]]) -> Citation:
        hit, found = self.prompt.sources[key], own.found[key]
        start, end = found.around if found else self._row(key, own, [figure for figure, _ in inside])
        wrong = next((check.text for _, check in inside if check.status not in FINE), "")
        reason = OTHER_FIGURE.format(figure=wrong) if wrong else ""
        if start < 0:
            reason = NOT_LOCATED
        said = self.blanked[own.start : own.end]
        instructs = instructs_by_name(hit) or any(
            (first < end and start < last) or repeats_order(said, hit.page_text[first:last])
            for first, last in hit.instructions
        )
        places = [self.places.get(figure) for figure, _ in inside]
        figures = [one.at.figure for one in places if one and one.at and one.key == key]
        citation = cited(key, hit, (start, end), reason or None, verified=not reason, instructs=instructs)
        return at_cells(citation, hit, [(figure.start, figure.end) for figure in figures])

    def _row(self, key: str, own: _Quoted, figures: Sequence[Figure]) -> _Span:
        """The row on a page that a sentence tells: "Net sales were 5 (2024) and 4 (2023)"."""
        view = self.views[key]
        for number, figure in enumerate(figures):
            place = self.places.get(figure)
            if place and place.at and place.at.place and place.key == key:
                said = self.blanked[own.start : figure.start]
                told = self.blanked[figure.start : own.end]
                for other in figures[number:]:
                    told = told.replace(other.text, "", 1)
                if _TOLD.fullmatch(told) and _names(said, place.at.place, view):
                    return _row_of(place.at, view)
        return -1, -1


def _check(figure: Figure, status: str, reason: str, key: str = "", period: str | None = None) -> NumberCheck:
    shown = short_key(key) or None
    return NumberCheck(
        figure.text, figure.value, figure.unit, figure.scale, period, status, shown, reason=reason
    )


def _touches(figure: Figure, spans: Iterable[_Span]) -> bool:
    return any(start < figure.end and figure.start < end for start, end in spans)


def _has_reading(at: OnPage, scale: float) -> bool:
    return any(reading.scale == scale for reading in at.readings)


def _is_same_amount(figure: Figure, at: OnPage) -> bool:
    return abs(figure.value) == abs(at.figure.value)


def _row_of(at: OnPage, view: PageEvidence) -> _Span:
    """The row of a cell, or the line of a figure."""
    if at.place:
        row = view.tables.views[at.place.table].table.rows[at.place.row]
        if 0 <= row.start <= at.figure.start < row.end:
            return row.start, row.end
    end = view.text.find("\n", at.figure.end)
    line = view.text[at.line : end if end >= 0 else len(view.text)]
    start = at.line + len(line) - len(line.lstrip())
    return start, at.line + len(line.rstrip())


def _shown(at: OnPage, view: PageEvidence) -> str:
    """Row and column of a figure, or the line that it stands in."""
    if at.place:
        return view.tables.shown(at.place)
    line = evened(view.text[slice(*_row_of(at, view))])
    return f"“{line}”" if len(line) <= LONGEST_SHOWN else f"“{line[: LONGEST_SHOWN - 1]}…”"


def _other_cell(figure: Figure, said: str, at: OnPage, view: PageEvidence, *, quoted: bool) -> str:
    """Why a figure that is read out, or told in a sentence, is not that of a cell; "" where it may be.

    quoted: whether the cell's row is quoted beside it, so that it need not be named.
    """
    if at.place is None:
        return ""
    table = view.tables.views[at.place.table]
    row, column = at.place.row, at.place.column
    label, head = (_words_of(text) for text in (table.table.rows[row].label, table.table.heads[column]))
    before = _HEAD_BEFORE.search(said, max(0, figure.start - HEAD_REACH), figure.start)
    named = before or _HEAD_BEHIND.match(said, figure.end)
    words = _words_of(named[1]) if named else frozenset()
    tied = period_beside(said, figure)
    periods = table.periods(row, column)
    spoken = _words_of(said)
    # The rows of some tables are what others have as columns.
    for name, other in ((head, label), (label, head)):
        if words and words <= name:
            fits = quoted or set(filter(tells, other)) <= spoken
            break
    else:
        named_at_all = quoted or any(set(filter(tells, name)) <= spoken for name in (label, head) if name)
        fits = named_at_all and not before and not (tied and periods and not agreement(tied, periods))
    return "" if fits else OTHER_CELL.format(shown=view.tables.shown(at.place))


def _names(said: str, cell: CellPlace, view: PageEvidence) -> bool:
    """Whether a text ends with the name of a cell's row, or of its column, and a verb."""
    verb = _VERB.search(said)
    words = comparable_words(said[: verb.start()] if verb else "").texts
    table = view.tables.views[cell.table].table
    for name in (table.rows[cell.row].label, table.heads[cell.column]):
        named = comparable_words(_NOTES.sub("", name)).texts
        if named and words[-len(named) :] == named:
            return True
    return False


def _words_of(text: str) -> frozenset[str]:
    return frozenset(comparable_words(text).texts)
