"""Knows whether a figure of an answer stands on the pages cited for it, in the row, column and period that
the answer speaks of; keeps nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.checks.cell_derivations import from_cells, turned_level
from chatbot.answer.checks.claims import Claim, Scope, Spoken
from chatbot.answer.checks.direction import turned_moves
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
from chatbot.answer.checks.formulas import comes_to, find_formulas, is_constant
from chatbot.answer.checks.model_arithmetic import against_calculation
from chatbot.answer.checks.sentence_arithmetic import reckoned
from chatbot.answer.checks.table_figures import names_row, objection_to, reads_row, speaks_of_another_row
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
from chatbot.evidence.page import PageEvidence, page_of
from chatbot.evidence.page_figures import OnPage, digits_of
from chatbot.evidence.word_runs import common_end, comparable_words
from chatbot.records import FINE, NumberCheck, Prompt
from ingestion.language.numbers import Figure, find_figures, same_value, units_agree
from ingestion.language.periods import Period
from ingestion.language.scales import SCALE_NAMES

__all__ = ["Scope", "check_numbers", "figures_stating"]

LARGEST_NAME = 1_000  # "737 MAX 8", "Level 3", "S&P 500": a bare whole number below it may belong to a name
MOST_PLACES = 50  # of one value on one page; a page of noughts has no more to tell
LONGEST_SHOWN = 90
FEWEST_REPEATED = 3  # words of an answer's sentence in the page's
# Figures of an answer that are checked: a reply that repeats one without end is not to be waited for.
MOST_FIGURES = 500
# Results of an answer's arithmetic that its other figures are compared with.
MOST_RESULTS = 100
TOO_MANY = f"not checked: of an answer's figures the first {MOST_FIGURES} are"

INDIAN_SCALES = frozenset(
    {1e5, 1e7}
)  # lakh and crore: only where one is named, as other errors are of five or seven noughts too

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
# "3.4 percent this year, 2.1 percent next year", in prose: of a year that the sentence does not name.
_RELATIVE = re.compile(
    r"[\s,]{1,2}(?:in |for |over )?(?:the )?(?:this|next|last|following) (?:fiscal |financial )?year\b"
)
_FIRST_CELL = re.compile(r"^[ \t]{0,3}\|[ \t]*([0-9]{1,2})\.?[ \t]*\|", re.MULTILINE)
_NOTE_MARK = re.compile(r"\([0-9]{1,2}\)")

_Label = tuple[float, str | None]  # scale; "%" for percent and percentage points, "bps", or None


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What one page says of a figure. status: as in NumberCheck, or "absent"."""

    status: str
    reason: str = ""
    period: str | None = None
    exact: Figure | None = None  # the page's, where the answer's is rounded from it


ABSENT = _Verdict("absent")


def check_numbers(text: str, scope_of: Callable[[int], Scope], prompt: Prompt) -> tuple[NumberCheck, ...]:
    """One check per figure of an answer, in order. text: the answer with its citation keys blanked out at
    equal length.

    supported: the value stands on a page cited for it, in sign, scale, unit and percent kind, rounded only
    where the answer says so or gives a scale, "4.18 billion"; in the row, column and period that the answer
    names, where it stands in a table whose heads are known. derived: the answer shows how it comes from
    supported figures, and the arithmetic holds, or the program's own calculation in the prompt comes to it.
    contradicted: the cited page has the answer's words around another figure of the same kind, or that
    calculation comes to another. present_elsewhere: the value alone is there: in another row, column or
    period, in another source or the question, under another scale, unit or kind, or more exactly than an
    answer says that does not call it rounded.
    """
    figures = find_figures(text)
    questioned = find_figures(prompt.question)
    spoken = Spoken(text, figures, prompt.question)
    views = {key: page_of(hit) for key, hit in prompt.sources.items()}
    claims = []
    checks = []
    places = []
    scopes = []
    ranks = _row_numbers(text, figures)
    exact = [*figures]
    for index, figure in enumerate(figures):
        scope = scope_of(figure.start)
        scopes.append(scope)
        claims.append(
            spoken.claim(index, scope)
            if index < MOST_FIGURES
            else Claim(figure, (figure,), (), (), rounded=False, outflow=False)
        )
        if index in ranks:
            checks.append(_result(claims[-1], _Verdict("supported", "numbers a row of the answer"), None))
        elif index >= MOST_FIGURES:
            checks.append(_result(claims[-1], _Verdict("unsupported", TOO_MANY), None))
        else:
            check, exact[index] = _check(claims[-1], scope.keys, views, questioned)
            checks.append(check)
        places.append([views[key] for key in scope.keys or views])
    for at, check in enumerate(checks):
        if check.status not in FINE and (
            written := from_cells(claims[at], places[at], text[scopes[at].start : scopes[at].end])
        ):
            checks[at] = _derived(check, f"{written} = {check.text}")
    for _ in range(2):  # a change may be shown before what it is a share of
        checks = _with_reckoned(text, figures, exact, scopes, _with_formulas(text, claims, checks, places))
    for at, why in turned_moves(text, figures, scopes):
        checks[at] = replace(checks[at], status="contradicted", formula=None, reason=why)
    return tuple(against_calculation(checks, claims, worked_out_of(prompt), views.values()))


# ---------------------------------------------------------------- one figure against the pages


def _check(
    claim: Claim, keys: Sequence[str], views: Mapping[str, PageEvidence], questioned: Sequence[Figure]
) -> tuple[NumberCheck, Figure]:
    """The check of a figure, and the figure as exactly as the page has it."""
    verdicts = {key: _verdict(claim, views[key]) for key in keys}
    if counts_years(claim) and not any(verdict.status == "supported" for verdict in verdicts.values()):
        return _result(
            claim, _Verdict("supported", "counts the years that answer and question name"), None
        ), claim.figure
    for status in ("supported", "contradicted", "present_elsewhere"):
        if key := next((key for key, verdict in verdicts.items() if verdict.status == status), None):
            return _result(claim, verdicts[key], key), verdicts[key].exact or claim.figure
    if any(_verdict(claim, view).status == "supported" for key, view in views.items() if key not in keys):
        return _result(
            claim, _Verdict("present_elsewhere", "it stands on a page that is not cited for it"), None
        ), claim.figure
    if any(agree(claim.figure, other) for other in questioned):
        return _result(
            claim, _Verdict("present_elsewhere", "it stands in the question, not on the pages cited"), None
        ), claim.figure
    reason = next(
        (verdict.reason for verdict in verdicts.values() if verdict.reason), "it stands on none of the pages"
    )
    return _result(claim, _Verdict("unsupported", reason), None), claim.figure


def _row_numbers(text: str, figures: Sequence[Figure]) -> frozenset[int]:
    """The figures that stand alone in the first cell of a table's rows and count them, 1, 2, 3."""
    at = {figure.start: index for index, figure in enumerate(figures)}
    found = set[int]()
    rank = 0
    for row in _FIRST_CELL.finditer(text):
        if int(row[1]) == rank + 1:
            rank = rank + 1
        else:
            if int(row[1]) == 1:
                rank = 1
            else:
                rank = 0
        if rank and row.start(1) in at:
            found.add(at[row.start(1)])
    return frozenset(found)


def _result(claim: Claim, verdict: _Verdict, key: str | None) -> NumberCheck:
    figure, periods = claim.figure, claim.mention.periods
    period = periods[0].text if len(periods) == 1 else verdict.period or figure.period
    if key:
        shown = key.split("-")[0]
    else:
        shown = None
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
    if copied := next((placed for placed in same_digits if _is_copied(claim, placed, view)), None):
        return _supported(copied, view)
    stating = [placed for placed in same_digits if matches(claim, placed)][:MOST_PLACES]
    equal = [
        placed for placed in stating if not drops_scale(claim, placed) or _quotes_line(claim, placed, view)
    ]
    if _in_head(claim, view):
        return _Verdict("supported", "belongs to a head or label of a table")
    apart = names_row(view.tables, claim.mention) or any(placed.place for placed in same_digits)
    objections = {placed.figure.start: _objection(claim, placed, view, apart=apart) for placed in equal}
    doubtful = [placed for placed in equal if objections[placed.figure.start]]
    fitting = [
        placed
        for placed in equal
        if not objections[placed.figure.start]
        and not any(_says_it(claim, other, placed, view) for other in doubtful)
    ]
    named = any(_in_name(claim, placed) for placed in fitting)
    if named:
        against = []
    else:
        against = figures_against(claim, view, equal, rows=not any(placed.place for placed in fitting))
    if sure := next((placed for placed in fitting if not against or _is_the_one(claim, placed, view)), None):
        return _supported(sure, view)
    if unscaled := next((placed.mark for placed in stating if placed.mark and placed not in equal), None):
        return _Verdict(
            "present_elsewhere",
            (
                f"the page has it in {SCALE_NAMES.get(unscaled.scale, 'another scale')}s, which the answer "
                f"does not say"
            ),
        )
    if near := [
        placed
        for placed in against or (() if equal else _of_like_digits(claim, view))
        if rounds(claim, placed)
    ]:
        return _rounded(claim, near, view)
    if misquoted := next((placed for placed in against if _is_another(placed, claim)), None):
        return _Verdict("contradicted", f"in the answer's words the page has {misquoted.figure.text}")
    if equal:
        return _Verdict(
            "present_elsewhere", next(filter(None, objections.values()), "its value stands in other words")
        )
    if _is_list_number(claim, view):
        return _Verdict("supported", "numbers a paragraph of the page")
    if any(placed.figure.value == claim.figure.value for placed in same_digits):
        return _Verdict(
            "present_elsewhere",
            f"the page has its digits under another scale, unit or kind: {_line(same_digits[0], view)}",
        )
    if any(abs(placed.figure.value) == abs(claim.figure.value) for placed in same_digits):
        return _Verdict("absent", "the page has it with the other sign")
    return ABSENT


def _of_like_digits(claim: Claim, view: PageEvidence) -> Iterator[OnPage]:
    """The page's figures that may be the answer's, rounded: they begin with the same digit, or with a 9
    where it begins with a 1.
    """
    first = digits_of(claim.figure)[:1]
    likely = (
        places
        for digits, places in view.figures.by_digits.items()
        if digits[:1] == first or (first == "1" and digits[:1] == "9")
    )
    return (placed for places in likely for placed in places)


def _is_the_one(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether a place that fits cannot be another's: a cell whose row the answer names in full, an item of a
    list that it names, or a figure that both tie to one period."""
    if placed.place is not None:
        return reads_row(view.tables, placed.place, claim.mention)
    if claim.mention.nearby and _items_around(placed, view)[0] & claim.mention.nearby[0]:
        return True
    tied = period_beside(view.text, placed.figure)
    return agreement(claim.mention.beside, tied) == SAME_PERIOD


def _is_another(placed: OnPage, claim: Claim) -> bool:
    """Whether a page's figure is of the answer's kind and has other digits, noughts or another sign: a
    scale that is not said contradicts nothing.
    """
    there = placed.figure
    said = claim.figure
    if there.percent != said.percent or (
        _NOTE_MARK.fullmatch(there.text) and (said.unit or said.scale != 1 or abs(said.value) >= LARGEST_NAME)
    ):
        return False
    if digits_of(there) != digits_of(said) or (there.value < 0) != (said.value < 0):
        return True
    if placed.mark:
        scale = placed.mark.scale
    else:
        scale = there.scale
    return not any(_apart_by_scale(replace(there, scale=scale), reading) for reading in claim.readings)


def _apart_by_scale(one: Figure, other: Figure) -> bool:
    """Whether two figures of equal digits may state one value, where one of them leaves its scale unsaid:
    45 is none of 4.5 million.
    """
    unsaid = 1.0 in (one.scale, other.scale)
    values = sorted((abs(one.value * one.scale), abs(other.value * other.scale)))
    stated = {one.scale, other.scale}
    if values[0] == values[1] or (unsaid and abs(one.value) == abs(other.value)):
        return True
    ratio = next((scale for scale in SCALE_NAMES if math.isclose(values[1], values[0] * scale)), None)
    return (
        unsaid and ratio is not None and (ratio not in INDIAN_SCALES or not INDIAN_SCALES.isdisjoint(stated))
    )


def _rounded(claim: Claim, near: Sequence[OnPage], view: PageEvidence) -> _Verdict:
    """The verdict on a figure that is one of the page's, rounded."""
    if not claim.rounded:
        return _Verdict(
            "present_elsewhere", f"rounded, which the answer does not say: the page has {near[0].figure.text}"
        )
    apart = names_row(view.tables, claim.mention)
    objections = [_objection(claim, placed, view, apart=apart) for placed in near]
    fitting = next(
        (placed for placed, objection in zip(near, objections, strict=True) if not objection), None
    )
    if fitting is None:
        return _Verdict("present_elsewhere", objections[0])
    found = _supported(fitting, view)
    mine = claim.figure
    scaled = next(
        (
            reading
            for reading in fitting.readings
            if any(same_value(one, reading, rounding=True) for one in claim.readings)
        ),
        None,
    )
    exact = scaled and replace(
        mine,
        value=abs(scaled.value) * (1 if mine.value >= 0 else -1),
        scale=scaled.scale,
        text=fitting.figure.text,
    )
    return replace(found, reason=f"rounded from {fitting.figure.text}: {found.reason}", exact=exact)


def _supported(placed: OnPage, view: PageEvidence) -> _Verdict:
    if placed.place is None:
        return _Verdict("supported", f"stands in “{_line(placed, view)}”")
    return _Verdict(
        "supported", f"stands in {view.tables.shown(placed.place)}", view.tables.period_of(placed.place)
    )


def _line(placed: OnPage, view: PageEvidence) -> str:
    """The page's line around a figure."""
    line = " ".join(_line_of(placed, view).split())
    if len(line) <= LONGEST_SHOWN:
        return line
    return f"{line[: LONGEST_SHOWN - 1]}…"


def _line_of(placed: OnPage, view: PageEvidence) -> str:
    end = view.text.find("\n", placed.figure.end)
    return view.text[placed.line : end if end >= 0 else len(view.text)]


# ---------------------------------------------------------------- is it this place that the answer speaks of


def _objection(claim: Claim, placed: OnPage, view: PageEvidence, *, apart: bool) -> str:
    """Why the answer does not speak of this place of the page; "" where it may. apart: outside tables it
    must have a word in common with it.
    """
    if placed.place is not None:
        printed = view.rows_in(claim.paragraph, view.tables.views[placed.place.table])
        quoted = placed.place.row in printed and not speaks_of_another_row(
            view.tables, placed.place, claim.mention
        )
        if claim.mention.head and printed and not quoted:
            return f"its value stands in {view.tables.shown(placed.place)}; another row is read out"
        return objection_to(view.tables, placed.place, claim.mention, quoted=quoted) or turned_level(
            claim, view, placed.place
        )
    if _in_name(claim, placed):
        return ""
    if (
        view.tables.views
        and _NOTE_MARK.fullmatch(placed.figure.text)
        and not _NOTE_MARK.fullmatch(claim.figure.text)
    ):
        return "only the mark of a note has that number"
    if apart and claim.mention.nearby:
        said = frozenset().union(*claim.mention.nearby[:-1]) or claim.mention.nearby[-1]
        if said and not said & view.once(label_words, _sentence(placed, view)):
            return f"its value stands among other words: {_line(placed, view)}"
    if _is_spelled(claim.figure) and not _of_same_thing(claim.after, placed.after):
        return f"the page has it of something else: {_line(placed, view)}"
    before = comparable_words(
        view.text[view.sentence_around(placed.figure.start, placed.figure.end)[0] : placed.figure.start]
    ).texts
    return (
        other_sense(claim, placed, before)
        or _of_other_order(claim, placed, view)
        or _of_other_item(claim, placed, view)
        or _of_other_period(claim, placed, view)
    )


def _of_other_order(claim: Claim, placed: OnPage, view: PageEvidence) -> str:
    """Why a figure is that of the second year, say, where the answer gives it for the first; "" where it
    may be the same.
    """
    if not claim.mention.order:
        return ""
    start, end = view.sentence_around(placed.figure.start, placed.figure.end)
    inside = [one.figure.start for one in view.figures.all if start <= one.figure.start < end]
    orders = orders_in(view.text[start:end], [at - start for at in inside])
    if orders and placed.figure.start in inside:
        there = orders[inside.index(placed.figure.start)]
    else:
        there = ""
    same_kind = there.partition(" ")[2] == claim.mention.order.partition(" ")[2]
    if there and same_kind and there != claim.mention.order:
        return f"the page has it for the {there}"
    return ""


def _of_other_item(claim: Claim, placed: OnPage, view: PageEvidence) -> str:
    """Why a figure of a list in a sentence, "31 in Japan, 29 in Korea", is that of another of its items;
    "" where it may be the one that is meant.
    """
    if not claim.mention.nearby:
        return ""
    own, others = _items_around(placed, view)
    said = claim.mention.nearby[0]
    if own & said or not any(words <= said for words in others):
        return ""
    return f"the page has it of something else: {_line(placed, view)}"


def _items_around(placed: OnPage, view: PageEvidence) -> tuple[frozenset[str], tuple[frozenset[str], ...]]:
    """The words of what a figure of a list in a page's sentence is of, and those of the others."""
    start, end = view.sentence_around(placed.figure.start, placed.figure.end)
    inside = [
        (one.figure.start - start, one.figure.end - start)
        for one in view.figures.all
        if start <= one.figure.start and one.figure.end <= end
    ]
    mine = (placed.figure.start - start, placed.figure.end - start)
    if mine in inside:
        return item_of(view.text[start:end], inside, inside.index(mine))
    return (frozenset(), ())


def _is_spelled(figure: Figure) -> bool:
    """A duration in words: "nine" of "nine years" is no other nine."""
    return (
        figure.bare
        and figure.unit is None
        and figure.decimals == 0
        and figure.text.replace("-", "").isalpha()
    )


def _of_same_thing(said: Sequence[str], there: Sequence[str]) -> bool:
    """Whether what is counted after a figure is the same: its next word is one of the next two of the
    other, or it has none.
    """
    return not said or said[0] in there[:2] or (bool(there) and there[0] in said[:2])


def _in_head(claim: Claim, view: PageEvidence) -> bool:
    """Whether the figure is a number in a head or label of the page's tables, such as the 3 of "Level 3",
    with the word before it.
    """
    digits = re.sub("[^0-9]", "", claim.figure.text)
    return abs(claim.figure.value) < LARGEST_NAME and (*claim.lead[-1:], digits) in view.tables.names


def _is_copied(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether the answer has the whole line of the page that the figure stands in, words among it."""
    if common_end(claim.lead, placed.before) < min(placed.on_line, len(placed.before)):
        return False
    line = " ".join(_line_of(placed, view).split())
    tells = any(map(str.isalpha, line)) or line.count(" ") > 1
    copied = tells and " ".join(claim.figure.text.split()) in line and view.printed_in(claim.paragraph, line)
    return copied and not _of_other_period(claim, placed, view)


def _quotes_line(claim: Claim, placed: OnPage, view: PageEvidence) -> bool:
    """Whether the answer has the figure's whole line beside it, with its words: what reads it out need not
    say its scale.
    """
    line = _line_of(placed, view)
    return any(map(str.isalpha, line)) and view.printed_in(claim.paragraph, line)


def _in_name(claim: Claim, placed: OnPage) -> bool:
    """Whether answer and page have the figure as part of a name: a small whole number after, or tied to,
    the same word.
    """
    figure = claim.figure
    if (
        not figure.bare
        or figure.unit is not None
        or figure.decimals
        or not 0 <= figure.value < LARGEST_NAME
        or placed.place is not None
    ):
        return False
    before = claim.before[-1:] == placed.before[-1:] and bool(label_words(" ".join(claim.before[-1:])))
    after = claim.after[:1] == placed.after[:1] and bool(label_words(" ".join(claim.after[:1])))
    return before or after


def _is_list_number(claim: Claim, view: PageEvidence) -> bool:
    """Whether a line of the page begins with this number and a full stop, and goes on as the answer does:
    "112. The total".
    """
    written = claim.figure.text
    if not (written.isdigit() and claim.goes_on):
        return False
    return (
        re.search(
            rf"^[ \t]{{0,20}}{written}[.)][ \t]{{1,5}}{re.escape(claim.goes_on[0])}\b",
            view.text,
            re.IGNORECASE | re.MULTILINE,
        )
        is not None
    )


def _of_other_period(claim: Claim, placed: OnPage, view: PageEvidence) -> str:
    """Why a figure of a sentence is of another period than the answer states, "" where it may be of that
    one.
    """
    if not claim.mention.periods or not claim.mention.own or placed.place is not None:
        return ""
    sentence = _sentence(placed, view)
    tied = period_beside(view.text, placed.figure)
    if not placed.cell and _RELATIVE.match(view.text, placed.figure.end):
        return ""
    named = view.once(periods_in, sentence)
    if not tied and named and all(agreement([period], _periods_of_others(placed, view)) for period in named):
        return ""
    if named and not agreement(claim.mention.periods, named):
        mine = placed.figure.start - view.sentence_around(placed.figure.start, placed.figure.end)[0]
        compared = all(_is_compared(sentence, period, mine) for period in named)
        return (
            ""
            if compared
            else f"its sentence speaks of {named[0].text}, not of {claim.mention.periods[0].text}"
        )
    said = claim.mention.beside or (claim.mention.periods if len(claim.mention.periods) == 1 else ())
    if any(not may_be_one(stated, other) for stated in said for other in tied):
        return f"the page has it for {tied[0].text}, not for {said[0].text}"
    return ""


def _periods_of_others(placed: OnPage, view: PageEvidence) -> tuple[Period, ...]:
    """The periods that the sentence around a figure ties to others that follow it, "630 (2023: 572)"."""
    end = view.sentence_around(placed.figure.start, placed.figure.end)[1]
    others = (one for one in view.figures.all if placed.figure.end <= one.figure.start < end)
    return tuple(period for one in others for period in period_beside(view.text, one.figure))


def _says_it(claim: Claim, placed: OnPage, other: OnPage, view: PageEvidence) -> bool:
    """Whether it is this place that the answer repeats, of another period, and not the other one, by
    chance of the same value: it has far more of its words.
    """
    if (
        not claim.mention.own
        or placed.place is not None
        or other.place is not None
        or len(claim.mention.nearby) < 2
    ):
        return False
    said = claim.mention.nearby[-2]
    shared, elsewhere = (len(said & view.once(label_words, _sentence(one, view))) for one in (placed, other))
    return shared >= FEWEST_REPEATED and shared > 2 * elsewhere


def _is_compared(sentence: str, period: Period, mine: int) -> bool:
    """Whether a sentence names a period only to compare with it; mine: where the figure in question
    stands, whose own period is none such.
    """
    if _COMPARED.search(sentence, max(0, period.start - 40), period.start):
        return True
    found = _OF_THE_OTHER.search(sentence, max(0, period.start - 60), period.start)
    return found is not None and not found.start("other") <= mine < found.end("other")


def _sentence(placed: OnPage, view: PageEvidence) -> str:
    """The page's sentence around a figure."""
    return view.text[slice(*view.sentence_around(placed.figure.start, placed.figure.end))]


# ---------------------------------------------------------------- figures that the answer computes


def _with_formulas(
    text: str, claims: list[Claim], checks: list[NumberCheck], views: list[list[PageEvidence]]
) -> list[NumberCheck]:
    """The checks with results of shown formulas, and figures that repeat them, marked as derived. views:
    the pages each may rest on.
    """
    checked = list(checks)
    figures = [one.figure for one in claims]
    results: list[tuple[Figure, str]] = []
    exact: list[tuple[float, str]] = []
    # Operands of one formula stand in different statements, each cited with its own row somewhere in the
    # answer.
    cited = list({id(view): view for pages in views for view in pages}.values())
    # Twice, because an average may be shown before the ratios that it is of.
    for formula in [*find_formulas(text, figures)] * 2:
        operands = [index for index in formula.operands if not is_constant(figures[index])]
        labels = [_labels(claims[index], cited, results) for index in operands]
        if labels:
            shared = set.intersection(*labels)
        else:
            shared = set()
        result = figures[formula.result]
        fits = bool(shared) and (result.scale == 1.0 or (formula.sums and (result.scale, None) in shared))
        if fits or all(checked[index].status in ("supported", "derived") for index in operands):
            if formula.sums and result.bare and result.unit is None:
                readings = _labelled(result, shared)
            else:
                readings = []
            results += [(reading, formula.text) for reading in (result, *readings)]
            exact.append((formula.value, formula.text))
            for index in (*formula.operands, *formula.between, formula.result):
                checked[index] = _derived(checked[index], formula.text)
    results = list(
        {
            (result.value, result.scale, result.unit, result.percent, result.decimals): (result, written)
            for result, written in results
        }.values()
    )
    for index, figure in enumerate(figures[:MOST_FIGURES]):
        same = (
            written for result, written in results[:MOST_RESULTS] if same_value(figure, result, rounding=True)
        )
        finer = (
            written
            for value, written in exact
            if figure.percent and figure.decimals and comes_to(value, figure)
        )  # "1.79%" of what was shown as 1.8%
        if written := next(same, None) or next(finer, None):
            checked[index] = _derived(checked[index], written)
    return checked


def _with_reckoned(
    text: str,
    figures: Sequence[Figure],
    exact: Sequence[Figure],
    scopes: Sequence[Scope],
    checks: Sequence[NumberCheck],
) -> list[NumberCheck]:
    """The checks with figures that come from others of their sentence or list, and those that repeat them.
    exact: the figures, as pages have them.
    """
    checked = list(checks)
    sound = {index: check.status in FINE for index, check in enumerate(checked)}
    results = dict(reckoned(text, figures, scopes, sound))
    if list(exact) != list(figures):  # "7.2 from 6.6, up 9.8%" is worked out from what was rounded
        results = {**dict(reckoned(text, exact, scopes, sound)), **results}
    alike: dict[str, list[int]] = {}
    for other in results:
        alike.setdefault(digits_of(figures[other]), []).append(other)
    for index, figure in enumerate(figures):
        same = (
            results[other]
            for other in alike.get(digits_of(figure), ())[:MOST_PLACES]
            if same_value(figure, figures[other])
        )
        if written := results.get(index) or next(same, ""):
            checked[index] = _derived(checked[index], written)
    return checked


def _labels(claim: Claim, views: list[PageEvidence], results: list[tuple[Figure, str]]) -> set[_Label]:
    """The scales and kinds under which the pages, or formulas before, have an operand; a bare operand
    leaves them to the formula.
    """
    mine = claim.figure
    bare = mine.bare and mine.percent is None
    same = [
        placed
        for view in views
        for placed in view.figures.by_digits.get(digits_of(mine), ())
        if abs(placed.figure.value) == abs(mine.value)
    ]
    # An outflow is printed with a minus, and divided without it.
    readings = [
        reading
        for placed in same
        for reading in placed.readings
        if (bare and units_agree(mine, reading)) or same_value(_unsigned(mine), _unsigned(reading))
    ]
    readings += [
        result
        for result, _ in results
        if (bare and result.value == mine.value and units_agree(mine, result)) or same_value(mine, result)
    ]
    return {
        (reading.scale, None if reading.percent is None else "bps" if reading.unit == "basis points" else "%")
        for reading in readings
    }


def _unsigned(figure: Figure) -> Figure:
    return replace(figure, value=abs(figure.value))


def _labelled(result: Figure, labels: set[_Label]) -> list[Figure]:
    """A bare result as it may be repeated elsewhere in the answer, with the scale or kind that its
    operands have.
    """
    units = {"%": (("%", "percent"), ("percentage points", "points")), "bps": (("basis points", "points"),)}
    return [
        replace(result, scale=scale, unit=unit, percent=kind)
        for scale, name in labels
        for unit, kind in units.get(name or "", ((None, None),))
    ]


def _derived(check: NumberCheck, formula: str) -> NumberCheck:
    if check.status in ("supported", "derived"):
        return check
    return replace(
        check,
        status="derived",
        citation=None,
        formula=formula,
        reason="computed from figures of the answer; the arithmetic holds",
    )
