"""Answers in the documents' own words: picks the sentences and table rows that carry the question; invents and rewrites nothing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations import escape_keys
from chatbot.answer.passages import BULLET, ROW_FIGURE, SENTENCE_ENDS, YEAR, Passage, passages
from chatbot.measures import related_words
from chatbot.numbers import passage_scale
from chatbot.records import Prompt, Understanding
from chatbot.terms import content_terms, terms
from ingestion.records import Row, Table

__all__ = ["Likeness", "extract_answer"]

Likeness = Callable[[Sequence[str]], Sequence[float]]
# An answer is at most this many passages and words; a list may take more.
MOST_PASSAGES = 3
MOST_WORDS = 110
MOST_LIST_WORDS = 260
# Words of a passage with the sentences that go on from it: the figure or the condition often stands in the next one.
WINDOW_WORDS = 75
# A further passage must carry at least this share of the best one's score, and of another page more.
CLOSE_TO_BEST = 0.85
CLOSE_TO_BEST_ELSEWHERE = 0.95
# What is shared by words, and by meaning, count alike; the page's own score counts most: it
# has seen rows, kinds and periods, which a sentence does not show.
LIKENESS_WEIGHT = 1.0
PAGE_WEIGHT = 3.0
# What the sentences that go on from a passage add: the question's words that it lacks, and what the best of them has beyond it.
GAINED_WEIGHT = 0.5
FOLLOWING_WEIGHT = 0.3
# Cosines between a question and a sentence, as in search/pages.py.
WORST_LIKENESS, BEST_LIKENESS = 0.1, 0.8
# A heading or table head above a passage counts this much of a word in the passage itself.
HEAD_WEIGHT = 0.5
FIGURE_BONUS = 0.25
# A fragment of a layout, such as a footer or a chart's legend, is seldom an answer; a question in a transcript is none.
FRAGMENT_COST = 0.3
QUESTION_COST = 0.3
FEWEST_TERMS = 4
LONGEST_PASSAGE = 1_200
# A row whose label says more than was asked is about something narrower: this much of its score hangs on the label's share of asked words.
LABEL_WEIGHT = 0.4
# Columns of a row that are read out where the question names no period.
MOST_COLUMNS = 4
# What a word of the question's relatives counts of the word itself.
RELATED_WEIGHT = 0.6
# A row of other years than those asked for is hardly an answer.
OTHER_YEARS_COST = 0.5
OWN_UNIT = re.compile(r"\bper\b|%|\brates?\b|\bratio|\bnumber of\b|\bcount\b|\bshares?\b", re.IGNORECASE)
# What addresses its reader as a machine comes after what is nearly as good.
ORDER_COST = 0.6
SCALES = {1e3: "thousand", 1e5: "lakh", 1e6: "million", 1e7: "crore", 1e9: "billion", 1e12: "trillion"}
# A sentence that begins like this leans on the one before it.
LEANS_BACK = re.compile(
    r"(?:This|These|That|Those|It|They|Such|However|Hence|Thus|Therefore|Consequently|As a result|In addition|Accordingly|So|And|But)\b"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage that may answer. key: of its page; page: the page's passages, by `at`; rank: of its page."""

    key: str
    passage: Passage
    page: Sequence[Passage]
    score: float = 0.0
    words: frozenset[str] = frozenset()


def extract_answer(prompt: Prompt, understanding: Understanding | None = None, *, likeness: Likeness | None = None) -> str:
    """The passages that answer best, each with its citation key; "" where none carries any of the question's words.

    likeness: gives the cosine of each of some texts to the question; without it words decide alone.
    """
    meant = understanding or Understanding(prompt.search_query, prompt.search_query)
    words = content_terms(meant.subject) or content_terms(prompt.search_query)
    found = [_Candidate(key, passage, page) for key, hit in prompt.sources.items() for page in [passages(hit)] for passage in page]
    if not words or not found:
        return ""
    weights = _weights(words, [candidate.passage for candidate in found])
    near = _likenesses([candidate.passage for candidate in found], likeness)
    best = max((hit.score for hit in prompt.sources.values()), default=0.0) or 1.0
    scored = [
        replace(candidate, score=_score(candidate.passage, weights, meant, near[at]), words=frozenset(terms(candidate.passage.text)))
        for at, candidate in enumerate(found)
    ]
    windows = [_with_its_window(candidate, scored[at - candidate.passage.at :], weights) for at, candidate in enumerate(scored)]
    windows = [
        replace(window, score=window.score + PAGE_WEIGHT * prompt.sources[window.key].score / best - ORDER_COST * _orders(window, prompt))
        for window in windows
    ]
    windows = [window for window in windows if likeness or not weights.keys().isdisjoint(window.words)]
    windows.sort(key=lambda window: -window.score)
    return "\n\n".join(_chosen(windows, meant))


def _orders(candidate: _Candidate, prompt: Prompt) -> bool:
    """Whether the passage is among what addresses a machine on its page."""
    hit = prompt.sources[candidate.key]
    orders = " ".join(" ".join(hit.page_text[start:end].split()) for start, end in hit.instructions)
    return bool(orders) and (candidate.passage.text in orders or any(part in candidate.passage.text for part in orders.split(". ") if len(part) > 20))


def _with_its_window(candidate: _Candidate, page: Sequence[_Candidate], weights: Mapping[str, float]) -> _Candidate:
    """The candidate with the score of what would be said with it. page: from its page's first passage on, in order."""
    if candidate.passage.is_row:
        return candidate
    window = _window(candidate, WINDOW_WORDS)
    parts = [page[passage.at] for passage in window]
    gained = sum(weight for word, weight in weights.items() if any(word in part.words for part in parts) and word not in candidate.words)
    nearest = max((part.score for part in parts), default=candidate.score)
    return replace(candidate, score=candidate.score + GAINED_WEIGHT * gained + FOLLOWING_WEIGHT * max(0.0, nearest - candidate.score))


def _likenesses(found: Sequence[Passage], likeness: Likeness | None) -> Sequence[float]:
    """0-1 for each passage; 0 where there is no measure of it."""
    if likeness is None:
        return [0.0] * len(found)
    cosines = likeness([_embedded(passage) for passage in found])
    return [min(1.0, max(0.0, (cosine - WORST_LIKENESS) / (BEST_LIKENESS - WORST_LIKENESS))) for cosine in cosines]


def _embedded(passage: Passage) -> str:
    if passage.row is not None:
        return f"{passage.head} {passage.row.label}".strip()
    return f"{passage.head}: {passage.text[:600]}" if passage.head and len(passage.head) < 100 else passage.text[:600]


def _weights(words: Sequence[str], found: Sequence[Passage]) -> dict[str, float]:
    """How much each word of the question tells passages apart: the fewer have it, the more; shares of 1 in all."""
    having = Counter(word for passage in found for word in {*terms(passage.text), *terms(passage.head)})
    raw = {word: math.log(1 + len(found) / (0.5 + having[word])) for word in words if having[word]}
    total = sum(raw.values()) or 1.0
    return {word: weight / total for word, weight in raw.items()}


def _score(passage: Passage, weights: Mapping[str, float], asked: Understanding, near: float) -> float:
    own, head = set(terms(passage.text)), set(terms(passage.head))
    if passage.table is not None:
        head |= set(terms(" ".join(passage.table.heads)))
    score = sum(weight * (1.0 if word in own else HEAD_WEIGHT if word in head else 0.0) for word, weight in weights.items())
    figures = [term for term in own if term[0].isdigit() and term not in weights]
    if passage.is_row:
        label = set(terms(passage.row.label if passage.row else ROW_FIGURE.sub(" ", YEAR.sub(" ", passage.text))))
        score *= 1 - LABEL_WEIGHT + LABEL_WEIGHT * len(label & weights.keys()) / max(1, len(label))
        if passage.table is not None and _lacks_years(passage.table, asked):
            score -= OTHER_YEARS_COST
    score += LIKENESS_WEIGHT * near
    score += FIGURE_BONUS if asked.form == "figure" and figures else 0.0
    if passage.text.endswith("?"):
        score -= QUESTION_COST
    whole = passage.is_row or (len(own) >= FEWEST_TERMS and passage.text.endswith((*SENTENCE_ENDS, "?")))
    return score if whole else score - FRAGMENT_COST


def _chosen(scored: Sequence[_Candidate], asked: Understanding) -> Iterator[str]:
    """Best passages first, each with what goes on from it; further ones only where nearly as good and not said already."""
    room = MOST_LIST_WORDS if asked.form == "list" else MOST_WORDS
    said: list[set[str]] = []
    for candidate in scored:
        close = CLOSE_TO_BEST if candidate.key == scored[0].key else CLOSE_TO_BEST_ELSEWHERE
        if len(said) >= MOST_PASSAGES or candidate.score < close * scored[0].score:
            return
        window = [candidate.passage] if said else _window(candidate, min(room, MOST_LIST_WORDS if asked.form == "list" else WINDOW_WORDS))
        shown = [_shown(passage, asked) for passage in window]
        size, own = sum(len(text.split()) for text in shown), {term for text in shown for term in terms(text)}
        if (said and size > room) or any(len(own & other) >= 0.7 * len(own) for other in said):
            continue
        said.append(own)
        room -= size
        # Each sentence has its key, so that each is located and checked by itself.
        parts = [f"{escape_keys(text)} [{candidate.key}]" for text in shown]
        yield "".join(("\n" if BULLET.match(part) else " ") + part for part in parts).strip()


def _window(candidate: _Candidate, room: int) -> list[Passage]:
    """The passage, what it leans on, and the sentences after it that have room."""
    if candidate.passage.is_row:
        return [candidate.passage]
    window, at = [candidate.passage], candidate.passage.at
    room -= len(candidate.passage.text.split())
    if LEANS_BACK.match(candidate.passage.text) and at and not candidate.page[at - 1].is_row and len(candidate.page[at - 1].text.split()) <= room:
        window.insert(0, candidate.page[at - 1])
        room -= len(candidate.page[at - 1].text.split())
    for passage in candidate.page[at + 1 :]:
        room -= len(passage.text.split())
        if passage.is_row or room < 0:
            break
        window.append(passage)
    return window


def _shown(passage: Passage, asked: Understanding) -> str:
    """A sentence as it stands; a row with its caption before it and its columns read out after it."""
    if not passage.is_row:
        return passage.text[:LONGEST_PASSAGE]
    text = f"{passage.head}: {passage.text}" if passage.head else passage.text
    read = _columns(passage, asked)
    return f"{text} ({read})" if read else text


def _columns(passage: Passage, asked: Understanding) -> str:
    """What stands under which head, with its unit: of the years asked for, else of the heads that share the question's words, else of the
    first columns."""
    if passage.table is None or passage.row is None:
        return ""
    table = passage.table
    pairs = [(head, cell.text) for head, cell in zip(table.heads, passage.row.cells, strict=False) if cell is not None and head]
    years, words = {str(year) for year in asked.years}, content_terms(asked.subject)
    shared = [_shared(words, head) for head, _ in pairs]
    most = max(shared, default=0.0)
    wanted = [pair for pair in pairs if years & set(terms(pair[0]))] or [pair for pair, share in zip(pairs, shared, strict=True) if share == most]
    return "; ".join(f"{head}: {_with_unit(cell, passage.row, table)}" for head, cell in wanted[:MOST_COLUMNS])


def _shared(words: Sequence[str], head: str) -> float:
    """How many of the question's words a head has, those that may stand for one of them counted less."""
    own = set(terms(head))
    return sum(1.0 if word in own else RELATED_WEIGHT if not own.isdisjoint(related_words(word)) else 0.0 for word in words)


def _lacks_years(table: Table, asked: Understanding) -> bool:
    """Whether the columns are of other years than those asked for."""
    years = {term for head in table.heads for term in terms(head) if len(term) == 4 and term[:2] in {"19", "20"}}
    return bool(years and asked.years) and years.isdisjoint(map(str, asked.years))


def _with_unit(cell: str, row: Row, table: Table) -> str:
    """A bare cell with the scale or the per cent that its table states; a row of shares, rates or numbers has none of it."""
    if not cell[-1:].isdigit() or OWN_UNIT.search(f"{row.section} {row.label}"):
        return cell
    scale, unit = passage_scale(table.unit or table.caption)
    if unit == "%":
        return f"{cell}%"
    return f"{cell} {SCALES[scale]}" if scale in SCALES else cell
