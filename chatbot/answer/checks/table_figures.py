"""Tells whether the row, column and period of a table's cell are those that an answer names."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from chatbot.evidence.figure_names import SAME_PERIOD, Mention, agreement, label_words, may_be_one, periods_in
from chatbot.evidence.table_cells import CellPlace, Named, TablesOfPage, TableView, Words
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.periods import Period, stands_for

__all__ = ["cell_mismatch", "names_row", "reads_row", "speaks_of_another_row"]

# Share of a word's weight that counts against a row whose label has the word where the answer lacks it.
UNSAID = 0.5
# Weight of a section's words, which only decide between rows that are named alike.
SECTION = 0.25
# Scores are sums of logarithms: those that differ by less than this are equal.
SAME = 1e-9

FEWEST_ROUNDED = 2  # digits that a rounded figure must show to be taken for a cell's
MOST_NAMED = 30  # rows that one sentence names in full; the best are enough
MOST_CELLS = 60  # in a row; more figures than that in succession are no row that was read out
# A row of such a name may be the total of whatever the answer speaks of.
_TOTAL = label_words("total subtotal sub grand all net overall")
_PERCENT = re.compile(r"%|per ?cent|percentage", re.IGNORECASE)
_AMOUNT = re.compile(rf"[{DRAWN_SIGNS}]|\d[,.\u00a0 ]\d{{3}}|\d{{4}}")  # of money, or in the thousands
# Heads and verbs of change stand for one another.
# Words by which an answer speaks of a part of a year.
_PARTS = label_words("quarter quarterly half halves interim month months week weeks")
_CHANGES = label_words(
    "change changed increase decrease rise rose risen grow grew grown growth fall fell fallen drop "
    "decline variation variance difference up down higher lower"
)


def cell_mismatch(tables: TablesOfPage, place: CellPlace, mention: Mention, *, quoted: bool = False) -> str:
    """Why this cell is not the one the answer speaks of; "" where it may be. quoted: the answer has its
    row as printed, so that only the column counts.
    """
    view = tables.views[place.table]
    objection = _in_other_position(view, mention, place)
    if not objection and not quoted:
        objection = _of_other_row(view, mention, place)
    if objection or _reads_out(view, mention, place):
        return objection
    return _of_other_column(view, mention, place)


def names_row(tables: TablesOfPage, mention: Mention) -> bool:
    """Whether the answer names a row of one of the tables in full, near the figure."""
    for said in mention.nearby[:-1]:
        for view in tables.views:
            if any(row.words and row.words <= said for row in view.rows):
                return True
    return False


def reads_row(tables: TablesOfPage, place: CellPlace, mention: Mention) -> bool:
    """Whether the answer names the cell's row in full, in its sentence."""
    words = tables.views[place.table].rows[place.row].words
    if not words:
        return False
    return any(words <= said for said in mention.nearby[:-1])


def speaks_of_another_row(tables: TablesOfPage, place: CellPlace, mention: Mention) -> bool:
    """Whether the words beside a single figure name a row whose name contains this row's: "other revenue"
    is not the row "Revenue" read out before.
    """
    if mention.head or mention.together > 1 or len(mention.nearby) < 2:
        return False
    rows = tables.views[place.table].rows
    words = rows[place.row].words
    return any(words < row.words <= mention.nearby[0] for row in rows)


# ---------------------------------------------------------------- row


def _of_other_row(view: TableView, mention: Mention, place: CellPlace) -> str:
    """Why another row is meant, "" where this one may be."""
    mine = view.rows[place.row]
    if not mine.words:
        return ""
    is_rival = partial(_is_rival_row, view, mention, place)
    naming = _Naming(view, mention, view.rows, place.row, is_rival)
    named = naming.best()
    if named is None:
        # A word of the row, its section or what is said above the table is enough.
        words = mine.words | mine.beside | view.around
        if not mention.nearby or words & mention.nearby[-1] or view.foreign:
            return ""
        return f"its value is in the {view.row_shown(place.row)}, which the answer does not name"
    if named == place.row or mine.words <= mention.behind:
        return ""
    text = view.text(named, place.column)
    return f"its value is in the {view.row_shown(place.row)}; the {view.row_shown(named)} has {text}"


def _is_rival_row(view: TableView, mention: Mention, place: CellPlace, other: int) -> bool:
    """Whether the answer may mean another row's cell of the same column."""
    words = view.rows[other].words
    if words <= view.heads[place.column]:
        return False
    digits = view.digits(other, place.column)
    if digits in ("", view.digits(place.row, place.column)):
        return False
    mine = view.text(place.row, place.column)
    there = view.text(other, place.column)
    if _are_percentage_and_amount(mine, there) or _are_percentage_and_amount(there, mine):
        return False
    # Named for its own figure, which the sentence has too: "a deficit of 6 against a debt of 35".
    if digits.lstrip("-") not in mention.figures:
        return True
    own = view.rows[place.row].words
    return words <= mention.lead and not own <= mention.lead


def _are_percentage_and_amount(text: str, other: str) -> bool:
    """Whether a cell is a percentage and another an amount: neither is meant for the other."""
    return "%" in text and _AMOUNT.search(other) is not None


def _is_said(digits: str, mention: Mention) -> bool:
    """Whether the sentence has a cell's figure too, perhaps rounded: "a deficit of 48.8" for 48,778."""
    cell = digits.lstrip("-")
    if cell in mention.figures:
        return True
    if not cell.isdigit():
        return False
    own = mention.run[mention.place : mention.place + 1]
    for shorter in mention.figures.difference(own):
        if not FEWEST_ROUNDED <= len(shorter) < len(cell):
            continue
        if shorter.startswith("0"):
            continue
        noughts = len(cell) - len(shorter)
        if round(int(cell) / 10**noughts) == int(shorter):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Naming:
    """How an answer names the rows, or the columns, of a table.

    options: the rows, or the columns.
    this: the position of the one in question.
    is_rival: whether another of them, by position, may be meant instead.
    """

    view: TableView
    mention: Mention
    options: tuple[Named, ...]
    this: int
    is_rival: Callable[[int], bool]

    def best(self) -> int | None:
        """The row or column that the answer names best, None where it names none. A rival counts only if it
        is named in full, in words as near. Where the same sentence names two rows in full the one in question
        stands, unless its name is part of the rival's: "total assets" of "total current assets".
        """
        own = self.options[self.this]
        nearby = self.mention.nearby
        bare = own.words - _TOTAL  # "operating expenses" may be their total
        scopes = nearby
        if own.words <= _TOTAL and len(nearby) > 1:
            scopes = nearby[:-1]
        for scope, said in enumerate(scopes):
            # The same for every figure of a sentence, and every cell that it may be.
            scores = self.view.once(_named_in_full, self.view, self.options, said)
            rivals = self._rivals(scope, said, scores)
            if rivals:
                best = max(rivals, key=lambda index: scores[index])
                is_better = scores[best] > _score(self.view, own, said) + SAME
                if is_better and not self._stands(scope, scores, best):
                    return best
                return self.this
            if self.this in scores or (bare and bare <= said):
                return self.this
        return None

    def _rivals(self, scope: int, said: Words, scores: Mapping[int, float]) -> list[int]:
        """The rivals that are named in full. scope: which of the widening words these are, 0 the nearest.
        scores: of what the words name in full.
        """
        nearby = self.mention.nearby
        own = self.options[self.this]
        rivals = [index for index in scores if index != self.this and self.is_rival(index)]
        rivals = [index for index in rivals if not self._is_short_for_own(index)]
        if scope:  # named further off, and less beside the figure than this one
            least = _shared(self.view, own, nearby[0])
            rivals = [index for index in rivals if self._shares(index, nearby[0]) >= least]
        # What is named elsewhere counts where it was asked for, or the sentence has more of its name.
        sentence = self._sentence
        if said is nearby[-1] and sentence:
            near = _shared(self.view, own, sentence) + SAME
            rivals = [index for index in rivals if self._shares(index, sentence) > near]
        return rivals

    def _stands(self, scope: int, scores: Mapping[int, float], best: int) -> bool:
        """Whether the row in question stands against a better one, as a whole sentence may name several rows,
        a table's title among them.
        """
        if self.options is not self.view.rows or self.this not in scores:
            return False
        if scope < len(self.mention.nearby) - 2:
            return False
        own = self.options[self.this].words
        return not own < self.options[best].words

    def _shares(self, index: int, said: Words) -> float:
        """The weight of a name's words that are said; infinite where the question has the whole name."""
        named = self.options[index]
        if named.words <= self.mention.asked:
            return math.inf
        return _shared(self.view, named, said)

    def _is_short_for_own(self, index: int) -> bool:
        """Whether a name is part of the one in question, which sentence and question have in full: "net
        income" of "net income of the group".
        """
        own = self.options[self.this].words
        name = self.options[index].words
        return name < own <= self._sentence | self.mention.asked

    @property
    def _sentence(self) -> Words:
        """The label words of the sentence."""
        if len(self.mention.nearby) > 1:
            return self.mention.nearby[-2]
        return frozenset()


def _named_in_full(view: TableView, options: tuple[Named, ...], said: Words) -> dict[int, float]:
    """The rows or columns whose words are all said, with their scores, best first."""
    scores = {}
    for index, named in enumerate(options):
        if named.words and named.words <= said:
            scores[index] = _score(view, named, said)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return dict(ranked[:MOST_NAMED])


def _score(view: TableView, named: Named, said: Words) -> float:
    """How well words name a row or column: by the weights of its words that are said, less those that are
    not, and a little for its section.
    """
    shared = _weight(view, named.words & said)
    unsaid = _weight(view, named.words - said)
    return shared - UNSAID * unsaid + SECTION * _weight(view, named.beside & said)


def _shared(view: TableView, named: Named, said: Words) -> float:
    """The weight of a name's words that are said."""
    return _weight(view, named.words & said)


def _weight(view: TableView, words: Words) -> float:
    return sum(view.weights[word] for word in words)


# ---------------------------------------------------------------- column and period


def _of_other_column(view: TableView, mention: Mention, place: CellPlace) -> str:
    """Why another column is meant, "" where this one may be."""
    head = view.table.heads[place.column]
    if mention.head and mention.head == _read_out(head):
        return ""
    fits = _fits(view, mention, place)
    others = [column for column in range(len(view.columns)) if column != place.column]
    columns = [column for column in others if _differs(view, place, column)]
    fitting = {}
    for column in columns:
        other = CellPlace(place.table, place.row, column)
        fitting[column] = _fits(view, mention, other)
    fits_elsewhere = any(fit > 0 for fit in fitting.values())
    if fits == 0 and (fits_elsewhere or not _may_be_called(view, mention, place)):
        return _of_other_period(view, mention, place, fitting)
    if fits == 1 and _is_of_a_part(view, mention, place):
        return _of_other_period(view, mention, place, {})
    exact = [column for column in columns if fitting[column] == SAME_PERIOD]
    if exact and (fits == 1 or (fits < 0 and _is_unnamed(view, mention, place))):
        return _stands_in_column(view, place, exact[0])
    candidates = frozenset(column for column in columns if fits <= 0 or fitting[column] > 0)

    def is_rival(column: int) -> bool:
        return column in candidates and _is_rival_column(view, mention, place, column)

    naming = _Naming(view, mention, view.columns, place.column, is_rival)
    named = naming.best()
    if named is None or named == place.column:
        return ""
    if _is_of_the_other(view, mention, place, named):
        return ""
    return _stands_in_column(view, place, named)


def _is_of_a_part(view: TableView, mention: Mention, place: CellPlace) -> bool:
    """Whether the cell is of a part of the year that the answer states, and the answer speaks of no part."""
    own = view.periods(place.row, place.column)
    said = (*mention.periods, *mention.named)
    if any(stands_for(stated, period) for stated in said for period in own):
        return False
    return not mention.nearby or mention.nearby[-1].isdisjoint(_PARTS)


def _of_other_period(view: TableView, mention: Mention, place: CellPlace, fitting: Mapping[int, int]) -> str:
    """That the cell is of another period than the answer states. fitting: column -> how well its period
    fits.
    """
    periods = view.periods(place.row, place.column)
    shown = " and ".join(period.said for period in periods[:2])
    objection = f"its value is for {shown}, not {mention.periods[0].text}"
    others = [column for column, fit in fitting.items() if fit > 0]
    if len(others) == 1:
        return objection + _has_instead(view, place, others[0])
    return objection


def _is_rival_column(view: TableView, mention: Mention, place: CellPlace, column: int) -> bool:
    """Whether the answer may mean another column's cell of the same row."""
    words = view.columns[column].words
    if words <= view.rows[place.row].words:
        return False
    own = view.text(place.row, place.column)
    if _are_percentage_and_amount(own, view.text(place.row, column)):
        return False
    if not mention.base and not _is_of_other_kind(view, place, column):
        return True
    asked = mention.asked
    if _is_said(view.digits(place.row, column), mention):
        asked = frozenset()
    return words <= mention.nearby[0] | asked


def _is_of_other_kind(view: TableView, place: CellPlace, column: int) -> bool:
    """Whether one of two cells of a row is a percentage and the other is not, by its text or its head."""
    mine = "%" in view.text(place.row, place.column)
    if mine != ("%" in view.text(place.row, column)):
        return True
    own_head = _PERCENT.search(view.table.heads[place.column])
    head = _PERCENT.search(view.table.heads[column])
    return bool(own_head) != bool(head)


def _may_be_called(view: TableView, mention: Mention, place: CellPlace) -> bool:
    """Whether a stated fiscal year may be what the cell's column has by the calendar, or the other way
    round.
    """
    periods = view.periods(place.row, place.column)
    for stated in mention.periods:
        others = [period for period in periods if period.kind != stated.kind]
        if any(may_be_one(stated, other) for other in others):
            return True
    return False


def _is_of_the_other(view: TableView, mention: Mention, place: CellPlace, named: int) -> bool:
    """Whether the other column is named for its own figure, which the sentence has too: "was 5, compared
    with a budget of 6".
    """
    if len(mention.nearby) < 2:
        return False
    if not _is_said(view.digits(place.row, named), mention):
        return False
    own = view.columns[place.column].words & mention.nearby[0]
    other = view.columns[named].words & mention.nearby[0]
    return len(own) >= len(other)


def _read_out(head: str) -> str:
    """A head as answers write it: a head over two lines goes on after a comma."""
    return " ".join(head.replace(", > ", ", ").split())


def _stands_in_column(view: TableView, place: CellPlace, other: int) -> str:
    return f"its value is in {view.column_shown(place.column)}{_has_instead(view, place, other)}"


def _has_instead(view: TableView, place: CellPlace, column: int) -> str:
    return f"; {view.column_shown(column)} has {view.text(place.row, column)}"


def _is_unnamed(view: TableView, mention: Mention, place: CellPlace) -> bool:
    """Whether the answer has no word of the column's head, where that has any, such as "change"."""
    column = view.columns[place.column]
    words = column.words | column.beside
    said = mention.nearby[-1] if mention.nearby else frozenset[str]()
    if not words or words & said:
        return False
    return not (view.heads[place.column] & _CHANGES and said & _CHANGES)


def _fits(view: TableView, mention: Mention, place: CellPlace) -> int:
    """How well the cell's period fits one that the answer states: 2, 1 or 0 as in periods_agree; -1 where
    either gives none.
    """
    own = view.periods(place.row, place.column)
    stated = mention.periods
    of_label = periods_in(view.table.rows[place.row].label)
    of_column = view.column_periods[place.column]
    if of_label and of_column:
        # "notes due 2026 were 5 in 2021": the year in a name is not the period.
        apart = _without(mention.periods, of_label)
        stated = apart or _without(mention.named, of_label) or mention.periods
        if apart or stated != mention.periods:
            own = of_column
    if not own or not stated:
        return -1
    return agreement(stated, own)


def _without(periods: tuple[Period, ...], others: tuple[Period, ...]) -> tuple[Period, ...]:
    return tuple(period for period in periods if agreement([period], others) != SAME_PERIOD)


def _in_other_position(view: TableView, mention: Mention, place: CellPlace) -> str:
    """Why this cell has another turn than the figure, where the answer reads out all figures of the table's
    row; "" where it has the same.
    """
    if not _reads_out(view, mention, place):
        return ""
    filled = view.filled(place.row)
    if mention.together < len(filled):
        return ""
    turn = mention.place - max(0, mention.together - len(filled))
    column = filled[turn]
    if not _differs(view, place, column):
        return ""
    row = view.row_shown(place.row)
    return (
        f"its value is in {view.column_shown(place.column)}; in that position the {row} has "
        f"{view.text(place.row, column)}"
    )


def _reads_out(view: TableView, mention: Mention, place: CellPlace) -> bool:
    """Whether the answer has the figure among others of its row, one after the other; numbers of the label
    may stand before them.
    """
    if not 1 < mention.together <= MOST_CELLS:
        return False
    filled = view.filled(place.row)
    first = max(0, mention.together - len(filled))
    if mention.place < first:
        return False
    digits = [view.digits(place.row, column) for column in filled]
    cells = Counter(cell.lstrip("-") for cell in digits)
    return not Counter(mention.run[first:]) - cells


def _differs(view: TableView, place: CellPlace, column: int) -> bool:
    """Whether another cell of the row has other digits, and any."""
    digits = view.digits(place.row, column)
    return digits not in ("", view.digits(place.row, place.column))
