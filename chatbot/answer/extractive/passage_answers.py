"""Answers in the documents' own words: picks the sentences and table rows that carry the question; invents
and rewrites nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.answer.extractive.passage_scores import (
    QuestionProfile,
    ScoredPassage,
    asks_share,
    score_passages,
    shared_words,
)
from chatbot.answer.tables.cell_lookup import is_planned
from chatbot.answer.tables.operations import decided_by
from chatbot.answer.tables.table_wording import in_a_sentence
from chatbot.answer.verdict import asks_yes_or_no
from chatbot.evidence.figure_names import agreement
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import LEFT_OUT, Passage, orders_of
from chatbot.evidence.text_blocks import SPEAKER, YEAR_SAID, is_head, is_title
from chatbot.records import Prompt, Understanding
from ingestion.language.list_items import LINE_ITEM
from ingestion.language.measures import measure_named
from ingestion.language.months import MONTH
from ingestion.language.numbers import mark_beside, mark_of_table
from ingestion.language.periods import find_periods
from ingestion.language.scales import SCALE_NAMES
from ingestion.language.sentences import is_finished, sentence_spans, sentences
from ingestion.language.terms import content_terms, terms
from ingestion.records import Row, Table

__all__ = ["LEANS_BACK", "Likeness", "embedded", "extract_answer", "row_in_a_sentence", "says_again"]

Likeness = Callable[[Sequence[str]], Sequence[float]]
# An answer is at most this many passages and words; a list may take more.
MOST_PASSAGES = 5
MOST_WORDS = 112
MOST_LIST_WORDS = 260
# Words of the best passage with the sentences that go on from it: the figure or the condition often stands in
# the next one.
WINDOW_WORDS = 60
# Log-odds by which a further passage may be less likely than the best one, and one of another page: that
# costs its reader a second page.
CLOSE_TO_BEST = 4.0
CLOSE_TO_BEST_ELSEWHERE = 1.0
LONGEST_PASSAGE = 1_200
WORD = re.compile(r"[^\W\d_]{2}")
MONTHS = re.compile(rf"\b{MONTH}")
# Fewer words than this are no sentence that goes on from another: a chart's label, "88%", "Jai Hind."
FEWEST_WORDS = 3
# Sentences before one that go with it where it leans back on them or sums a list up.
LIST_BEFORE = 2
# Columns of a row that are read out where the question names no period.
MOST_COLUMNS = 4
MOST_IN_A_SENTENCE = 2
OWN_UNIT = re.compile(
    (
        r"\bper\b|%|\brates?\b|\bratio|\bnumber of\b|\bcount\b|\bshares?\b|\b(?:year|date)s? due\b|\bdue\b"
        r"|\bmaturity\b|\bchange\b|\bstaff\b|\bposts?\b"
    ),
    re.IGNORECASE,
)
# A title on the page and again above its table.
REPEATED = re.compile(r"\b(\S.{6,98}\S)(?:[\s,]{1,3}\1)+(?!\w)")
LONGEST_HEAD = 80
# "114. To finance the deficit": a paragraph of its own.
PARAGRAPH = re.compile(r"\d{1,3}\.\s{1,3}[A-Z]")
NUMBER_OF_ROW = re.compile(r"\d{1,3}[.)] ")
BARE_FIGURE = re.compile(r"[^\w%]{0,3}\s?[\d,.\u00a0 ]{1,30}\d\)?|[^\w%]{0,3}\s?\d\)?")
# Log-odds that what addresses its reader as a machine loses: it comes after all that is nearly as good.
ORDER_COST = 4.0
# Log-odds that a row loses whose label says "non-" of a word of the question.
DENIED_COST = 4.0
_NON = re.compile(r"\bnon[-\s]?(\w{3,})", re.IGNORECASE)
# Log-odds that a passage loses that its reader rated not helpful: nearly all that any other of the pages
# lacks, so that another comes first.
AVOIDED_COST = 8.0
# Characters of a part of an order by which it is known inside a longer passage.
SHORTEST_ORDER = 20
# A sentence that begins like this leans on the one before it.
LEANS_BACK = re.compile(
    r"(?:This|These|That|Those|It|They|Such|However|Hence|Thus|Therefore|Consequently|As a result"
    r"|In addition|Accordingly|So|And|But)\b"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage that may answer. key: of its page; page: the page's passages, by `at`."""

    key: str
    passage: Passage
    page: Sequence[Passage]
    score: float = 0.0


def extract_answer(
    prompt: Prompt,
    understanding: Understanding | None = None,
    *,
    likeness: Likeness | None = None,
    avoid: str = "",
    around: bool = False,
) -> str:
    """The passages that answer best, each with its citation key; "" where none carries any of the question's
    words.

    likeness: gives the cosine of each of some texts to the question; without it words decide alone. avoid:
    what stands in this text comes last. around: the best passage with what stands before and behind it, for
    who did not understand it.
    """
    meant = understanding or Understanding(prompt.search_query, prompt.search_query)
    places = [
        (key, passage, page)
        for key, hit in prompt.sources.items()
        for page in [page_of(hit).passages]
        for passage in page
        if not _is_title(passage) and (meant.form == "list" or not _is_long_list(passage))
    ]
    appended = prompt.search_query != prompt.question and prompt.search_query.endswith(prompt.question)
    documents = {hit.document for hit in prompt.sources.values()}
    question = QuestionProfile(
        meant, [passage for _, passage, _ in places], prompt.question if appended else "", documents
    )
    if not question.words or not places or not (likeness or question.weights):
        return ""
    if likeness:
        near = likeness([embedded(passage) for _, passage, _ in places])
    else:
        near = [0.0] * len(places)
    best = max((hit.score for hit in prompt.sources.values()), default=0.0) or 1.0
    found = [
        ScoredPassage(passage, prompt.sources[key].score / best, near[at])
        for at, (key, passage, _) in enumerate(places)
    ]
    scored = [
        _Candidate(*place, score)
        for place, score in zip(places, score_passages(question, found), strict=True)
    ]
    orders = {key: orders_of(hit) for key, hit in prompt.sources.items()}
    scored = [
        replace(one, score=one.score - ORDER_COST * _is_order(one.passage, orders[one.key])) for one in scored
    ]
    scored = [
        replace(one, score=one.score - DENIED_COST * _is_denied(one.passage, meant.subject)) for one in scored
    ]
    if avoid:
        avoid = _evened(avoid)
        scored = [
            replace(one, score=one.score - AVOIDED_COST * (_evened(one.passage.text) in avoid))
            for one in scored
        ]
    if not likeness:
        scored = [one for one in scored if not question.weights.keys().isdisjoint(terms(one.passage.text))]
    return "\n\n".join(_chosen(sorted(scored, key=lambda one: -one.score), meant, prompt, around=around))


def says_again(text: str, other: str) -> bool:
    """Whether all that an answer says stands in another, whatever pages the two name."""
    other = _evened(other)
    return all(
        part in other for part in map(_evened, KEYS_IN_BRACKETS.split(text)) if any(map(str.isalnum, part))
    )


def _evened(text: str) -> str:
    return " ".join(text.split())


def _is_title(passage: Passage) -> bool:
    """A heading, numbered or not, a running line, a date alone, or figures without a word, such as those of a
    chart's axis; "Adopted Budget 1" looks like a row, but of no table that has a head."""
    if passage.table is None and not WORD.search(MONTHS.sub(" ", passage.text)):
        of_axis = sum(word[0].isdigit() for word in passage.head.split()) > 1 or not WORD.search(passage.head)
        if of_axis or MONTHS.search(passage.text):
            return True
    if (
        passage.is_item
        and not passage.lead
        and is_head(LINE_ITEM.sub("", passage.text))
        and not is_finished(passage.text, also=";,")
    ):
        return True
    announces = (
        passage.text.endswith(":") and not passage.is_row and "\n" not in passage.text
    )  # and what it announces does not stand with it
    return announces or (
        passage.table is None and not (passage.is_row and passage.head) and is_title(passage.text)
    )


def _is_long_list(passage: Passage) -> bool:
    """Whether a passage is a whole list of which one item answers who asks for no list."""
    return "\n" in passage.text and not passage.is_row and len(passage.text.split()) > WINDOW_WORDS


def _is_denied(passage: Passage, question: str) -> bool:
    """Whether a row is of what the question's is not: "non-tax revenue" where tax revenue is asked for."""
    if passage.row:
        denied = [match[1].casefold() for match in _NON.finditer(passage.row.label)]
    else:
        denied = []
    asked = _NON.sub(" ", question).casefold()
    return any(word in asked and not re.search(rf"(?i)\bnon[-\s]?{word}", question) for word in denied)


def _is_order(passage: Passage, orders: str) -> bool:
    """Whether the passage is among what addresses a machine on its page."""
    return bool(orders) and (
        passage.text in orders
        or any(part in passage.text for part in sentences(orders) if len(part) > SHORTEST_ORDER)
    )


def embedded(passage: Passage) -> str:
    """What of a passage is compared with the question by meaning."""
    if passage.row is not None:
        return f"{passage.head} {passage.row.label}".strip()
    if passage.head and len(passage.head) < 100:
        return f"{passage.head}: {passage.text[:600]}"
    return passage.text[:600]


def _chosen(
    scored: Sequence[_Candidate], asked: Understanding, prompt: Prompt, *, around: bool
) -> Iterator[str]:
    """Best passages first, the best with what goes on from it; further ones only where nearly as likely
    and not said already.
    """
    room = MOST_LIST_WORDS if asked.form == "list" else MOST_WORDS
    said: list[set[str]] = []
    quoted: set[tuple[str, int]] = set()
    for candidate in scored:
        if candidate.key == scored[0].key:
            close = CLOSE_TO_BEST
        else:
            close = CLOSE_TO_BEST_ELSEWHERE
        if len(said) >= MOST_PASSAGES or candidate.score < scored[0].score - CLOSE_TO_BEST:
            return
        if candidate.score < scored[0].score - close or (candidate.key, candidate.passage.at) in quoted:
            continue
        if said:
            window = [candidate.passage]
        else:
            window = _window(candidate, asked.form == "list", around=around)
        shown = [_shown(passage, asked) for passage in window]
        if lead := window[0].lead:  # with a mark where items between the two are left out
            if window[0].skips:
                shown[:0] = [lead, LEFT_OUT]
            else:
                shown[:0] = [lead]
        size = sum(len(text.split()) for text in shown)
        own = {term for text in shown for term in terms(text)}
        if (said and size > room) or any(len(own & other) >= len(own) for other in said):
            continue
        if not said:
            yield from _row_first(candidate, asked, prompt)
        said.append(own)
        quoted.update((candidate.key, passage.at) for passage in window)
        room -= size
        # Each sentence has its key, so that each is located and checked by itself.
        parts = [text if text == LEFT_OUT else f"{escape_keys(text)} [{candidate.key}]" for text in shown]
        breaks = (
            LEFT_OUT in (before, part) or LINE_ITEM.match(part) for before, part in pairwise(["", *parts])
        )
        yield "".join(
            ("\n" if apart else " ") + part for apart, part in zip(breaks, parts, strict=True)
        ).strip()


def _row_first(candidate: _Candidate, asked: Understanding, prompt: Prompt) -> Iterator[str]:
    """What a row states, in a sentence, behind yes or no where it decides that; nothing for any other
    passage.
    """
    passage = candidate.passage
    if passage.row is None or passage.table is None:
        return
    if asks_yes_or_no(asked.subject):
        decided = decided_by(candidate.key, prompt.sources[candidate.key], passage.table, passage.row, asked)
    else:
        decided = ""
    if sentence := decided or row_in_a_sentence(passage, asked):
        yield f"{escape_keys(sentence)} [{candidate.key}]"


def _window(candidate: _Candidate, is_list: bool, *, around: bool) -> list[Passage]:
    """The passage, what it leans on (of a list, and with `around`, the two sentences before it), and the
    sentences after it that have room and stand next to it."""
    if candidate.passage.is_row:
        return [candidate.passage]
    most = MOST_LIST_WORDS if is_list or around else WINDOW_WORDS
    window = [_whole_list(candidate, most)]
    at = window[0].at
    room = most - len(window[0].text.split())
    for passage in reversed(candidate.page[max(0, at - LIST_BEFORE) : at]):
        room -= len(passage.text.split())
        leans = (
            (is_list or around or LEANS_BACK.match(window[0].text))
            and window[0].follows
            and not window[0].lead
        )
        if passage.is_row or room < 0 or not leans or SPEAKER.match(window[0].text):
            break
        window.insert(0, passage)
    for passage in candidate.page[at + 1 :]:
        if passage.lead and passage.text in window[-1].text:  # an item of the list that it announces
            continue
        room -= len(passage.text.split())
        next_item = not is_list and not around and passage.is_item and LINE_ITEM.match(passage.text)
        next_item = next_item or (not is_list and not around and PARAGRAPH.match(passage.text))
        ends = (
            next_item
            or passage.is_row
            or not passage.follows
            or SPEAKER.match(passage.text)
            or _is_title(passage)
        )
        if ends or room < 0 or sum(map(str.isalpha, passage.text.split())) < FEWEST_WORDS:
            break
        window.append(passage)
    return window


def _whole_list(candidate: _Candidate, most_words: int) -> Passage:
    """For an item its list with what announces it, where that has room; else the passage itself."""
    item = candidate.passage
    whole = (
        one
        for one in reversed(candidate.page[: item.at])
        if item.lead and one.text.startswith(f"{item.lead}\n")
    )
    found = next(whole, item)
    if item.text in found.text and len(found.text.split()) <= most_words:
        return found
    return item


def _sentence(passage: Passage) -> str:
    """The passage with a mark where it does not hold all of its sentence: at a page's edge, among the text
    of a chart, or for want of room.
    """
    text = passage.text
    if len(text) > LONGEST_PASSAGE:
        ends = [end for _, end in sentence_spans(text, longest=LONGEST_PASSAGE) if end <= LONGEST_PASSAGE]
        text = f"{text[: max(ends)].rstrip()} {LEFT_OUT}"
    if passage.is_item or "\n" in text or text.endswith(LEFT_OUT):
        return text
    begins_within = text[:1].islower() or text[:1] in "%),;"
    ends_within = not is_finished(text, also=":;,")
    return f"{LEFT_OUT} " * begins_within + text + f" {LEFT_OUT}" * ends_within


def _shown(passage: Passage, asked: Understanding) -> str:
    """A sentence as it stands; a row with its caption before it and its columns read out after it."""
    if not passage.is_row:
        return _sentence(passage)
    if passage.skips:
        gap = f"\n{LEFT_OUT}\n"
    else:
        if NUMBER_OF_ROW.match(passage.text):
            gap = "\n"
        else:
            gap = " "
    # A row's own number stands at the beginning of a line, as on the page: within one it would be read as an
    # amount.
    if passage.head and not passage.lead:
        text = f"{_head(passage)}:{gap}{passage.text}"
    else:
        text = passage.text
    read = _columns(passage, asked)
    return f"{text} ({read})" if read else text


def _head(passage: Passage) -> str:
    """What stands above a row: a title that is printed twice once, and of a long one its beginning, where
    its columns' heads are read out behind it.
    """
    once = REPEATED.sub(r"\1", passage.head)
    if len(once) <= LONGEST_HEAD or passage.table is None:
        return once
    return f"{once[: LONGEST_HEAD + 1].rpartition(' ')[0] or once[:LONGEST_HEAD]} {LEFT_OUT}"


def row_in_a_sentence(passage: Passage, asked: Understanding) -> str:
    """What a row states in the columns that are asked for, where these are one or two; "" for any other
    passage.
    """
    pairs = _wanted_columns(passage, asked)
    if len(pairs) > MOST_IN_A_SENTENCE and not asked.years and not asked.compares:
        pairs = _newest(pairs)
    if asks_share(asked.subject) and not all("%" in figure for _, figure in pairs):
        return ""
    if (
        passage.row is None
        or asked.form not in ("figure", "passage")
        or not 1 + asked.compares <= len(pairs) <= MOST_IN_A_SENTENCE
        or not all(any(map(str.isdigit, figure)) for _, figure in pairs)
    ):
        return ""
    return in_a_sentence(
        _named(passage, passage.row, asked), [(figure, head) for head, figure in pairs], asked.whose
    )


def _newest(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those of the newest year, without what was budgeted where another is there."""
    years = [max((period.end_year for period in find_periods(head)), default=0) for head, _ in pairs]
    of_year = [pair for pair, year in zip(pairs, years, strict=True) if year and year == max(years)]
    return [pair for pair in of_year if not is_planned(pair[0])] or of_year


def _named(passage: Passage, row: Row, asked: Understanding) -> str:
    """A row's label, with the measure that is asked for where it only stands above the row: "Greater China
    net sales".
    """
    label = set(terms(row.label))
    around = set(terms(f"{row.section} {passage.table.caption if passage.table else ''}"))
    if len(asked.measures) != 1:
        return row.label
    measure = measure_named(asked.measures[0])
    phrases = (*measure.asked, *measure.printed)
    above = (
        measure.kinds == ("income_statement",)
        and not measure.formula
        and not any(set(phrase) & label for phrase in phrases)
        and any(set(phrase) <= around for phrase in phrases)
    )
    return f"{row.label} {measure.name}" if above else row.label


def _columns(passage: Passage, asked: Understanding) -> str:
    """What stands under which head, with its unit."""
    # A head over two lines goes on after its comma, "May 31, > 2019".
    return "; ".join(
        f"{head.replace(', > ', ', ')}: {figure}" for head, figure in _wanted_columns(passage, asked)
    )


def _wanted_columns(passage: Passage, asked: Understanding) -> list[tuple[str, str]]:
    """(head, figure with its unit) of the years asked for, else of the heads that share the question's
    words, else of the first columns.
    """
    if passage.table is None or passage.row is None:
        return []
    table = passage.table
    heads = [head for head in table.heads if head]
    if any(map(_is_figure, heads)) or len(set(heads)) < min(len(heads), 2):
        return []  # its first row, taken for its heads
    pairs = [
        (head, cell.text)
        for head, cell in zip(table.heads, passage.row.cells, strict=False)
        if cell is not None and head
    ]
    words = content_terms(asked.subject)
    shared = [shared_words(words, head) for head, _ in pairs]
    most = max(shared, default=0.0)
    fits = [agreement(asked.periods, find_periods(head)) for head, _ in pairs]
    in_period = [pair for pair, fit in zip(pairs, fits, strict=True) if 0 < fit == max(fits)]
    wanted = in_period or [pair for pair, share in zip(pairs, shared, strict=True) if share == most]
    return [(head, _with_unit(cell, head, passage.row, table)) for head, cell in wanted[:MOST_COLUMNS]]


def _is_figure(head: str) -> bool:
    """Whether a head is a figure, and no year."""
    return bool(BARE_FIGURE.fullmatch(head)) and not YEAR_SAID.fullmatch(head)


def _with_unit(cell: str, head: str, row: Row, table: Table) -> str:
    """A bare cell with the scale or the per cent that its table states of all; a row or column of shares,
    rates, numbers or dates has none of it.

    Nor has one whose own head, label or section states a unit, which is printed with it: "Population (mln)"
    in a table in thousands.
    """
    if (
        not BARE_FIGURE.fullmatch(cell)
        or YEAR_SAID.fullmatch(cell)
        or OWN_UNIT.search(f"{row.section} {row.label}")
        or OWN_UNIT.search(head)
    ):
        return cell
    if mark_beside(head, row):
        mark = None
    else:
        mark = mark_of_table(table, row)
    if mark is None:
        return cell
    if mark.unit == "%":
        return f"{cell}%"
    if mark.scale in SCALE_NAMES:
        return f"{cell} {SCALE_NAMES[mark.scale]}"
    return cell
