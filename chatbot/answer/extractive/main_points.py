"""Picks the sentences and figures that sum up several pages, in the documents' own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chatbot.answer.citations.citation_keys import escape_keys
from chatbot.answer.extractive.passage_answers import LEANS_BACK, row_in_a_sentence
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import Passage, orders_of
from chatbot.records import Prompt, Understanding
from ingestion.language.measures import Measure, find_measures
from ingestion.language.periods import find_periods
from ingestion.language.sentences import is_finished
from ingestion.language.terms import terms
from ingestion.pages.kinds import PRIMARY_STATEMENTS

__all__ = ["key_figures", "main_points"]

# Words of a sentence that can stand alone.
FEWEST_WORDS = 8
MOST_WORDS = 45
# Sentences taken from one page.
MOST_OF_A_PAGE = 8
# What a sentence loses of its likeness to all for its likeness to one already chosen.
REPEATED_COST = 0.5
# The number of a paragraph.
NUMBERED = re.compile(r"(?:[IVX]{1,5}\.)?\d{1,3}(?:\.\d{1,3})*[.)]?\s+(?=[A-Z])")
# The beginning of a line that is no sentence of the text.
BESIDE = re.compile(r"(?:sources?|notes?|charts?|tables?|figures?|box)\b[^.]{0,30}:", re.IGNORECASE)
# Words that refer back to a sentence before, and how many of a sentence's first words may not be one of them.
POINTS_BACK = frozenset("this these that those such above he she they it its their his her".split())
WORDS_BEFORE = 8
# Characters by which a sentence is found on its page.
SURELY = 60
# The share of letters below which a sentence is a line of figures or a web address.
LETTERS = 0.7


def main_points(
    prompt: Prompt,
    count: int,
    vectors: Callable[[Sequence[str]], NDArray[np.float32]] | None,
    *,
    after: tuple[str, int] = ("", 0),
) -> list[str]:
    """Up to `count` sentences of the sources, in the order of the pages, each with its key.

    They are those nearest to the middle of all sentences and unlike each other.

    vectors: gives unit rows; without it each page's first sentence stands for it.
    after: a heading and its page, before which nothing is taken.

    Maximal marginal relevance (Carbonell and Goldstein, 1998) against the mean of the sentences.
    """
    key_of = {text: key for key in prompt.sources for text in _sentences(prompt, key, after)}
    texts = list(key_of)
    if vectors is None:
        chosen = _firsts(list(key_of.values()))[:count]
    elif len(texts) <= count:
        chosen = list(range(len(texts)))
    else:
        chosen = _spread(vectors(texts), count)
    points = [texts[index] for index in chosen]
    return [f"{escape_keys(text)} [{key_of[text]}]" for text in points]


def _firsts(keys: Sequence[str]) -> list[int]:
    """The place at which each key first stands, in order."""
    return sorted({key: index for index, key in reversed(list(enumerate(keys)))}.values())


def key_figures(prompt: Prompt, count: int) -> list[str]:
    """Up to `count` rows of the primary statements among the sources that are named after a measure of them.

    They are sentences of their newest year, each with its key. "Taxes receivable" of a cash flow statement
    is how these changed, and no measure of that.
    """
    found: dict[str, str] = {}
    for key, hit in prompt.sources.items():
        if not set(PRIMARY_STATEMENTS).intersection(hit.kinds):
            continue
        for passage in page_of(hit).passages:
            measure = _measure(passage)
            if measure is None or measure.name in found or not set(measure.kinds).intersection(hit.kinds):
                continue
            if sentence := _newest(passage):
                found[measure.name] = f"{escape_keys(sentence)} [{key}]"
    return list(found.values())[:count]


def _measure(passage: Passage) -> Measure | None:
    """The measure that a row is named after."""
    if not passage.row:
        return None
    return next(iter(find_measures(tuple(terms(passage.row.label)))), None)


def _newest(passage: Passage) -> str:
    """The row as a sentence of the newest year in its table's heads; "" where that is not one figure."""
    if passage.table is None:
        return ""
    years = [period.end_year for head in passage.table.heads for period in find_periods(head)]
    if not years:
        return ""
    newest = max(years)
    return row_in_a_sentence(passage, Understanding(str(newest), str(newest), "figure", (newest,)))


def _sentences(prompt: Prompt, key: str, after: tuple[str, int]) -> Iterator[str]:
    """The sentences of a source that can stand alone and do not address a machine.

    On the page of a heading, `after`, they are those below it.
    """
    hit = prompt.sources[key]
    page = " ".join(hit.page_text.split())
    begins = page.find(after[0]) if hit.page == after[1] else -1
    orders = orders_of(hit)
    count = 0
    for passage in page_of(hit).passages:
        if count == MOST_OF_A_PAGE:
            return
        text = NUMBERED.sub("", " ".join(passage.text.split()), count=1)
        if not _stands_alone(passage, text) or text in orders:
            continue
        if page.find(text[:SURELY]) >= begins:
            count += 1
            yield text


def _stands_alone(passage: Passage, text: str) -> bool:
    if passage.is_row or passage.asks or passage.lead:
        return False
    if not text[:1].isupper() or not is_finished(text) or BESIDE.match(text):
        return False
    words = text.split()
    if any(word.strip(",.;").casefold() in POINTS_BACK for word in words[:WORDS_BEFORE]):
        return False
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS:
        return False
    letters = sum(character.isalpha() or character.isspace() for character in text)
    return letters >= LETTERS * len(text) and not LEANS_BACK.match(text)


def _spread(rows: NDArray[np.float32], count: int) -> list[int]:
    """The places of `count` rows, in order, that are nearest to the mean of all and far from each other."""
    middle = rows.mean(axis=0)
    near = rows @ (middle / (np.linalg.norm(middle) or 1.0))
    chosen = [int(near.argmax())]
    while len(chosen) < count:
        worth = near - REPEATED_COST * (rows @ rows[chosen].T).max(axis=1)
        worth[chosen] = -np.inf
        chosen.append(int(worth.argmax()))
    return sorted(chosen)
