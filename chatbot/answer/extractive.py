"""Answers in the documents' own words: picks the sentences and table rows that carry the question; invents and rewrites nothing."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from chatbot.answer.citations import escape_keys
from chatbot.records import Hit, Prompt
from chatbot.terms import content_terms, terms

__all__ = ["extract_answer", "passages"]

# An answer is at most this many passages and words; a list may take more.
MOST_PASSAGES = 3
MOST_WORDS = 110
MOST_LIST_WORDS = 260
# A further passage must carry at least this share of the best one's score.
CLOSE_TO_BEST = 0.75
# Pages come ranked: each rank below the first costs this share of a full match.
RANK_COST = 0.12
# A heading or table head above a passage counts this much of a word in the passage itself.
HEAD_WEIGHT = 0.5
FIGURE_BONUS = 0.25
# A fragment of a layout, such as a footer or a chart's legend, is seldom an answer; a sentence ends in one of these.
FRAGMENT_COST = 0.3
FEWEST_TERMS = 4
SENTENCE_ENDS = (".", "!", "?", ".”", '."', ".’", ".)", ";", "; and", "; or")
LONGEST_PASSAGE = 1_200
ROW_FIGURE = re.compile(r"\(?[-−]?[$€£₹]?\s?\d[\d,.]*%?\)?")
YEAR = re.compile(r"\b(?:FY)?(?:19|20)\d{2}(?:\s?[-/–]\s?\d{2,4})?\b")
ASKS_FIGURE = re.compile(
    r"\b(how (much|many|large|big|high|long|far)|what (is|was|were|are|will|would|share|percent\w*|rate|amount|level|size)|when|which year"
    r"|rate|ceiling|limit|threshold|target|ratio|percent\w*|total|amount|cost|spend\w*|budget\w*|revenue\w*)\b",
    re.I,
)
ASKS_LIST = re.compile(
    r"\b(which|list|what are|name the"
    r"|what (\w+ ){0,3}(objectives|principles|risks|measures|priorities|factors|components|conditions|reasons|steps))\b",
    re.I,
)
# A full stop ends a sentence unless what stands before it is an abbreviation or an initial, or a small letter or digit follows.
SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9•])")
ABBREVIATION = re.compile(r"(\b(Inc|Mr|Mrs|Ms|Dr|No|Nos|Fig|pp?|cf|vs|etc|e\.g|i\.e|U\.S|Co|Corp|Ltd|St|Art|Sec|Rs|approx|est)|\b[A-Z])\.$")
BULLET = re.compile(r"^\s*(?:[•●▪◦‣–-]|\(?[a-z]{1,4}\)|\(?\d{1,2}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a table row of a page, verbatim but for line ends. head: the lines above that say what it is about."""

    text: str
    head: str
    is_row: bool


def extract_answer(prompt: Prompt) -> str:
    """The passages that answer best, each with its citation key; "" where none carries any of the question's words."""
    words = content_terms(prompt.search_query)
    candidates = [(rank, key, passage) for rank, (key, hit) in enumerate(prompt.sources.items()) for passage in passages(hit)]
    if not words or not candidates:
        return ""
    weights = _weights(words, [passage for _, _, passage in candidates])
    wants_figure = bool(ASKS_FIGURE.search(prompt.question))
    scored = [(_score(passage, weights, wants_figure) - RANK_COST * rank, -at, key, passage) for at, (rank, key, passage) in enumerate(candidates)]
    scored = [row for row in scored if _carries(row[3], weights)]
    scored.sort(key=lambda row: row[:2], reverse=True)
    return "\n\n".join(_chosen(scored, prompt))


def passages(hit: Hit) -> list[Passage]:
    """The page's sentences, list items and table rows in order."""
    found: list[Passage] = []
    heads: list[str] = []
    for block, is_row in _blocks(hit.page_text):
        head = " ".join(heads[-3:])
        if is_row:
            found.append(Passage(block, head, True))
        elif _is_head(block):
            heads.append(block)
        else:
            found.extend(Passage(sentence, heads[-1] if heads else "", False) for sentence in _sentences(block))
    return list(_with_their_lists(found))


def _with_their_lists(found: Sequence[Passage]) -> Iterator[Passage]:
    """Sentences that announce a list, taken together with the items that follow."""
    for at, passage in enumerate(found):
        items = list(takewhile(lambda item: not item.is_row and bool(BULLET.match(item.text)), found[at + 1 :]))
        if passage.text.endswith(":") and items:
            yield Passage("\n".join([passage.text, *(item.text for item in items)]), passage.head, False)
        else:
            yield passage


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """(paragraph or row, is it a table row): lines of prose joined, rows and headings by themselves."""
    prose: list[str] = []
    for line in map(str.strip, text.split("\n")):
        row, starts = _is_row(line), bool(BULLET.match(line))
        if prose and (not line or row or starts or _ends_block(prose[-1], line)):
            yield " ".join(prose), False
            prose = []
        if row:
            yield line, True
        elif line:
            prose.append(line)
    if prose:
        yield " ".join(prose), False


def _is_row(line: str) -> bool:
    """A line with a label and figures and little else; a sentence that happens to hold figures is none, nor is a head of years."""
    line = YEAR.sub(" ", line)
    figures = ROW_FIGURE.findall(line)
    others = ROW_FIGURE.sub(" ", line).split()
    return (
        bool(figures) and len(line) < 200 and len(others) <= 12 and len(figures) >= max(1, len(others) / 4) and not line.rstrip().endswith((".", ";"))
    )


def _ends_block(last: str, line: str) -> bool:
    """Whether a new block begins with `line`: the last one was a heading, or ended its sentence well before the margin."""
    return (_is_head(last) and line[:1].isupper()) or (last.endswith((".", ":", ";")) and len(last) < 60)


def _is_head(text: str) -> bool:
    words = YEAR.sub(" ", text).split()
    return len(words) <= 14 and len(text) <= 110 and not text.endswith((".", ";", ",")) and not BULLET.match(text)


def _sentences(block: str) -> Iterator[str]:
    start = 0
    for match in SENTENCE.finditer(block):
        if not ABBREVIATION.search(block[start : match.start()].rstrip("\"'”’)]")):
            yield block[start : match.start()].strip()
            start = match.end()
    if block[start:].strip():
        yield block[start:].strip()


def _weights(words: Sequence[str], found: Sequence[Passage]) -> dict[str, float]:
    """How much each word of the question tells passages apart: the fewer have it, the more; shares of 1 in all."""
    having = Counter(word for passage in found for word in {*terms(passage.text), *terms(passage.head)})
    raw = {word: math.log(1 + len(found) / (0.5 + having[word])) for word in words if having[word]}
    total = sum(raw.values()) or 1.0
    return {word: weight / total for word, weight in raw.items()}


def _score(passage: Passage, weights: dict[str, float], wants_figure: bool) -> float:
    own, head = set(terms(passage.text)), set(terms(passage.head))
    score = sum(weight * (1.0 if word in own else HEAD_WEIGHT if word in head else 0.0) for word, weight in weights.items())
    figures = [term for term in own if term[0].isdigit() and term not in weights]
    score += FIGURE_BONUS if wants_figure and figures else 0.0
    whole = passage.is_row or (len(own) >= FEWEST_TERMS and passage.text.endswith(SENTENCE_ENDS))
    return score if whole else score - FRAGMENT_COST


def _carries(passage: Passage, weights: dict[str, float]) -> bool:
    return any(word in weights for word in terms(passage.text))


def _chosen(scored: Sequence[tuple[float, int, str, Passage]], prompt: Prompt) -> Iterator[str]:
    """Best passages first, further ones only where nearly as good and not said already, within the answer's length."""
    room = MOST_LIST_WORDS if ASKS_LIST.search(prompt.question) else MOST_WORDS
    said: list[set[str]] = []
    for score, _, key, passage in scored:
        if len(said) >= MOST_PASSAGES or score < CLOSE_TO_BEST * scored[0][0]:
            return
        text = _shown(passage)
        size, own = len(text.split()), set(terms(passage.text))
        if (said and size > room) or any(len(own & other) >= 0.7 * len(own) for other in said):
            continue
        said.append(own)
        room -= size
        yield f"{escape_keys(text)} [{key}]"


def _shown(passage: Passage) -> str:
    text = passage.text[:LONGEST_PASSAGE]
    return f"{passage.head}: {text}" if passage.is_row and passage.head else text
