"""Knows whether shown words are a table's row as printed, or part of an order to a machine, and names that
give one; knows no keys, and judges no figure.
"""

from __future__ import annotations

from functools import lru_cache

from chatbot.evidence.word_runs import MIN_QUOTE_WORDS, Words, comparable_words, longest_run, span_of
from chatbot.records import Hit
from ingestion.language.scales import SCALE_NAMES
from ingestion.language.sentences import sentences
from ingestion.prompt_injection.injections import find_instructions
from ingestion.records import NAMED, Table

__all__ = ["instructs_by_name", "printed_row", "repeats_order"]

# Of a sentence that gives an order so many words in a row must be shown, as a share: facts that it names
# stand elsewhere too.
_SHOWN_OF_ORDER = 0.5
# Read out with a figure whose table says it of all: "(in millions)".
_READ_OUT = frozenset({*SCALE_NAMES.values(), "per", "cent", "percent"})


def printed_row(said: Words, hit: Hit) -> tuple[int, int] | None:
    """Offsets in the page of a table's row that the words give whole, where all else they say is that
    table's caption, unit and heads.
    """
    for table in hit.tables:
        around: set[str] = set()
        for row in table.rows:
            if not row.label or not any(row.cells) or not 0 <= row.start < row.end <= len(hit.page_text):
                continue
            printed = comparable_words(hit.page_text[row.start : row.end]).texts
            place = span_of(printed, said)
            # A row that a year names, "2025-26 -0.21 -0.92", is one where it has several figures: these stand
            # nowhere by chance.
            if place is None or not (
                any(word.isalpha() for word in printed) or len(printed) >= MIN_QUOTE_WORDS
            ):
                continue
            around = around or _around(table)
            known = around.union(printed, comparable_words(row.section).texts, _READ_OUT)
            if known.issuperset(said.texts):
                return row.start, row.end
    return None


def _around(table: Table) -> set[str]:
    return set(comparable_words("\n".join((table.caption, table.unit, *table.heads))).texts)


def instructs_by_name(hit: Hit) -> bool:
    """Whether what the page or its document is called addresses its reader as a machine."""
    return NAMED in hit.instructions or _instructs(hit.document) or _instructs(hit.page_label or "")


@lru_cache(1_000)
def _instructs(name: str) -> bool:
    return bool(find_instructions(name.replace("_", " ")))


def repeats_order(shown: str, order: str) -> bool:
    """Whether a text shows an order to a machine, or most of one of its sentences: a caption may hold the
    order's beginning only.
    """
    words = comparable_words(shown)
    whole = comparable_words(order)
    if span_of(whole.texts, words):
        return True
    for sentence in sentences(order):
        said = comparable_words(sentence)
        run = longest_run(said, words)
        if run and len(comparable_words(shown[slice(*run)]).texts) >= max(
            MIN_QUOTE_WORDS, _SHOWN_OF_ORDER * len(said.texts)
        ):
            return True
    return False
