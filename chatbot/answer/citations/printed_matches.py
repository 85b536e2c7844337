"""Tells whether quoted words are a printed table row or an instruction to a machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from chatbot.evidence.word_runs import MIN_QUOTE_WORDS, Words, comparable_words, longest_run, span_of
from chatbot.records import Hit
from ingestion.language.scales import SCALE_NAMES
from ingestion.language.sentences import sentences
from ingestion.prompt_injection.injections import find_instructions
from ingestion.records import NAMED, Row, Table

__all__ = ["instructs_by_name", "printed_row", "repeats_order"]

# Share of a sentence giving an order that must be shown in a row: facts that it names stand elsewhere too.
_SHOWN_OF_ORDER = 0.5
# Words read out with a figure where its table says them of all figures: "(in millions)".
_READ_OUT = frozenset({*SCALE_NAMES.values(), "per", "cent", "percent"})


def printed_row(said: Words, hit: Hit) -> tuple[int, int] | None:
    """Offsets in the page of a table row that the words give whole.

    All else that they say is that table's caption, unit and heads.
    """
    for table in hit.tables:
        around: set[str] = set()
        for row in table.rows:
            if not _is_printed(row, hit):
                continue
            printed = comparable_words(hit.page_text[row.start : row.end]).texts
            if span_of(printed, said) is None or not _names_row(printed):
                continue
            around = around or _around(table)
            known = around.union(printed, comparable_words(row.section).texts, _READ_OUT)
            if known.issuperset(said.texts):
                return row.start, row.end
    return None


def _is_printed(row: Row, hit: Hit) -> bool:
    """Whether a row has a label and a cell, and its place on the page is known."""
    if not row.label or not any(row.cells):
        return False
    return 0 <= row.start < row.end <= len(hit.page_text)


def _names_row(printed: Sequence[str]) -> bool:
    """Whether a row's words stand nowhere else by chance.

    A row that a year names, "2025-26 -0.21 -0.92", must have several figures.
    """
    return len(printed) >= MIN_QUOTE_WORDS or any(word.isalpha() for word in printed)


def _around(table: Table) -> set[str]:
    """The words of a table's caption, unit and heads."""
    return set(comparable_words("\n".join((table.caption, table.unit, *table.heads))).texts)


def instructs_by_name(hit: Hit) -> bool:
    """Whether a name of the page or its document addresses its reader as a machine."""
    return NAMED in hit.instructions or _instructs(hit.document) or _instructs(hit.page_label or "")


@lru_cache(1_000)
def _instructs(name: str) -> bool:
    return bool(find_instructions(name.replace("_", " ")))


def repeats_order(shown: str, order: str) -> bool:
    """Whether a text shows an order to a machine, or most of one of its sentences.

    A caption may hold the order's beginning only.
    """
    words = comparable_words(shown)
    whole = comparable_words(order)
    if span_of(whole.texts, words):
        return True
    for sentence in sentences(order):
        sought = comparable_words(sentence)
        run = longest_run(sought, words)
        if run is None:
            continue
        least = max(MIN_QUOTE_WORDS, _SHOWN_OF_ORDER * len(sought.texts))
        if len(comparable_words(shown[slice(*run)]).texts) >= least:
            return True
    return False
