"""Knows whether the row, column and period of a table's cell are those that an answer names; compares no
values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from chatbot.evidence.figure_names import SAME_PERIOD, Mention, agreement, label_words, may_be_one, periods_in
from chatbot.evidence.table_cells import CellPlace, Named, TablesOfPage, TableView, Words
from ingestion.language.currencies import DRAWN_SIGNS
from ingestion.language.periods import Period

__all__ = ["names_row", "objection_to", "reads_row", "speaks_of_another_row"]

# Of a word that a row's label has and the answer has not, that share of its weight counts against the row.
UNSAID = 0.5
# A section's words only settle between rows that are named alike.
SECTION = 0.25
# Scores are sums of logarithms: nearer than this they are the same.
SAME = 1e-9

FEWEST_ROUNDED = 2  # digits that a rounded figure must show to be taken for a cell's
MOST_NAMED = 30  # rows that one sentence names in full; the best are enough to tell
MOST_CELLS = 60  # in a row; more figures than that one after the other are no row that was read out
_TOTAL = label_words(
    "total subtotal sub grand all net overall"
)  # a row of that name is that of whatever the answer speaks of
_PERCENT = re.compile(r"%|per ?cent|percentage", re.IGNORECASE)
_AMOUNT = re.compile(rf"[{DRAWN_SIGNS}]|\d[,.\u00a0 ]\d{{3}}|\d{{4}}")  # of money, or in the thousands
_CHANGES = label_words(  # heads and verbs of change name one another
    "change changed increase decrease rise rose risen grow grew grown growth fall fell fallen drop "
    "decline variation variance difference up down higher lower"
)


def objection_to(tables: TablesOfPage, place: CellPlace, mention: Mention, *, quoted: bool = False) -> str:
    """Why this cell is not the one the answer speaks of; "" where it may be. quoted: the answer has its
    row as printed, so that only the column counts.
    """
    view = tables.views[place.table]
    by_row = _in_other_position(view, mention, place) or (
        "" if quoted else _of_other_row(view, mention, place)
    )
    return by_row or ("" if _reads_out(view, mention, place) else _of_other_column(view, mention, place))


def names_row(tables: TablesOfPage, mention: Mention) -> bool:
    """Whether the answer names a row of one of the tables in full, near the figure."""
    return any(
        row.words and row.words <= said
        for said in mention.nearby[:-1]
        for view in tables.views
        for row in view.rows
    )


def reads_row(tables: TablesOfPage, place: CellPlace, mention: Mention) -> bool:
    """Whether the answer names the cell's row in full, in its sentence."""
    words = tables.views[place.table].rows[place.row].words
    return bool(words) and any(words <= said for said in mention.nearby[:-1])


def speaks_of_another_row(tables: TablesOfPage, place: CellPlace, mention: Mention) -> bool:
    """Whether the words beside a single figure name a row whose name has this one's in it: "other revenue"
    is not the row "Revenue" read out before.
    """
    if mention.head or mention.together > 1 or len(mention.nearby) < 2:
        return False
    rows = tables.views[place.table].rows
    return any(rows[place.row].words < row.words <= mention.nearby[0] for row in rows)


# ---------------------------------------------------------------- row


def _of_other_row(view: TableView, mention: Mention, place: CellPlace) -> str:
    """Why another row is meant, "" where this one may be."""
    mine = view.rows[place.row]
    if not mine.words:
        return ""

    def differs(other: int) -> bool:
        words = view.rows[other].words
        digits = view.digits(other, place.column)
        if words <= view.heads[place.column] or digits in ("", view.digits(place.row, place.column)):
            return False
        texts = view.text(place.row, place.column), view.text(other, place.column)
        if any("%" in one and _AMOUNT.search(two) for one, two in (texts, texts[::-1])):
            return False  # no amount is meant for a percentage
        # Named for its own figure, which the sentence has too: "a deficit of 6 against a debt of 35".
        return digits.lstrip("-") not in mention.figures or (
            words <= mention.lead and not mine.words <= mention.lead
        )

    named = _best_named(view, mention, view.rows, (place.row, differs))
    if named is None:
        # A word of the row, its section or what is said above the table is enough.
        touched = not mention.nearby or (mine.words | mine.beside | view.around) & mention.nearby[-1]
        return (
            ""
            if touched
            else f"its value stands in the {view.row_shown(place.row)}, which the answer does not name"
        )
    if named == place.row or mine.words <= mention.behind:
        return ""
    return (
        f"its value stands in the {view.row_shown(place.row)}; the {view.row_shown(named)} has "
        f"{view.text(named, place.column)}"
    )


def _is_said(digits: str, mention: Mention) -> bool:
    """Whether the sentence has a cell's figure too, perhaps rounded: "a deficit of 48.8" for 48,778."""
    cell = digits.lstrip("-")
    if cell in mention.figures:
        return True
    others = mention.figures - {*mention.run[mention.place : mention.place + 1]}
    shorter = (
        said for said in others if FEWEST_ROUNDED <= len(said) < len(cell) and not said.startswith("0")
    )
    return cell.isdigit() and any(
        round(int(cell) / 10 ** (len(cell) - len(said))) == int(said) for said in shorter
    )


def _best_named(
    view: TableView, mention: Mention, options: tuple[Named, ...], mine: tuple[int, Callable[[int], bool]]
) -> int | None:
    """The row or column that the answer names best: a rival only if it is named in full, in words as near;
    None where none is named. Of two rows that the same sentence names in full the one in question stands,
    unless its name is part of the rival's: "total assets" of "total current assets".

    mine: the position of the one in question, and which others are its rivals.
    """
    this, rivals = mine
    own = options[this]
    if len(mention.nearby) > 1:
        sentence = mention.nearby[-2]
    else:
        sentence = frozenset[str]()
    bare = own.words - _TOTAL  # "operating expenses" may be their total
    if mention.nearby:
        beside = _shared(view, own, mention.nearby[0])
    else:
        beside = 0.0
    for scope, said in enumerate(
        mention.nearby[: -1 if own.words <= _TOTAL and len(mention.nearby) > 1 else None]
    ):
        lenient = (
            options is view.rows and scope >= len(mention.nearby) - 2
        )  # a whole sentence may name several rows, a table's title among them
        scores = view.once(
            _named_in_full, view, options, said
        )  # the same for every figure of a sentence, and every cell that it may be
        found = [
            index
            for index in scores
            if index != this
            and rivals(index)
            and not _is_short_for(options[index], own, sentence | mention.asked)
        ]
        if scope:  # named further off, and less beside the figure than this one
            found = [
                index
                for index in found
                if options[index].words <= mention.asked
                or _shared(view, options[index], mention.nearby[0]) >= beside
            ]
        if (
            said is mention.nearby[-1] and sentence
        ):  # what is named elsewhere counts where it was asked for, or the sentence has more of its name
            near = _shared(view, own, sentence) + SAME
            found = [
                index
                for index in found
                if options[index].words <= mention.asked or _shared(view, options[index], sentence) > near
            ]
        best = max(found, key=lambda index: scores[index], default=this)
        if (
            found
            and scores[best] > _score(view, own, said) + SAME
            and not (lenient and this in scores and not own.words < options[best].words)
        ):
            return best
        if found or this in scores or (bare and bare <= said):
            return this
    return None


def _shared(view: TableView, named: Named, said: Words) -> float:
    """The weight of a name's words that are said."""
    return sum(view.weights[word] for word in named.words & said)


def _is_short_for(named: Named, own: Named, sentence: Words) -> bool:
    """Whether a name is the beginning of one that sentence and question have in full: "net income" of "net
    income of the group".
    """
    return named.words < own.words <= sentence


def _named_in_full(view: TableView, options: tuple[Named, ...], said: Words) -> dict[int, float]:
    """The rows or columns whose words are all said, with their scores."""
    scores = {
        index: _score(view, named, said)
        for index, named in enumerate(options)
        if named.words and named.words <= said
    }
    return dict(sorted(scores.items(), key=lambda item: -item[1])[:MOST_NAMED])


def _score(view: TableView, named: Named, said: Words) -> float:
    def weight(words: Words) -> float:
        return sum(view.weights[word] for word in words)

    return (
        weight(named.words & said)
        - UNSAID * weight(named.words - said)
        + SECTION * weight(named.beside & said)
    )


# ---------------------------------------------------------------- column and period


def _of_other_column(view: TableView, mention: Mention, place: CellPlace) -> str:
    """Why another column is meant, "" where this one may be."""
    if mention.head and mention.head == _read_out(view.table.heads[place.column]):
        return ""
    fits = _fits(view, mention, place)
    columns = [
        column
        for column in range(len(view.columns))
        if column != place.column and _differs(view, place, column)
    ]
    fitting = {column: _fits(view, mention, CellPlace(place.table, place.row, column)) for column in columns}
    if fits == 0 and not (all(fit <= 0 for fit in fitting.values()) and _may_be_called(view, mention, place)):
        others = [column for column in columns if fitting[column] > 0]
        shown = " and ".join(period.text for period in view.periods(place.row, place.column)[:2])
        objection = f"its value is that of {shown}, not of {mention.periods[0].text}"
        return objection + (_has_instead(view, place, others[0]) if len(others) == 1 else "")
    exact = [column for column in columns if fitting[column] == SAME_PERIOD]
    if exact and (fits == 1 or (fits < 0 and _is_unnamed(view, mention, place))):
        return f"its value stands in {view.column_shown(place.column)}{_has_instead(view, place, exact[0])}"

    def of_other_kind(column: int) -> bool:
        """No percentage is meant for a count."""
        texts = [view.text(place.row, one) for one in (column, place.column)]
        heads = [view.table.heads[one] for one in (column, place.column)]
        return (
            len({"%" in text for text in texts}) > 1
            or len({bool(_PERCENT.search(head)) for head in heads}) > 1
        )

    def rival(column: int) -> bool:
        named_apart = not view.columns[column].words <= view.rows[place.row].words
        if "%" in view.text(place.row, place.column) and _AMOUNT.search(view.text(place.row, column)):
            return False  # no amount is meant for a percentage
        if _is_said(view.digits(place.row, column), mention):
            asked = frozenset[str]()
        else:
            asked = mention.asked
        weak = (mention.base or of_other_kind(column)) and not view.columns[column].words <= mention.nearby[
            0
        ] | asked
        return column in fitting and named_apart and not weak and (fits <= 0 or fitting[column] > 0)

    named = _best_named(view, mention, view.columns, (place.column, rival))
    if named is None or named == place.column or _is_of_the_other(view, mention, place, named):
        return ""
    return f"its value stands in {view.column_shown(place.column)}{_has_instead(view, place, named)}"


def _may_be_called(view: TableView, mention: Mention, place: CellPlace) -> bool:
    """Whether a stated fiscal year may be what the cell's column has by the calendar, or the other way
    round.
    """
    return any(
        may_be_one(stated, own)
        for stated in mention.periods
        for own in view.periods(place.row, place.column)
        if stated.kind != own.kind
    )


def _is_of_the_other(view: TableView, mention: Mention, place: CellPlace, named: int) -> bool:
    """Whether the other column is named for its own figure, which the sentence has too: "was 5, compared
    with a budget of 6".
    """
    if not _is_said(view.digits(place.row, named), mention) or len(mention.nearby) < 2:
        return False
    own, other = (len(view.columns[column].words & mention.nearby[0]) for column in (place.column, named))
    return own >= other


def _read_out(head: str) -> str:
    """A head as answers have it, where one over two lines goes on after its comma."""
    return " ".join(head.replace(", > ", ", ").split())


def _has_instead(view: TableView, place: CellPlace, column: int) -> str:
    return f"; {view.column_shown(column)} has {view.text(place.row, column)}"


def _is_unnamed(view: TableView, mention: Mention, place: CellPlace) -> bool:
    """Whether the answer has no word of the column's head, where that has any, such as "change"."""
    words = view.columns[place.column].words | view.columns[place.column].beside
    if mention.nearby:
        said = mention.nearby[-1]
    else:
        said = frozenset()
    return bool(words) and not (words & said or (view.heads[place.column] & _CHANGES and said & _CHANGES))


def _fits(view: TableView, mention: Mention, place: CellPlace) -> int:
    """How well the cell's period fits one that the answer states: 2, 1 or 0 as in periods_agree; -1 where
    either says none.
    """
    own = view.periods(place.row, place.column)
    of_label = periods_in(view.table.rows[place.row].label)
    stated = mention.periods
    if (
        of_label and view.column_periods[place.column]
    ):  # "notes due 2026 were 5 in 2021": the year of a name is no time
        apart = [_without(some, of_label) for some in (mention.periods, mention.named)]
        stated = apart[0] or apart[1] or stated
        if stated == mention.periods and not apart[0]:
            own = own
        else:
            own = view.column_periods[place.column]
    if not own or not stated:
        return -1
    return agreement(stated, own)


def _without(periods: tuple[Period, ...], others: tuple[Period, ...]) -> tuple[Period, ...]:
    return tuple(period for period in periods if agreement([period], others) != SAME_PERIOD)


def _in_other_position(view: TableView, mention: Mention, place: CellPlace) -> str:
    """Where the answer reads out all figures of the table's row, whether this one has its turn."""
    filled = view.filled(place.row)
    turn = mention.place - max(0, mention.together - len(filled))
    if (
        not _reads_out(view, mention, place)
        or mention.together < len(filled)
        or not _differs(view, place, filled[turn])
    ):
        return ""
    return (
        f"its value stands in {view.column_shown(place.column)}; in its place the "
        f"{view.row_shown(place.row)} has {view.text(place.row, filled[turn])}"
    )


def _reads_out(view: TableView, mention: Mention, place: CellPlace) -> bool:
    """Whether the answer has the figure among others of its row, one after the other; numbers of the label
    may stand before them.
    """
    if not 1 < mention.together <= MOST_CELLS:
        return False
    filled = view.filled(place.row)
    first = max(0, mention.together - len(filled))
    cells = Counter(view.digits(place.row, column).lstrip("-") for column in filled)
    return mention.place >= first and not Counter(mention.run[first:]) - cells


def _differs(view: TableView, place: CellPlace, column: int) -> bool:
    return view.digits(place.row, column) not in ("", view.digits(place.row, place.column))
