"""Tells whether a figure of an answer stands on the cited pages, in the row, column and period meant."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.checks.cell_derivations import derived_from_cells, reversed_level
from chatbot.answer.checks.claims import Claim, Scope, Spoken
from chatbot.answer.checks.direction import reversed_moves
from chatbot.answer.checks.durations import counts_years
from chatbot.answer.checks.enumerations import item_of
from chatbot.answer.checks.figure_matches import (
    agree,
    drops_scale,
    figures_against,
    figures_stating,
    matches,
    other_sense,
    rounds,
)
from chatbot.answer.checks.formulas import Formula, evaluates_to, find_formulas, is_constant
from chatbot.answer.checks.model_arithmetic import against_calculation
from chatbot.answer.checks.sentence_arithmetic import computed_in_sentence
from chatbot.answer.checks.table_figures import cell_mismatch, names_row, reads_row, speaks_of_another_row
from chatbot.answer.prompt import worked_out_of
from chatbot.evidence.figure_names import (
    SAME_PERIOD,
    agreement,
    label_words,
    may_be_one,
    orders_in,
    period_beside,
    periods_in,
)
from chatbot.evidence.page import PageEvidence, figures_said, page_of
from chatbot.evidence.page_figures import OnPage, digits_of
from chatbot.evidence.table_cells import CellPlace
from chatbot.evidence.word_runs import common_end, comparable_words
from chatbot.records import FINE, NumberCheck, Prompt
from ingestion.language.numbers import Figure, find_figures, same_value, units_agree
from ingestion.language.periods import Period
from ingestion.language.scales import SCALE_NAMES
from ingestion.precedence import giving_way

__all__ = ["Scope", "check_numbers", "figures_stating"]

# A bare whole number below this may belong to a name: "737 MAX 8", "Level 3", "S&P 500".
LARGEST_NAME = 1_000
# Places of one value that are looked at on one page; a page full of noughts has no more to tell.
MOST_PLACES = 50
LONGEST_SHOWN = 90  # characters of a page's line that a reason quotes
FEWEST_REPEATED = 3  # words of an answer's sentence that the page's sentence shares
# Figures of an answer that are checked, so that a reply that repeats one without end does not hang the check.
MOST_FIGURES = 500
# Results of an answer's arithmetic that its other figures are compared with.
MOST_RESULTS = 100
TOO_MANY = f"not checked: only the first {MOST_FIGURES} figures of an answer are"

# Lakh and crore count only where one of them is named, as other errors are off by five or seven noughts too.
INDIAN_SCALES = frozenset({1e5, 1e7})

_COMPARED = re.compile(
    (
        r"(?:\b(?:than|over|from|since|versus|vs\.?|against|with|to|until|through|prior|before"
        r"|by)\b)[\s(]{1,3}(?:(?:the|fiscal|year|end|of|in)\s{1,2}){0,4}\Z"
    ),
    re.IGNORECASE,
)
# "from K30.6 million in 2024": the period of the figure that is compared with.
_OF_THE_OTHER = re.compile(
    (
        r"\b(?:from|than|against|versus|vs\.?)\s(?:about\s)?(?P<other>[^\s\d]{0,4}\d[\d.,]{0,15})(?:\s?%"
        r"|\s[a-z]{3,9}){0,2}\s(?:in|for|at)\s(?:(?:the|fiscal|year|end|of)\s){0,3}\Z"
    ),
    re.IGNORECASE,
)
# "3.4 percent this year, 2.1 percent next year", in prose: belongs to a year that the sentence does not name.
_RELATIVE = re.compile(
    r"[\s,]{1,2}(?:in |for |over )?(?:the )?(?:this|next|last|following) (?:fiscal |financial )?year\b"
)
_FIRST_CELL = re.compile(r"^[ \t]{0,3}\|[ \t]*([0-9]{1,2})\.?[ \t]*\|", re.MULTILINE)
_NOTE_MARK = re.compile(r"\([0-9]{1,2}\)")
# Statuses of operands that a formula may rest on.
_SOUND = ("supported", "derived")
# Name of a scale label -> the units and kinds that a result under it may have.
_UNITS_OF_LABEL: dict[str | None, tuple[tuple[str | None, str | None], ...]] = {
    None: ((None, None),),
    "%": (("%", "percent"), ("percentage points", "points")),
    "bps": (("basis points", "points"),),
}

_Label = tuple[float, str | None]  # scale; "%" for percent and percentage points, "bps", or None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What one page says of a figure.

    status: as in NumberCheck, or "absent".
    reason: why, in words that users read.
    period: the period that the page gives the figure.
    exact: the page's figure, where the answer's is rounded from it.
    """

    status: str
    reason: str = ""
    period: str | None = None
    exact: Figure | None = None


# Why a figure is doubted that another source has.
NOT_CITED = "it is on {place}, which is not cited for it"
ABSENT = _Verdict("absent")


def check_numbers(text: str, scope_of: Callable[[int], Scope], prompt: Prompt) -> tuple[NumberCheck, ...]:
    """One check per figure of an answer, in order. text: the answer with its citation keys blanked out at
    equal length.

    supported: the value stands on a page cited for it, with the same sign, scale, unit and percent kind. It
    is rounded only where the answer says so or gives a scale, "4.18 billion". In a table whose heads are
    known it stands in the row, column and period that the answer names.
    derived: the answer shows how it comes from supported figures, and the arithmetic holds; or the program's
    own calculation in the prompt comes to it.
    contradicted: the cited page has the answer's words around another figure of the same kind, or that
    calculation comes to another.
    present_elsewhere: only the value is there: in another row, column or period, in another source or the
    question, under another scale, unit or kind, or more exactly than the answer has it without calling it
    rounded.
    """
    views = {key: page_of(hit) for key, hit in prompt.sources.items()}
    figures = figures_said(text, views.values())
    questioned = find_figures(prompt.question)
    spoken = Spoken(text, figures, prompt.question)
    places = _places_of(prompt)
    row_numbers = _row_numbers(text, figures)
    scopes: list[Scope] = []
    claims: list[Claim] = []
    checks: list[NumberCheck] = []
    pages: list[list[PageEvidence]] = []
    exact = [*figures]
    for index, figure in enumerate(giving_way(figures)):
        scope = scope_of(figure.start)
        if index < MOST_FIGURES:
            claim = spoken.claim(index, scope)
        else:
            claim = Claim(figure, (figure,), (), (), rounded=False, outflow=False)
        if index in row_numbers:
            check = _uncited(claim, "supported", "it numbers a row of the answer")
        elif index >= MOST_FIGURES:
            check = _uncited(claim, "unsupported", TOO_MANY)
        else:
            check, exact[index] = _check(claim, scope.keys, views, places, questioned)
        scopes.append(scope)
        claims.append(claim)
        checks.append(check)
        pages.append([views[key] for key in scope.keys or views])
    checks = _with_cells(text, claims, checks, pages, scopes)
    for _ in range(2):  # a change may be shown before what it is a share of
        checks = _with_formulas(text, claims, checks, pages)
        checks = _with_reckoned(text, figures, exact, scopes, checks)
    for position, why in reversed_moves(text, figures, scopes):
        turned = checks[position]
        checks[position] = replace(turned, status="contradicted", formula=None, reason=why)
    calculation = worked_out_of(prompt)
    checked = against_calculation(checks, claims, calculation, views.values())
    return tuple(checked)


# ---------------------------------------------------------------- one figure against the pages


def _check(
    claim: Claim,
    keys: Sequence[str],
    views: Mapping[str, PageEvidence],
    places: Mapping[str, str],
    questioned: Sequence[Figure],
) -> tuple[NumberCheck, Figure]:
    """The check of a figure, and the figure as exactly as the page has it. places: names of the pages."""
    figure = claim.figure
    verdicts = {key: _verdict(claim, views[key]) for key in keys}
    if not _first_with("supported", verdicts) and counts_years(claim):
        return _uncited(
            claim, "supported", "it counts the years named in the question and the answer"
        ), figure
    for status in ("supported", "contradicted", "present_elsewhere"):
        key = _first_with(status, verdicts)
        if key:
            verdict = verdicts[key]
            return _result(claim, verdict, key), verdict.exact or figure
    for key, view in views.items():
        if key not in keys and _verdict(claim, view).status == "supported":
            reason = NOT_CITED.format(place=places.get(key, "a page"))
            return _uncited(claim, "present_elsewhere", reason), figure
    if any(agree(figure, other) for other in questioned):
        reason = "it is in the question, not on the cited pages"
        return _uncited(claim, "present_elsewhere", reason), figure
    reasons = (verdict.reason for verdict in verdicts.values() if verdict.reason)
    reason = next(reasons, "it is on none of the pages")
    return _uncited(claim, "unsupported", reason), figure


def _places_of(prompt: Prompt) -> dict[str, str]:
    """The page of each source, with the name of its document where there are several."""
    hits = prompt.sources.values()
    several = len({hit.document for hit in hits}) > 1
    return {
        key: f"page {hit.page} of “{hit.document}”" if several else f"page {hit.page}"
        for key, hit in prompt.sources.items()
    }


def _first_with(status: str, verdicts: Mapping[str, _Verdict]) -> str | None:
    """The first key whose page has this verdict, None where none has."""
    for key, verdict in verdicts.items():
        if verdict.status == status:
            return key
    return None


def _row_numbers(text: str, figures: Sequence[Figure]) -> frozenset[int]:
    """The figures that stand alone in the first cell of a table's rows and count them, 1, 2, 3."""
    positions = {figure.start: index for index, figure in enumerate(figures)}
    found = set[int]()
    count = 0
    for row in _FIRST_CELL.finditer(text):
        number = int(row[1])
        if number not in (count + 1, 1):
            count = 0
            continue
        count = number
        start = row.start(1)
        if start in positions:
            found.add(positions[start])
    return frozenset(found)


def _uncited(claim: Claim, status: str, reason: str) -> NumberCheck:
    """A check that rests on no page."""
    return _result(claim, _Verdict(status, reason), None)


def _result(claim: Claim, verdict: _Verdict, key: str | None) -> NumberCheck:
    figure = claim.figure
    periods = claim.mention.periods
    if len(periods) == 1:
        period: str | None = periods[0].said
    else:
        period = verdict.period or figure.period
    shown = key.split("-")[0] if key else None
    return NumberCheck(
        figure.text,
        figure.value,
        figure.unit,
        figure.scale,
        period,
        verdict.status,
        shown,
        reason=verdict.reason,
    )


def _verdict(claim: Claim, view: PageEvidence) -> _Verdict:
    """What one page says of the figure."""
    same_digits = view.figures.by_digits.get(digits_of(claim.figure), [])
    for placed in same_digits:
        if _is_copied(claim, placed, view):
            return _supported(placed, view)
    stating = [placed for placed in same_digits if matches(claim, placed)][:MOST_PLACES]
    equal = [placed for placed in stating if _scale_is_clear(claim, placed, view)]
    if _in_head(claim, view):
        return _Verdict("supported", "it belongs to a heading or label of a table")
    in_cell = any(placed.place for placed in same_digits)
    apart = in_cell or names_row(view.tables, claim.mention)
    objections = {placed.figure.start: _objection(claim, placed, view, apart=apart) for placed in equal}
    fitting = _fitting(claim, equal, objections, view)
    against = _against(claim, equal, fitting, view)
    for placed in fitting:
        if not against or _fits_surely(claim, placed, view):
            return _supported(placed, view)
    for placed in stating:
        if placed.mark and placed not in equal:
            scale = SCALE_NAMES.get(placed.mark.scale, "another scale")
            reason = f"the page gives it in {scale}s, which the answer does not say"
            return _Verdict("present_elsewhere", reason)
    near = _places_rounded(claim, equal, against, view)
    if near:
        return _rounded(claim, near, view)
    for placed in against:
        if _misquotes(placed, claim):
            reason = f"where the answer has this figure, the page has {placed.figure.text}"
            return _Verdict("contradicted", reason)
    if equal:
        reason = next(filter(None, objections.values()), "its value is on the page in another context")
        return _Verdict("present_elsewhere", reason)
    return _verdict_of_digits(claim, same_digits, view)


def _scale_is_clear(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether the answer gives the scale that the page has, or need not, as it quotes the page's line."""
    return not drops_scale(claim, placed) or _quotes_line(claim, placed, view)


def _fitting(
    claim: Claim, equal: Sequence[OnPage], objections: Mapping[int, str], view: PageEvidence
) -> list[OnPage]:
    """The places that nothing speaks against. objections: by the start of each place, "" for none."""
    doubtful = [placed for placed in equal if objections[placed.figure.start]]
    fitting = []
    for placed in equal:
        if objections[placed.figure.start]:
            continue
        if not any(_repeats_place(claim, other, placed, view) for other in doubtful):
            fitting.append(placed)
    return fitting


def _against(
    claim: Claim, equal: list[OnPage], fitting: Sequence[OnPage], view: PageEvidence
) -> list[OnPage]:
    """Other figures that the page has where the answer has its own; none where the figure is part of a
    name.
    """
    if any(_in_name(claim, placed) for placed in fitting):
        return []
    in_cell = any(placed.place for placed in fitting)
    return figures_against(claim, view, equal, rows=not in_cell)


def _places_rounded(
    claim: Claim, equal: Sequence[OnPage], against: Sequence[OnPage], view: PageEvidence
) -> list[OnPage]:
    """The places whose figure the answer's may be rounded from."""
    candidates: Iterable[OnPage] = against
    if not against and not equal:
        candidates = _of_like_digits(claim, view)
    return [placed for placed in candidates if rounds(claim, placed)]


def _verdict_of_digits(claim: Claim, same_digits: Sequence[OnPage], view: PageEvidence) -> _Verdict:
    """The verdict on a figure that no place of the page states. same_digits: places that share its digits."""
    if _is_list_number(claim, view):
        return _Verdict("supported", "it numbers a paragraph of the page")
    value = claim.figure.value
    values = [placed.figure.value for placed in same_digits]
    if value in values:
        line = _line(same_digits[0], view)
        reason = f"the page has these digits with another scale or unit: {line}"
        return _Verdict("present_elsewhere", reason)
    if abs(value) in map(abs, values):
        return _Verdict("absent", "the page has it with the opposite sign")
    return ABSENT


def _of_like_digits(claim: Claim, view: PageEvidence) -> Iterator[OnPage]:
    """The page's figures that the answer's may be rounded from: they begin with the same digit, or with a 9
    where it begins with a 1.
    """
    first = digits_of(claim.figure)[:1]
    likely = (first, "9") if first == "1" else (first,)
    for digits, places in view.figures.by_digits.items():
        if digits[:1] in likely:
            yield from places


def _fits_surely(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether a place that fits can be no other's: the answer names its row in full or the item of its
    list, or both tie the figure to the same period.
    """
    mention = claim.mention
    if placed.place is not None:
        return reads_row(view.tables, placed.place, mention)
    if mention.nearby:
        own, _ = _items_around(placed, view)
        if own & mention.nearby[0]:
            return True
    tied = period_beside(view.text, placed.figure)
    return agreement(mention.beside, tied) == SAME_PERIOD


def _misquotes(placed: OnPage, claim: Claim) -> bool:
    """Whether a page's figure is of the answer's kind and has other digits, noughts or another sign. A scale
    that is not said contradicts nothing.
    """
    there = placed.figure
    mine = claim.figure
    if there.percent != mine.percent:
        return False
    if _NOTE_MARK.fullmatch(there.text) and _is_amount(mine):
        return False
    if digits_of(there) != digits_of(mine):
        return True
    if (there.value < 0) != (mine.value < 0):
        return True
    scale = placed.mark.scale if placed.mark else there.scale
    scaled = replace(there, scale=scale)
    return not any(_differ_by_unsaid_scale(scaled, reading) for reading in claim.readings)


def _is_amount(figure: Figure) -> bool:
    """Whether a figure has a unit or scale, or is too large for the mark of a note."""
    if figure.unit or figure.scale != 1:
        return True
    return abs(figure.value) >= LARGEST_NAME


def _differ_by_unsaid_scale(figure: Figure, other: Figure) -> bool:
    """Whether two figures of equal digits may state one value, where one of them leaves its scale unsaid:
    45 cannot stand for 4.5 million.
    """
    scales = (figure.scale, other.scale)
    amounts = (abs(figure.value * figure.scale), abs(other.value * other.scale))
    smaller, larger = sorted(amounts)
    if smaller == larger:
        return True
    if 1.0 not in scales:
        return False
    if abs(figure.value) == abs(other.value):
        return True
    for ratio in SCALE_NAMES:
        if math.isclose(larger, smaller * ratio):
            return ratio not in INDIAN_SCALES or not INDIAN_SCALES.isdisjoint(scales)
    return False


def _rounded(claim: Claim, near: Sequence[OnPage], view: PageEvidence) -> _Verdict:
    """The verdict on a figure that is rounded from the page's."""
    if not claim.rounded:
        reason = f"it is rounded, which the answer does not say: the page has {near[0].figure.text}"
        return _Verdict("present_elsewhere", reason)
    apart = names_row(view.tables, claim.mention)
    objections = [_objection(claim, placed, view, apart=apart) for placed in near]
    pairs = zip(near, objections, strict=True)
    fitting = next((placed for placed, objection in pairs if not objection), None)
    if fitting is None:
        return _Verdict("present_elsewhere", objections[0])
    found = _supported(fitting, view)
    reason = f"rounded from {fitting.figure.text}: {found.reason}"
    return replace(found, reason=reason, exact=_as_on_page(claim, fitting))


def _as_on_page(claim: Claim, placed: OnPage) -> Figure | None:
    """The answer's figure with its own sign, as exactly as a place of the page has it."""
    figure = claim.figure
    for reading in placed.readings:
        if any(same_value(mine, reading, rounding=True) for mine in claim.readings):
            value = abs(reading.value)
            if figure.value < 0:
                value = -value
            return replace(figure, value=value, scale=reading.scale, text=placed.figure.text)
    return None


def _supported(placed: OnPage, view: PageEvidence) -> _Verdict:
    place = placed.place
    if place is None:
        return _Verdict("supported", f"it is in “{_line(placed, view)}”")
    shown = view.tables.shown(place)
    return _Verdict("supported", f"it is in {shown}", view.tables.period_of(place))


def _line(placed: OnPage, view: PageEvidence) -> str:
    """The page's line around a figure, shortened for a reason."""
    line = " ".join(_line_of(placed, view).split())
    if len(line) <= LONGEST_SHOWN:
        return line
    return f"{line[: LONGEST_SHOWN - 1]}…"


def _line_of(placed: OnPage, view: PageEvidence) -> str:
    end = view.text.find("\n", placed.figure.end)
    if end < 0:
        end = len(view.text)
    return view.text[placed.line : end]


# ---------------------------------------------------------------- does the answer speak of this place


def _objection(claim: Claim, placed: OnPage, view: PageEvidence, *, apart: bool) -> str:
    """Why the answer does not speak of this place of the page; "" where it may. apart: outside tables it
    must have a word in common with the place.
    """
    if placed.place is not None:
        return _objection_to_cell(claim, placed.place, view)
    if _in_name(claim, placed):
        return ""
    if view.tables.views and _is_only_note_mark(claim, placed):
        return "only a footnote mark has that number"
    if apart and _is_among_other_words(claim, placed, view):
        return f"its value is on the page in another context: {_line(placed, view)}"
    if _is_spelled(claim.figure) and not _of_same_thing(claim.after, placed.after):
        return f"the page gives it for something else: {_line(placed, view)}"
    start, _ = _sentence_span(placed, view)
    before = comparable_words(view.text[start : placed.figure.start]).texts
    opposite = other_sense(claim, placed, before)
    if opposite:
        return opposite
    return (
        _of_other_order(claim, placed, view)
        or _of_other_item(claim, placed, view)
        or _of_other_period(claim, placed, view)
    )


def _objection_to_cell(claim: Claim, place: CellPlace, view: PageEvidence) -> str:
    """Why the answer does not speak of this cell of the page; "" where it may."""
    tables = view.tables
    mention = claim.mention
    printed = view.rows_in(claim.paragraph, tables.views[place.table])
    quoted = place.row in printed and not speaks_of_another_row(tables, place, mention)
    if mention.head and printed and not quoted:
        return f"its value is in {tables.shown(place)}, but the answer quotes another row"
    objection = cell_mismatch(tables, place, mention, quoted=quoted)
    return objection or reversed_level(claim, view, place)


def _is_only_note_mark(claim: Claim, placed: OnPage) -> bool:
    """Whether the page's figure is written like the mark of a note, "(3)", and the answer's is not."""
    if not _NOTE_MARK.fullmatch(placed.figure.text):
        return False
    return not _NOTE_MARK.fullmatch(claim.figure.text)


def _is_among_other_words(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether the answer's sentence shares no word with the page's."""
    nearby = claim.mention.nearby
    if not nearby:
        return False
    in_sentence = frozenset[str]().union(*nearby[:-1])
    words = in_sentence or nearby[-1]
    if not words:
        return False
    return words.isdisjoint(_sentence_words(placed, view))


def _of_other_order(claim: Claim, placed: OnPage, view: PageEvidence) -> str:
    """Why a figure is that of the second year, say, where the answer gives it for the first; "" where it
    may be the same.
    """
    order = claim.mention.order
    if not order:
        return ""
    start, end = _sentence_span(placed, view)
    inside = [figure.start - start for figure in _figures_between(view, start, end)]
    orders = orders_in(view.text[start:end], inside)
    mine = placed.figure.start - start
    if not orders or mine not in inside:
        return ""
    there = orders[inside.index(mine)]
    if not there or there == order:
        return ""
    _, _, kind = there.partition(" ")
    if kind == order.partition(" ")[2]:
        return f"the page gives it for the {there}"
    return ""


def _of_other_item(claim: Claim, placed: OnPage, view: PageEvidence) -> str:
    """Why a figure of a list in a sentence, "31 in Japan, 29 in Korea", is that of another of its items;
    "" where it may be the one that is meant.
    """
    if not claim.mention.nearby:
        return ""
    own, others = _items_around(placed, view)
    words = claim.mention.nearby[0]
    if own & words or not any(item <= words for item in others):
        return ""
    return f"the page gives it for something else: {_line(placed, view)}"


def _items_around(placed: OnPage, view: PageEvidence) -> tuple[frozenset[str], tuple[frozenset[str], ...]]:
    """The words of what a figure of a list in a page's sentence is of, and those of the others."""
    start, end = _sentence_span(placed, view)
    figures = [figure for figure in _figures_between(view, start, end) if figure.end <= end]
    inside = [(figure.start - start, figure.end - start) for figure in figures]
    mine = (placed.figure.start - start, placed.figure.end - start)
    if mine not in inside:
        return frozenset(), ()
    return item_of(view.text[start:end], inside, inside.index(mine))


def _is_spelled(figure: Figure) -> bool:
    """Whether a figure is a count in words: "nine" of "nine years" is not just any nine."""
    if not figure.bare or figure.unit is not None:
        return False
    letters = figure.text.replace("-", "")
    return figure.decimals == 0 and letters.isalpha()


def _of_same_thing(after: Sequence[str], there: Sequence[str]) -> bool:
    """Whether the same is counted after both figures: the next word of one is among the next two of the
    other, or the answer has none.
    """
    if not after or after[0] in there[:2]:
        return True
    return bool(there) and there[0] in after[:2]


def _in_head(claim: Claim, view: PageEvidence) -> bool:
    """Whether the figure, with the word before it, is a number in a head or label of the page's tables, such
    as the 3 of "Level 3".
    """
    if abs(claim.figure.value) >= LARGEST_NAME:
        return False
    digits = re.sub("[^0-9]", "", claim.figure.text)
    return (*claim.lead[-1:], digits) in view.tables.names


def _is_copied(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether the answer has the whole line of the page that the figure stands in, words among it."""
    on_line = min(placed.on_line, len(placed.before))
    if common_end(claim.lead, placed.before) < on_line:
        return False
    line = " ".join(_line_of(placed, view).split())
    has_letters = any(map(str.isalpha, line))
    if not has_letters and line.count(" ") <= 1:
        return False
    written = " ".join(claim.figure.text.split())
    if written not in line or not view.printed_in(claim.paragraph, line):
        return False
    return not _of_other_period(claim, placed, view)


def _quotes_line(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether the answer quotes the figure's whole line with its words: it then need not say its scale."""
    line = _line_of(placed, view)
    has_letters = any(map(str.isalpha, line))
    return has_letters and view.printed_in(claim.paragraph, line)


def _in_name(claim: Claim, placed: OnPage) -> bool:
    """Whether the figure is part of a name in answer and page: a small whole number beside the same word."""
    figure = claim.figure
    if not figure.bare or figure.unit is not None or figure.decimals:
        return False
    if not 0 <= figure.value < LARGEST_NAME or placed.place is not None:
        return False
    if _is_same_name(claim.before[-1:], placed.before[-1:]):
        return True
    return _is_same_name(claim.after[:1], placed.after[:1])


def _is_same_name(mine: Sequence[str], there: Sequence[str]) -> bool:
    """Whether two words, or none, are the same and name something."""
    return mine == there and bool(label_words(" ".join(mine)))


def _is_list_number(claim: Claim, view: PageEvidence) -> bool:
    """Whether a line of the page begins with this number and a full stop, and goes on as the answer does:
    "112. The total".
    """
    written = claim.figure.text
    if not written.isdigit() or not claim.goes_on:
        return False
    following = re.escape(claim.goes_on[0])
    pattern = rf"^[ \t]{{0,20}}{written}[.)][ \t]{{1,5}}{following}\b"
    found = re.search(pattern, view.text, re.IGNORECASE | re.MULTILINE)
    return found is not None


def _of_other_period(claim: Claim, placed: OnPage, view: PageEvidence) -> str:
    """Why a figure of a sentence is of another period than the answer states, "" where it may be of that
    period.
    """
    stated = claim.mention.periods
    if not stated or not claim.mention.own or placed.place is not None:
        return ""
    figure = placed.figure
    tied = period_beside(view.text, figure)
    if not placed.cell and _RELATIVE.match(view.text, figure.end):
        return ""
    sentence = _sentence(placed, view)
    named = view.once(periods_in, sentence)
    if not tied and named:
        of_others = _periods_of_others(placed, view)
        if all(agreement([period], of_others) for period in named):
            return ""
    if named and not agreement(stated, named):
        start, _ = _sentence_span(placed, view)
        mine = figure.start - start
        if all(_is_compared(sentence, period, mine) for period in named):
            return ""
        return f"its sentence is about {named[0].text}, not {stated[0].text}"
    own = claim.mention.beside
    if not own and len(stated) == 1:
        own = stated
    if any(not may_be_one(period, other) for period in own for other in tied):
        return f"the page gives it for {tied[0].text}, not for {own[0].text}"
    return ""


def _periods_of_others(placed: OnPage, view: PageEvidence) -> tuple[Period, ...]:
    """The periods that the sentence around a figure ties to others that follow it, "630 (2023: 572)"."""
    _, end = _sentence_span(placed, view)
    following = _figures_between(view, placed.figure.end, end)
    return tuple(period for figure in following for period in period_beside(view.text, figure))


def _repeats_place(claim: Claim, placed: OnPage, other: OnPage, view: PageEvidence) -> bool:
    """Whether the answer repeats this place, which is of another period, and the other place has the same
    value by chance: the answer shares far more words with this place.
    """
    mention = claim.mention
    if not mention.own or len(mention.nearby) < 2:
        return False
    if placed.place is not None or other.place is not None:
        return False
    words = mention.nearby[-2]
    shared = len(words & _sentence_words(placed, view))
    elsewhere = len(words & _sentence_words(other, view))
    return shared >= FEWEST_REPEATED and shared > 2 * elsewhere


def _is_compared(sentence: str, period: Period, mine: int) -> bool:
    """Whether a sentence names a period only to compare with it. mine: where the figure in question stands;
    its own period is not such a period.
    """
    if _COMPARED.search(sentence, max(0, period.start - 40), period.start):
        return True
    found = _OF_THE_OTHER.search(sentence, max(0, period.start - 60), period.start)
    if found is None:
        return False
    return not found.start("other") <= mine < found.end("other")


def _sentence_span(placed: OnPage, view: PageEvidence) -> tuple[int, int]:
    """Offsets of the page's sentence around a figure."""
    return view.sentence_around(placed.figure.start, placed.figure.end)


def _figures_between(view: PageEvidence, start: int, end: int) -> list[Figure]:
    """The page's figures that start between these offsets."""
    return [placed.figure for placed in view.figures.all if start <= placed.figure.start < end]


def _sentence(placed: OnPage, view: PageEvidence) -> str:
    """The page's sentence around a figure."""
    start, end = _sentence_span(placed, view)
    return view.text[start:end]


def _sentence_words(placed: OnPage, view: PageEvidence) -> frozenset[str]:
    """The label words of the page's sentence around a figure."""
    return view.once(label_words, _sentence(placed, view))


# ---------------------------------------------------------------- figures that the answer computes


def _with_cells(
    text: str,
    claims: Sequence[Claim],
    checks: Sequence[NumberCheck],
    pages: Sequence[Sequence[PageEvidence]],
    scopes: Sequence[Scope],
) -> list[NumberCheck]:
    """The checks, with figures that come from cells of their pages marked as derived. pages: those that each
    figure may rest on.
    """
    checked = list(checks)
    for index, check in enumerate(checks):
        if check.status in FINE:
            continue
        scope = scopes[index]
        sentence = text[scope.start : scope.end]
        written = derived_from_cells(claims[index], pages[index], sentence)
        if written:
            checked[index] = _derived(check, f"{written} = {check.text}")
    return checked


def _with_formulas(
    text: str, claims: list[Claim], checks: list[NumberCheck], views: list[list[PageEvidence]]
) -> list[NumberCheck]:
    """The checks, with results of shown formulas and figures that repeat them marked as derived. views: the
    pages that each figure may rest on.
    """
    checked = list(checks)
    figures = [claim.figure for claim in claims]
    results: list[tuple[Figure, str]] = []
    exact: list[tuple[float, str]] = []
    # Operands of one formula stand in different statements, each cited with its own row somewhere in the
    # answer.
    cited = {id(view): view for pages in views for view in pages}
    # Twice, because an average may be shown before the ratios that it is of.
    for formula in [*find_formulas(text, figures)] * 2:
        operands = [index for index in formula.operands if not is_constant(figures[index])]
        labels = [_labels(claims[index], cited.values(), results) for index in operands]
        shared = set.intersection(*labels) if labels else set()
        result = figures[formula.result]
        sound = all(checked[index].status in _SOUND for index in operands)
        if not sound and not _fits_labels(formula, result, shared):
            continue
        results.append((result, formula.text))
        if formula.sums and result.bare and result.unit is None:
            results += [(reading, formula.text) for reading in _labelled(result, shared)]
        exact.append((formula.value, formula.text))
        for index in (*formula.operands, *formula.between, formula.result):
            checked[index] = _derived(checked[index], formula.text)
    distinct = _distinct(results)[:MOST_RESULTS]
    for index, figure in enumerate(figures[:MOST_FIGURES]):
        written = _repeated(figure, distinct, exact)
        if written:
            checked[index] = _derived(checked[index], written)
    return checked


def _fits_labels(formula: Formula, result: Figure, shared: set[_Label]) -> bool:
    """Whether a page or formula has all the operands under one scale, and the result's scale fits it."""
    if not shared:
        return False
    if result.scale == 1.0:
        return True
    return formula.sums and (result.scale, None) in shared


def _distinct(results: Sequence[tuple[Figure, str]]) -> list[tuple[Figure, str]]:
    """The results with each value once, with the last formula that comes to it."""
    found = {}
    for result, written in results:
        key = (result.value, result.scale, result.unit, result.percent, result.decimals)
        found[key] = (result, written)
    return list(found.values())


def _repeated(
    figure: Figure, results: Sequence[tuple[Figure, str]], exact: Sequence[tuple[float, str]]
) -> str:
    """The formula whose result a figure repeats, "" for none. exact: what each comes to before rounding."""
    for result, written in results:
        if same_value(figure, result, rounding=True):
            return written
    if not figure.percent or not figure.decimals:
        return ""
    for value, written in exact:
        if evaluates_to(value, figure):  # "1.79%" of what was shown as 1.8%
            return written
    return ""


def _with_reckoned(
    text: str,
    figures: Sequence[Figure],
    exact: Sequence[Figure],
    scopes: Sequence[Scope],
    checks: Sequence[NumberCheck],
) -> list[NumberCheck]:
    """The checks, with figures that come from others of their sentence or list, and figures that repeat
    those, marked as derived. exact: the figures, as pages have them.
    """
    checked = list(checks)
    sound = {index: check.status in FINE for index, check in enumerate(checked)}
    results = dict(computed_in_sentence(text, figures, scopes, sound))
    if list(exact) != list(figures):  # "7.2 from 6.6, up 9.8%" is worked out from what was rounded
        from_exact = dict(computed_in_sentence(text, exact, scopes, sound))
        results = {**from_exact, **results}
    by_digits: dict[str, list[int]] = {}
    for index in results:
        by_digits.setdefault(digits_of(figures[index]), []).append(index)
    for index, figure in enumerate(figures):
        alike = by_digits.get(digits_of(figure), [])[:MOST_PLACES]
        same = (results[other] for other in alike if same_value(figure, figures[other]))
        written = results.get(index) or next(same, "")
        if written:
            checked[index] = _derived(checked[index], written)
    return checked


def _labels(
    claim: Claim, views: Iterable[PageEvidence], results: Sequence[tuple[Figure, str]]
) -> set[_Label]:
    """The scales and kinds under which the pages, or formulas before, have an operand. A bare operand leaves
    them to the formula.
    """
    mine = claim.figure
    bare = mine.bare and mine.percent is None
    found = {_label(reading) for reading in _readings_on_pages(mine, views)}
    for result, _ in results:
        same = bare and result.value == mine.value and units_agree(mine, result)
        if same or same_value(mine, result):
            found.add(_label(result))
    return found


def _readings_on_pages(mine: Figure, views: Iterable[PageEvidence]) -> Iterator[Figure]:
    """The readings under which pages have an operand, sign aside: an outflow is printed with a minus, and
    divided without it. A bare operand has any reading of its unit.
    """
    unsigned = _unsigned(mine)
    bare = mine.bare and mine.percent is None
    digits = digits_of(mine)
    for view in views:
        for placed in view.figures.by_digits.get(digits, ()):
            if abs(placed.figure.value) != unsigned.value:
                continue
            for reading in placed.readings:
                same = bare and units_agree(mine, reading)
                if same or same_value(unsigned, _unsigned(reading)):
                    yield reading


def _label(figure: Figure) -> _Label:
    """A figure's scale, and the name of its percent kind."""
    if figure.percent is None:
        return figure.scale, None
    if figure.unit == "basis points":
        return figure.scale, "bps"
    return figure.scale, "%"


def _unsigned(figure: Figure) -> Figure:
    return replace(figure, value=abs(figure.value))


def _labelled(result: Figure, labels: set[_Label]) -> list[Figure]:
    """A bare result as it may be repeated elsewhere in the answer, with the scale or kind that its operands
    have.
    """
    readings = []
    for scale, name in labels:
        for unit, kind in _UNITS_OF_LABEL[name]:
            readings.append(replace(result, scale=scale, unit=unit, percent=kind))
    return readings


def _derived(check: NumberCheck, formula: str) -> NumberCheck:
    if check.status in _SOUND:
        return check
    reason = "calculated from figures in the answer, correctly"
    return replace(check, status="derived", citation=None, formula=formula, reason=reason)
