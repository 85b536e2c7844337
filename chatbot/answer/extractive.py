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
FEWEST_WORDS = 3
LONGEST_ROW = 200
SENTENCE_ENDS = (".", "!", "?", ".”", '."', ".’", ".)", ";", "; and", "; or")
LONGEST_PASSAGE = 1_200
# A table's caption, unit line and column heads are at most this many lines above its rows.
MOST_HEAD_LINES = 3
# A row whose label says more than was asked is about something narrower: this much of its score hangs on the label's share of asked words.
LABEL_WEIGHT = 0.4
CAPTION = re.compile(r"(table|chart|figure|box|annex|schedule|exhibit)\s", re.I)
ROW_END = re.compile(r"[\d%)–—-]\s*(?:[a-z*†‡]|\[\d+\])?$")
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
LEADER = re.compile(r"(?:\. ?){5}|\u2026{2}")
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
    heading, table, group = "", "", ""
    pending: list[str] = []
    for block, is_row in _blocks(hit.body or hit.page_text):
        if is_row:
            if pending and table and len(pending) == 1 and not CAPTION.match(pending[0]) and not YEAR.search(pending[0]):
                group = pending[0]  # a line within the table that heads the rows below it
            elif pending:
                table, group = " ".join(pending[-MOST_HEAD_LINES:]), ""
            found.append(Passage(block, f"{table} {group}".strip(), True))
        elif _is_head(block):
            pending.append(block)
            continue
        else:
            heading, table = (pending[-1] if pending else heading), ""
            found.extend(Passage(sentence, heading, False) for sentence in _sentences(block))
        pending = []
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
        if LEADER.search(line):  # an entry of a table of contents
            continue
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
    """A line with a label, then figures, and little else; a sentence that holds figures is none, nor a head of years, a caption or a numbered heading."""
    line = YEAR.sub(" ", line).rstrip()
    if not line or len(line) > LONGEST_ROW or line.endswith((".", ";")) or CAPTION.match(line):
        return False
    figures = ROW_FIGURE.findall(line)
    others = ROW_FIGURE.sub(" ", line).split()
    ends_in_figure = bool(figures) and bool(ROW_END.search(line))
    return (ends_in_figure or len(figures) > 1) and len(others) <= 12 and len(figures) >= len(others) / 4


def _ends_block(last: str, line: str) -> bool:
    """Whether a new block begins with `line`: the last one was a heading, or ended its sentence well before the margin."""
    return (_is_head(last) and line[:1].isupper()) or (last.endswith((".", ":", ";")) and len(last) < 60)


def _is_head(text: str) -> bool:
    words = YEAR.sub(" ", text).split()
    return len(words) <= 14 and len(text) <= 110 and not text.endswith((".", ";", ",")) and not BULLET.match(text)


def _sentences(block: str) -> Iterator[str]:
    """The sentences of a block; one of a word or two, such as a glossary's term, goes with the next."""
    start = 0
    for match in SENTENCE.finditer(block):
        before = block[start : match.start()]
        if len(before.split()) > FEWEST_WORDS and not ABBREVIATION.search(before.rstrip("\"'”’)]")):
            yield before.strip()
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
    if passage.is_row:
        label = set(terms(ROW_FIGURE.sub(" ", YEAR.sub(" ", passage.text))))
        score *= 1 - LABEL_WEIGHT + LABEL_WEIGHT * len(label & weights.keys()) / max(1, len(label))
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
