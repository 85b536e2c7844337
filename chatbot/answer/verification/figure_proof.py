"""Proves the figures of a statement: each stands in the quotations, or is worked out from figures that do."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from chatbot.answer.verification.located import LocatedQuote
from chatbot.answer.verification.reply import ReadFigure, ReadStatement
from chatbot.calculator import Calculation, CalculationError, calculate, half_digit
from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_figures import OnPage, digits_of
from chatbot.evidence.word_runs import common_end, comparable_words
from ingestion.language.numbers import Figure, find_figures, same_value, stated_mark
from ingestion.language.opposites import HOLDINGS, MOVES, TOLD_LESS
from ingestion.language.periods import find_periods
from ingestion.language.scales import MINUS
from ingestion.language.vocabulary import words

__all__ = [
    "ProvenCalculation",
    "ProvenFigure",
    "are_factors",
    "in_table",
    "is_of_name",
    "is_quoted",
    "is_result",
    "printed_figures",
    "prove_calculations",
    "prove_figure",
    "quoted_figures",
    "states_figure",
    "unread_number",
]

# What is taken away in arithmetic: "43,192 − 46,093".
_MINUS_BEFORE = re.compile(rf"[\d)] ?[{MINUS}] ?\Z")
# Words by which a statement tells that an amount is below zero, taken away or paid.
SIGN_WORDS = (
    MOVES[1]
    | TOLD_LESS
    | frozenset().union(*(below for _, below in HOLDINGS))
    | words(
        "negative minus paid pay pays payment payments repaid repayment repayments used spent spending "
        "outlay outlays expense expenses cost costs charge charges tax taxes writedown impairment purchase "
        "purchases repurchase repurchases repurchased dividend dividends capex expenditure expenditures "
        "investing investments acquisition acquisitions depreciation amortization amortisation provision "
        "allowance"
    )
)
# Of averages, quarters, days, per cent and scales: no page states them.
FACTORS = frozenset({*map(float, range(2, 13)), 52.0, 100.0, 360.0, 365.0, 366.0, 1e3, 1e4, 1e6, 1e9})
MOST_FREE = 2  # of these in one calculation
# Amounts of one that are tried for whether it depends on any.
MOST_TRIED = 20
CENTS = 2  # decimals; "in millions, except per share amounts": figures with cents are the exception
CENTS_A_UNIT = 100.0
_NUMBERS = re.compile(r"(\d[\d,]*(?:\.\d+)?)")
_SUBUNIT = re.compile(
    r"(?:\s?(?:to|and|or|[–-])\s?\d[\d.,]*)?\s?(?:cents?|pence|centimes?|bps?|basis points?)\b", re.IGNORECASE
)
SCALES = frozenset({1e3, 1e6, 1e9})
# So many equal words before a figure show that a row of a table is copied.
COPIED_WORDS = 2
# Words before a page's figure, and behind it, that tell its sign.
NEAR_WORDS, FEW_WORDS = 8, 3
# A bare whole number below this may belong to a name: "737 MAX 8", "Level 3", "S&P 500".
LARGEST_NAME = 1_000
# A number in words up to this is taken as read: "three of them".
LARGEST_IN_WORDS = 12
# A word with a digit of any script, or a sign that stands for a number.
_WITH_DIGITS = re.compile(r"[^\s|]*[\d²³¹⁰-⁹₀-₉⅐-↉①-⓿][^\s|]*")


@dataclass(frozen=True, slots=True)
class ProvenFigure:
    """Where a figure of a statement is from.

    relation: "same", "rounded", "sign_in_words", "calculated", "counted" or "not_a_claim".
    key: of the page it stands on, "" if it stands on none.
    printed: as it stands there.
    start: its offset there, -1 for none.
    """

    relation: str
    key: str = ""
    printed: str = ""
    start: int = -1


@dataclass(frozen=True, slots=True)
class ProvenCalculation:
    """A calculation that comes out, whose amounts are printed in the quotations.

    operands: (amount as printed, key of its page).
    scales: of its amounts, else of its factors; of percentages 1.
    """

    calculation: Calculation
    operands: tuple[tuple[str, str], ...]
    scales: frozenset[float]


_Located = Sequence[LocatedQuote | None]


def prove_figure(
    figure: Figure,
    text: str,
    read: ReadStatement,
    located: _Located,
    views: Mapping[str, PageEvidence],
    *,
    question: str,
    calculations: Sequence[ProvenCalculation],
) -> ProvenFigure | None:
    """Where a statement's figure is from; None if that cannot be proven.

    text: the statement. located: the reader's quotations, in their order. question: as asked.
    """
    entry = _entry(figure, read.figures)
    plain, figure = figure, in_table(figure, text)
    quotes = [quote for quote in located if quote]
    digits = frozenset[str]()
    if entry and entry.as_printed:
        quotes = [*filter(None, located[entry.quote : entry.quote + 1])] if entry.quote >= 0 else []
        digits = frozenset(map(digits_of, find_figures(entry.as_printed)))
    for quote in quotes:
        view = views[quote.key]
        for placed in quote.figures(view):
            if digits and digits_of(placed.figure) not in digits:
                continue
            # A head may state the scale that the page before states.
            said = plain if placed.mark is None and placed.figure.scale == 1 else figure
            told = entry is not None and entry.relation == "sign_in_words"
            if relation := states_figure(said, text, placed, told=told):
                return ProvenFigure(relation, quote.key, placed.figure.text, placed.figure.start)
    if entry and any(_is_printed_so(figure, text, entry, quote, views[quote.key]) for quote in quotes):
        return ProvenFigure("same", quotes[0].key, entry.as_printed)
    if any(is_result(figure, calculation) for calculation in calculations):
        return ProvenFigure("calculated")
    if entry and entry.relation == "counted" and _counts(figure, located):
        return ProvenFigure("counted")
    if entry and entry.relation == "not_a_claim" and is_of_name(figure, text, question, views.values()):
        return ProvenFigure("not_a_claim")
    in_words = not any(map(str.isdigit, figure.text)) and figure.scale == 1 and not figure.percent
    if in_words and abs(figure.value) <= LARGEST_IN_WORDS:  # "half of it", "three of them": read, not proven
        return ProvenFigure("not_a_claim")
    return None


def unread_number(text: str, figures: Iterable[Figure], question: str, views: Iterable[PageEvidence]) -> str:
    """A number of a statement that is none of its figures, and stands on no page nor in the question; "" for
    none.

    Digits of other scripts, powers and "FY999" could state what nobody has proven.
    """
    spans = [(figure.start, figure.end) for figure in figures]
    known = [comparable_words(question).joined, *(view.words.joined for view in views)]
    for period in find_periods(text):
        text = text.replace(period.said, " " * len(period.said))
    for found in _WITH_DIGITS.finditer(text):
        if any(start < found.end() and found.start() < end for start, end in spans):
            continue
        own = comparable_words(found[0]).joined
        if not own.strip() or not any(own in words for words in known):
            return found[0]
    return ""


def is_quoted(figure: Figure, read: ReadStatement, located: _Located) -> bool:
    """Whether the digits of a statement's figure, as far as it shows them, are those that the reader quotes.

    Scale and unit are not looked at, nor the sign if the reader finds it in words: nothing speaks against the
    figure then, and nothing is proven.
    """
    entry = _entry(figure, read.figures)
    if entry is None or not entry.as_printed or not any(located[entry.quote : entry.quote + 1]):
        return False
    digits = digits_of(figure) or "0"
    for other in find_figures(entry.as_printed):
        if entry.relation != "sign_in_words" and (other.value < 0) != (figure.value < 0):
            continue
        printed = digits_of(other)
        shown = printed[: len(digits)] or "0"
        if digits == printed or (len(printed) > len(digits) and abs(int(digits) - int(shown)) <= 1):
            return True
    return False


def in_table(figure: Figure, text: str) -> Figure:
    """A figure of a table's row with the scale that the heads before it state: "| $ million | | 30.8 |"."""
    heads = text.partition("| |")[0]
    if not figure.bare or not text.startswith("|") or figure.start < len(heads):
        return figure
    mark = stated_mark(heads)
    return replace(figure, scale=mark.scale) if mark else figure


def _is_printed_so(
    figure: Figure, text: str, entry: ReadFigure, quote: LocatedQuote, view: PageEvidence
) -> bool:
    """Whether a bare number is printed in a word, "Y3" or "17pp", or an amount in its smaller unit."""
    if entry.relation == "unit_converted":
        if not _SUBUNIT.match(text, figure.end):
            return False
        printed = {abs(one.value) for one in find_figures(entry.as_printed)}
        amounts = {abs(placed.figure.value) for placed in quote.figures(view)}
        return any(abs(abs(figure.value) / one - CENTS_A_UNIT) < 1e-6 for one in printed & amounts if one)
    written = rf"(?<![\d.,]){re.escape(entry.as_printed)}(?!\d|[.,]\d)"
    parts = [view.text[slice(*span)] for span in quote.spans]
    is_same = figure.bare and re.findall(r"\d+", entry.as_printed) == [figure.text]
    return is_same and any(re.search(written, part) for part in parts)


def states_figure(figure: Figure, text: str, placed: OnPage, *, told: bool = False) -> str:
    """How a page's figure states one of a text: "same", "rounded" or "sign_in_words"; "" if it does not.

    told: whether a reader finds the sign in words, so that any word of the text may tell it.
    """
    for reading in placed.readings:
        if reading.bare and placed.mark and _drops_scale(figure, text, placed):
            continue
        if same_value(figure, reading):
            return "same"
        if same_value(figure, reading, rounding=True):
            return "rounded"
        opposite = replace(reading, value=-reading.value)
        if same_value(figure, opposite, rounding=True) and _tells_sign(figure, text, placed, told=told):
            return "sign_in_words"
    return ""


def _drops_scale(figure: Figure, text: str, placed: OnPage) -> bool:
    """Whether a text gives an amount of money without the scale that its page has for it."""
    if not figure.bare or placed.mark is None or placed.mark.scale == 1.0:
        return False
    if placed.mark.exceptions and placed.figure.decimals == CENTS:
        return False
    if figure.unit is None or stated_mark(text):
        return False
    before = comparable_words(text[: figure.start]).texts
    return common_end(before, placed.before) < COPIED_WORDS  # a row may be copied as it is


def _tells_sign(figure: Figure, text: str, placed: OnPage, *, told: bool) -> bool:
    """Whether the side that prints no minus tells it by a word; a cell prints its own."""
    if figure.value > 0:
        if _MINUS_BEFORE.search(text, 0, figure.start):
            return True
        said = comparable_words(text[: figure.start]).texts[-NEAR_WORDS:]
        behind = comparable_words(text[figure.end :]).texts[:1]
        return not SIGN_WORDS.isdisjoint(comparable_words(text).texts if told else (*said, *behind))
    if placed.place is not None:  # "– 25" copies the dash of the cell before
        return figure.text[0] in MINUS and figure.text[1] == " "
    near = (*placed.before[-NEAR_WORDS:], *placed.after[:FEW_WORDS])
    said = comparable_words(text[: figure.start]).texts[-NEAR_WORDS:]
    behind = comparable_words(text[figure.end :]).texts[:FEW_WORDS]
    falling = MOVES[1] | TOLD_LESS
    # "fell by -2" and "-2 lower" tell it twice.
    return not falling.isdisjoint(near) and falling.isdisjoint((*said, *behind))


def _entry(figure: Figure, entries: Iterable[ReadFigure]) -> ReadFigure | None:
    """What the reader says of a figure."""
    written = " ".join(figure.text.split())
    entries = list(entries)
    for entry in entries:
        if " ".join(entry.as_written.split()) == written:
            return entry
    for entry in entries:
        if _has_figure(" ".join(entry.as_written.split()), written):
            return entry
        if any(same_value(figure, other) for other in find_figures(entry.as_written)):
            return entry
    return None


def _has_figure(said: str, written: str) -> bool:
    """Whether one of two texts holds the other, and no digit of it is left over."""
    shorter, longer = sorted((said, written), key=len)
    return bool(shorter) and re.search(rf"(?<![\d.,]){re.escape(shorter)}(?!\d|[.,]\d)", longer) is not None


def _counts(figure: Figure, located: _Located) -> bool:
    """Whether a figure is the number of quotations, or of parts of one."""
    quotes = [quote for quote in located if quote]
    several = {(quote.key, quote.spans) for quote in quotes}
    return figure.bare and figure.value in {len(several), *(len({*quote.spans}) for quote in quotes)}


def is_of_name(figure: Figure, text: str, question: str, views: Iterable[PageEvidence]) -> bool:
    """Whether a bare whole number stands behind the same word, or before it, in the question or on a page, or
    numbers a line of a page."""
    if not figure.bare or figure.unit or figure.value != int(figure.value) or figure.value > LARGEST_NAME:
        return False
    before = comparable_words(text[: figure.start]).texts[-1:]
    own = comparable_words(text[figure.start : figure.end]).texts
    if not before:  # the number of a list's item
        return True
    views = list(views)
    if any(re.search(rf"(?m)^\s{{0,20}}{re.escape(figure.text)}[.)]\s", view.text) for view in views):
        return True
    after = comparable_words(text[figure.end :]).texts[:1]
    runs = [f" {' '.join(run)} " for run in ((*before, *own), (*own, *after)) if len(run) > 1]
    known = [comparable_words(question).joined, *(view.words.joined for view in views)]
    return any(run in words for run in runs for words in known)


# --- calculations
# ------------------------------------------------------------------------------------------------------------


Printed = Mapping[float, tuple[str, str, float]]


def prove_calculations(expressions: Iterable[str], printed: Printed) -> list[ProvenCalculation]:
    """Those of some calculations that come out and whose numbers are printed.

    printed: value -> (as printed, key of its page, scale).
    """
    return [*filter(None, (_proven(expression, printed) for expression in expressions))]


def quoted_figures(located: _Located, views: Mapping[str, PageEvidence]) -> Printed:
    """The figures of a reader's quotations, as prove_calculations takes them."""
    printed: dict[float, tuple[str, str, float]] = {}
    for quote in filter(None, located):
        _print(printed, quote.key, quote.figures(views[quote.key]))
    return printed


def printed_figures(views: Mapping[str, PageEvidence]) -> Printed:
    """The figures of pages, as prove_calculations takes them."""
    printed: dict[float, tuple[str, str, float]] = {}
    for key, view in views.items():
        _print(printed, key, view.figures.all)
    return printed


def _print(printed: dict[float, tuple[str, str, float]], key: str, figures: Iterable[OnPage]) -> None:
    for placed in figures:
        scale = max(reading.scale for reading in placed.readings)
        printed.setdefault(abs(placed.figure.value), (placed.figure.text, key, scale))


def _proven(expression: str, printed: Printed) -> ProvenCalculation | None:
    """A calculation whose amounts are all printed."""
    try:
        calculation = calculate(expression)
    except CalculationError:
        return None
    if not _depends(expression, calculation):
        return None
    amounts = [printed.get(abs(amount)) for amount in calculation.amounts]
    factors = [printed[abs(factor)] for factor in calculation.factors if abs(factor) in printed]
    if None in amounts or not (amounts or factors) or not are_factors(calculation.factors, printed):
        return None
    if any(percent not in printed for percent in {*calculation.percents} - {100.0}):
        return None  # "+ 5%" is no factor that every calculation may have
    found = [one for one in amounts if one]
    scales = frozenset(scale for _, _, scale in found or factors)
    if found and len(scales) > 1 and SCALES.isdisjoint(calculation.factors):
        return None
    operands = tuple(dict.fromkeys((text, key) for text, key, _ in (*found, *factors)))
    return ProvenCalculation(calculation, operands, scales)


def _depends(expression: str, calculation: Calculation) -> bool:
    """Whether another amount in place of one of its own would change what a calculation comes to.

    What is divided by itself, or only counted, proves nothing.
    """
    own = {*calculation.amounts, *calculation.factors, *calculation.percents} - FACTORS - {1.0}
    for amount in sorted(own)[:MOST_TRIED]:
        other = f"{abs(amount) * 1.37 + 0.11:.9f}"
        pieces = [
            other if piece[:1].isdigit() and _number(piece) == abs(amount) else piece
            for piece in _NUMBERS.split(expression)
        ]
        with suppress(CalculationError):
            if not math.isclose(calculate("".join(pieces)).value, calculation.value):
                return True
    return False


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def are_factors(factors: Iterable[float], printed: Iterable[float]) -> bool:
    """Whether each number that multiplies or divides is printed, or one that no page need state."""
    factors = [abs(factor) for factor in factors]
    known = FACTORS.union(printed, {1.0})
    free = [
        factor for factor in factors if factor in FACTORS - SCALES - {100.0} and factor not in set(printed)
    ]
    return len(free) <= MOST_FREE and all(factor in known for factor in factors)


def is_result(figure: Figure, proven: ProvenCalculation) -> bool:
    """Whether a calculation, or a step of it, comes to a figure within the digits that it shows."""
    calculation = proven.calculation
    step = half_digit(figure.decimals)
    scales = {scale * factor for scale in proven.scales for factor in (1.0, *SCALES & {*calculation.factors})}

    def comes_to(value: float) -> bool:
        return abs(abs(figure.value) - abs(value)) <= step

    for value, is_sum in calculation.steps:
        if figure.percent:
            if comes_to(value) or (not is_sum and comes_to(100 * value)):
                return True
        elif figure.scale > 1:
            if any(comes_to(value * scale / figure.scale) for scale in scales):
                return True
        elif comes_to(value) and (figure.unit is None or not is_sum or scales == {1.0}):
            return True
    return False
