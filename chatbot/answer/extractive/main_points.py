"""The sentences and figures that stand for several pages, in the documents' own words; knows no question
and finds no page.
"""

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
from ingestion.language.measures import find_measures
from ingestion.language.periods import find_periods
from ingestion.language.sentences import is_finished
from ingestion.language.terms import terms
from ingestion.pages.kinds import PRIMARY_STATEMENTS

__all__ = ["key_figures", "main_points"]

# Words of a sentence that can stand alone; of a page those looked at.
FEWEST_WORDS = 8
MOST_WORDS = 45
MOST_OF_A_PAGE = 8
# What likeness to sentences already chosen costs, of a sentence's own likeness to all.
REPEATED_COST = 0.5
# The number of a paragraph, and what else a line that is no sentence of the text begins with; words that
# point back at a sentence before.
NUMBERED = re.compile(r"(?:[IVX]{1,5}\.)?\d{1,3}(?:\.\d{1,3})*[.)]?\s+(?=[A-Z])")
BESIDE = re.compile(r"(?:sources?|notes?|charts?|tables?|figures?|box)\b[^.]{0,30}:", re.IGNORECASE)
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
    """Up to so many sentences of the sources that are nearest to the middle of all of them and unlike each
    other, in the order of the pages, each with its key. vectors: gives unit rows; without it each page's
    first sentence stands for it. after: a heading and its page, before which nothing is taken.

    Maximal marginal relevance (Carbonell and Goldstein, 1998) against the mean of the sentences.
    """
    found = list(
        {text: (key, text) for key in prompt.sources for text in _sentences(prompt, key, after)}.values()
    )
    if vectors is None or len(found) <= count:
        first = list({key: at for at, (key, _) in reversed(list(enumerate(found)))}.values())
        if vectors is None:
            chosen = sorted(first)[:count]
        else:
            chosen = list(range(len(found)))
    else:
        chosen = _spread(vectors([text for _, text in found]), count)
    return [f"{escape_keys(found[at][1])} [{found[at][0]}]" for at in chosen]


def key_figures(prompt: Prompt, count: int) -> list[str]:
    """Up to so many rows of the primary statements among the sources that are called by a measure, as
    sentences of their newest year, each with its key.
    """
    found: dict[str, str] = {}
    for key, hit in prompt.sources.items():
        for passage in page_of(hit).passages if set(PRIMARY_STATEMENTS).intersection(hit.kinds) else ():
            measures = find_measures(tuple(terms(passage.row.label))) if passage.row else ()
            if measures and measures[0].name not in found and (said := _newest(passage)):
                found[measures[0].name] = f"{escape_keys(said)} [{key}]"
    return list(found.values())[:count]


def _newest(passage: Passage) -> str:
    """The row in a sentence of the newest year of its table's heads, "" where that is not one figure."""
    if passage.table:
        heads = passage.table.heads
    else:
        heads = ()
    years = [period.end_year for head in heads for period in find_periods(head)]
    asked = f"{max(years)}" if years else ""
    if years:
        return row_in_a_sentence(passage, Understanding(asked, asked, "figure", (max(years),)))
    return ""


def _sentences(prompt: Prompt, key: str, after: tuple[str, int]) -> Iterator[str]:
    """The sentences of a source that can stand alone, and address no machine; on the page of a heading
    those below it.
    """
    hit = prompt.sources[key]
    page = " ".join(hit.page_text.split())
    if hit.page == after[1]:
        begins = page.find(after[0])
    else:
        begins = -1
    orders, said = orders_of(hit), 0
    for passage in page_of(hit).passages:
        text = NUMBERED.sub("", " ".join(passage.text.split()), count=1)
        if said == MOST_OF_A_PAGE:
            return
        if _stands_alone(passage, text) and text not in orders and page.find(text[:SURELY]) >= begins:
            said += 1
            yield text


def _stands_alone(passage: Passage, text: str) -> bool:
    if passage.is_row or passage.asks or passage.lead or not text[:1].isupper() or not is_finished(text):
        return False
    if BESIDE.match(text) or not POINTS_BACK.isdisjoint(
        word.strip(",.;").casefold() for word in text.split()[:WORDS_BEFORE]
    ):
        return False
    letters = sum(character.isalpha() or character.isspace() for character in text)
    return (
        FEWEST_WORDS <= len(text.split()) <= MOST_WORDS
        and letters >= LETTERS * len(text)
        and not LEANS_BACK.match(text)
    )


def _spread(rows: NDArray[np.float32], count: int) -> list[int]:
    """The places of so many rows, in order, nearest to the mean of all and far from each other."""
    middle = rows.mean(axis=0)
    near = rows @ (middle / (np.linalg.norm(middle) or 1.0))
    chosen = [int(near.argmax())]
    while len(chosen) < count:
        worth = near - REPEATED_COST * (rows @ rows[chosen].T).max(axis=1)
        worth[chosen] = -np.inf
        chosen.append(int(worth.argmax()))
    return sorted(chosen)
