"""Answers in the documents' own words, with the sentences and table rows that fit the question best."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from chatbot.answer.citations.citation_keys import KEYS_IN_BRACKETS, escape_keys
from chatbot.answer.extractive.passage_scores import (
    QuestionProfile,
    ScoredPassage,
    score_passages,
    shared_words,
)
from chatbot.answer.tables.cell_lookup import column_of, is_planned, latest_year, limit_column
from chatbot.answer.tables.operations import by_row
from chatbot.answer.tables.table_wording import in_a_sentence, short_head, with_unit
from chatbot.evidence.figure_names import SAME_PERIOD, agreement
from chatbot.evidence.page import page_of
from chatbot.evidence.passages import LEFT_OUT, Passage, orders_of
from chatbot.evidence.scales_of_cells import is_counted, mark_beside, mark_of_table
from chatbot.evidence.text_blocks import SPEAKER, YEAR_SAID, is_head, is_title
from chatbot.evidence.word_runs import evened
from chatbot.records import Prompt, Understanding
from ingestion.language.list_items import BULLETS, LINE_ITEM
from ingestion.language.months import MONTH, month_number
from ingestion.language.periods import A_DAY, Period, find_periods, head_period, nearest_other
from ingestion.language.sentences import is_finished, sentence_spans, sentences
from ingestion.language.terms import terms
from ingestion.records import Row, Table

__all__ = ["LEANS_BACK", "Likeness", "embedded", "extract_answer", "row_in_a_sentence", "says_again"]

Likeness = Callable[[Sequence[str]], Sequence[float]]
# An answer has at most this many passages and words; a list may have more words.
MOST_PASSAGES = 5
MOST_WORDS = 112
MOST_LIST_WORDS = 260
# Words of the best passage with the sentences that go on from it. The figure or the condition often stands in
# the next one.
WINDOW_WORDS = 60
# Log-odds by which a further passage may be less likely than the best one.
CLOSE_TO_BEST = 4.0
# The same for one of another page, which costs its reader a second page.
CLOSE_TO_BEST_ELSEWHERE = 1.0
LONGEST_PASSAGE = 1_200
WORD = re.compile(r"[^\W\d_]{2}")
MONTHS = re.compile(rf"\b{MONTH}")
# Fewer words than this are no sentence that goes on from another: a chart's label, "88%", "Jai Hind."
FEWEST_WORDS = 3
# Sentences before a passage that go with it where it refers back to them or sums up a list.
LIST_BEFORE = 2
# Columns of a row that are read out where the question names no period.
MOST_COLUMNS = 4
MOST_IN_A_SENTENCE = 2
# What shows that a row or column has a unit of its own, or none.
OWN_UNIT = re.compile(
    r"\bper\b|%|\brates?\b|\bratio|\bcount\b|\bshares?\b|\b(?:year|date)s? due\b|\bdue\b"
    r"|\bmaturity\b|\bchange\b|\bstaff\b|\bposts?\b",
    re.IGNORECASE,
)
# A title that stands on the page and again above its table.
REPEATED = re.compile(r"\b(\S.{6,98}\S)(?:[\s,]{1,3}\1)+(?!\w)")
LONGEST_HEAD = 80
# "114. To finance the deficit": a paragraph of its own.
PARAGRAPH = re.compile(r"\d{1,3}\.\s{1,3}[A-Z]")
# "171. Madam Speaker, ": a paragraph's number and whom a speech addresses, before what it says.
BEFORE_IT_SAYS = re.compile(
    r"\d{3}\.\s{1,3}(?!Madam|Mr|Mister)(?=[A-Z])|(?:\d{1,3}\.\s{1,3})?(?:Madam|Mr\.?|Mister)"
    r"(?:\s(?:Deputy )?(?:Speaker|Chair\w*|President))?,\s{1,3}"
)
NUMBER_OF_ROW = re.compile(r"\d{1,3}[.)] ")
BARE_FIGURE = re.compile(r"[^\w%]{0,3}\s?[\d,.’'\u00a0 ]{1,30}\d\)?|[^\w%]{0,3}\s?\d\)?")
# Log-odds that a passage loses if it addresses its reader as a machine: it comes after all that is nearly as
# good.
ORDER_COST = 4.0
# Log-odds that a row loses whose label says "non-" of a word of the question.
DENIED_COST = 4.0
_NON = re.compile(r"\bnon[-\s]?(\w{3,})", re.IGNORECASE)
# Log-odds that a passage loses if its reader rated it not helpful. They exceed nearly all differences between
# passages, so that another comes first.
AVOIDED_COST = 8.0
# Log-odds that a row gains which the answer for another period began with: the figures of several periods are
# comparable only if they are of one row. They exceed nearly all differences too.
SAME_ROW_GAIN = 8.0
# Log-odds that a passage loses if a part of a year is asked for and it names no such part: its figure is of
# another time. They exceed nearly all differences too.
OTHER_PART_COST = 8.0
# Characters of a part of an order by which it is known inside a longer passage.
SHORTEST_ORDER = 20
# Characters of a passage, and of its head, that are compared with the question by meaning.
_MOST_EMBEDDED, _LONGEST_HEAD_EMBEDDED = 600, 100
# A sentence that begins like this refers back to the one before it.
LEANS_BACK = re.compile(
    r"(?:This|These|That|Those|It|They|Such|However|Hence|Thus|Therefore|Consequently|As a result"
    r"|In addition|Accordingly|So|And|But)\b"
)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage that may answer.

    key: the key of its page.
    passage: its text and place.
    page: the page's passages, by `at`.
    score: its log-odds, but for a constant.
    """

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
    beside: str = "",
    around: bool = False,
    composed: bool = True,
) -> str:
    """The passages that answer best, each with its citation key.

    "" where none has any of the question's words.

    likeness: gives the cosine of each of some texts to the question; without it words decide alone.
    avoid: a text whose passages come last.
    beside: the answer to the same question for another period. The row that it begins with comes first.
    around: gives the best passage with what stands before and behind it, for a reader who did not understand
    it.
    composed: whether what a row states may be put into a sentence.
    """
    meant = understanding or Understanding(prompt.search_query, prompt.search_query)
    candidates = _candidates(prompt, meant)
    passages = [candidate.passage for candidate in candidates]
    documents = {hit.document for hit in prompt.sources.values()}
    question = QuestionProfile(meant, passages, _follow_up(prompt), documents)
    if not question.words or not candidates or not (likeness or question.weights):
        return ""
    page_scores = {key: hit.score for key, hit in prompt.sources.items()}
    best_page = max(page_scores.values(), default=0.0) or 1.0
    near: Sequence[float] = [0.0] * len(passages)
    if likeness:
        near = likeness([embedded(passage) for passage in passages])
    found = [
        ScoredPassage(candidate.passage, page_scores[candidate.key] / best_page, near[index])
        for index, candidate in enumerate(candidates)
    ]
    scores = score_passages(question, found)
    orders = {key: orders_of(hit) for key, hit in prompt.sources.items()}
    avoid = evened(avoid)
    same_row = _same_row(passages, meant, beside)
    scored: list[_Candidate] = []
    for candidate, score in zip(candidates, scores, strict=True):
        if not likeness and question.weights.keys().isdisjoint(terms(candidate.passage.text)):
            continue
        if _is_order(candidate.passage, orders[candidate.key]):
            score -= ORDER_COST
        if _is_denied(candidate.passage, meant.subject):
            score -= DENIED_COST
        if avoid and evened(candidate.passage.text) in avoid:
            score -= AVOIDED_COST
        if candidate.passage is same_row:
            score += SAME_ROW_GAIN
        if not _is_of_part(candidate.passage, meant):
            score -= OTHER_PART_COST
        scored.append(replace(candidate, score=score))
    scored.sort(key=lambda candidate: -candidate.score)
    return "\n\n".join(_chosen(scored, meant, prompt, around=around, composed=composed))


def _same_row(passages: Sequence[Passage], asked: Understanding, beside: str) -> Passage | None:
    """The row that an answer begins with, if it has a column for the periods asked for; None without one."""
    beside = evened(beside)
    said = [passage for passage in passages if beside and evened(passage.text) in beside]
    first = min(said, key=lambda passage: beside.index(evened(passage.text)), default=None)
    if first is None or first.table is None or first.row is None:
        return None
    heads = [head for head, cell in zip(first.table.heads, first.row.cells, strict=False) if cell is not None]
    fits = [agreement(asked.periods, find_periods(head)) for head in heads]
    return first if max(fits, default=0) > 0 else None


def _candidates(prompt: Prompt, meant: Understanding) -> list[_Candidate]:
    """The passages of the sources but titles and, unless a list is asked for, whole lists."""
    found: list[_Candidate] = []
    for key, hit in prompt.sources.items():
        page = page_of(hit).passages
        for passage in page:
            if _is_title(passage) or passage.is_note:  # it comes with what refers to it
                continue
            if meant.form == "list" or not _is_long_list(passage):
                found.append(_Candidate(key, passage, page))
    return found


def _follow_up(prompt: Prompt) -> str:
    """The question where the search query has an earlier question before it; else ""."""
    question = prompt.question
    if prompt.search_query != question and prompt.search_query.endswith(question):
        return question
    return ""


def says_again(text: str, other: str) -> bool:
    """Whether all that an answer says stands in another, whatever pages the two name."""
    other = evened(other)
    for part in KEYS_IN_BRACKETS.split(text):
        if any(map(str.isalnum, part)) and evened(part) not in other:
            return False
    return True


def _is_title(passage: Passage) -> bool:
    """Whether a passage only names something.

    It is a heading, numbered or not, a running line, a date alone, or figures without a word, such as those
    of a chart's axis. "Adopted Budget 1" looks like a row, but of no table that has a head.
    """
    text = passage.text
    if passage.table is None and _is_date_or_axis(passage):
        return True
    if _is_numbered_heading(passage):
        return True
    # What it announces does not stand with it.
    if text.endswith(":") and not passage.is_row and "\n" not in text:
        return True
    if passage.table is not None:
        return False
    is_headed_row = passage.is_row and passage.head
    return not is_headed_row and is_title(text)


def _is_numbered_heading(passage: Passage) -> bool:
    """Whether a passage looks like an item of no list, without a full stop. Bullets are those of slides."""
    if not passage.is_item or passage.lead or passage.text.lstrip()[0] in BULLETS:
        return False
    return is_head(LINE_ITEM.sub("", passage.text)) and not is_finished(passage.text, also=";,")


def _is_date_or_axis(passage: Passage) -> bool:
    """Whether a passage is a date alone, or figures without a word below no head or other figures."""
    if WORD.search(MONTHS.sub(" ", passage.text)):
        return False
    if MONTHS.search(passage.text) or not WORD.search(passage.head):
        return True
    return sum(word[0].isdigit() for word in passage.head.split()) > 1


def _is_long_list(passage: Passage) -> bool:
    """Whether a passage is a whole list, of which one item answers a question that asks for no list."""
    if passage.is_row or "\n" not in passage.text:
        return False
    return len(passage.text.split()) > WINDOW_WORDS


def _is_denied(passage: Passage, question: str) -> bool:
    """Whether a row is of the opposite: "non-tax revenue" where tax revenue is asked for."""
    if passage.row is None:
        return False
    asked = _NON.sub(" ", question).casefold()
    for match in _NON.finditer(passage.row.label):
        word = match[1].casefold()
        if word in asked and not re.search(rf"(?i)\bnon[-\s]?{word}", question):
            return True
    return False


def _is_of_part(passage: Passage, asked: Understanding) -> bool:
    """Whether a passage is of the part of a year that a figure is asked for, if one is.

    It may name a month without its year, "in September this year".
    """
    parts = [period for period in asked.periods if period.is_part or period.month]
    if not parts or not (asked.form == "figure" or asked.measures):
        return True
    stated = find_periods(passage.text)
    months = {one.month for one in parts}
    named = {month_number(name) for name in MONTHS.findall(passage.text)}
    if named & months and not any(one.end_year for one in stated if one.month in months):
        return True
    heads = passage.table.heads if passage.table is not None else ()
    above = find_periods(" ".join([passage.head, *heads]))
    stated += above if passage.is_row else [one for one in above if one.months != A_DAY]
    return agreement(parts, stated) == SAME_PERIOD


def _is_order(passage: Passage, orders: str) -> bool:
    """Whether the passage is among what addresses a machine on its page."""
    if not orders:
        return False
    if passage.text in orders:
        return True
    parts = (part for part in sentences(orders) if len(part) > SHORTEST_ORDER)
    return any(part in passage.text for part in parts)


def embedded(passage: Passage) -> str:
    """What of a passage is compared with the question by meaning."""
    if passage.row is not None:
        return f"{passage.head} {passage.row.label}".strip()
    text = passage.text[:_MOST_EMBEDDED]
    if passage.head and len(passage.head) < _LONGEST_HEAD_EMBEDDED:
        return f"{passage.head}: {text}"
    return text


def _chosen(
    scored: Sequence[_Candidate], asked: Understanding, prompt: Prompt, *, around: bool, composed: bool
) -> Iterator[str]:
    """The passages of the answer as they are shown, the best first, with what goes on from it.

    Further ones are given only where they are nearly as likely and not said already.
    """
    room = MOST_LIST_WORDS if asked.form == "list" else MOST_WORDS
    chosen_terms: list[set[str]] = []
    quoted: set[tuple[str, int]] = set()
    leads: set[str] = set()
    for candidate in scored:
        behind_best = scored[0].score - CLOSE_TO_BEST
        if len(chosen_terms) >= MOST_PASSAGES or candidate.score < behind_best:
            return
        is_elsewhere = candidate.key != scored[0].key
        if is_elsewhere and candidate.score < scored[0].score - CLOSE_TO_BEST_ELSEWHERE:
            continue
        if (candidate.key, candidate.passage.at) in quoted:
            continue
        window = [candidate.passage]
        first = ""
        if not chosen_terms:
            window = _window(candidate, asked.form == "list", around=around)
            first = _row_first(candidate, asked, prompt) if composed else ""
        shown = _shown_window(window, asked, leads, read=not first)
        size = sum(len(text.split()) for text in shown)
        if chosen_terms and size > room:
            continue
        own = {term for text in shown for term in terms(text)}
        if any(own <= other for other in chosen_terms):
            continue
        if first:
            yield first
        leads.add(window[0].lead)
        chosen_terms.append(own)
        quoted.update((candidate.key, passage.at) for passage in window)
        room -= size
        yield _with_keys(shown, candidate.key)


def _shown_window(
    window: Sequence[Passage], asked: Understanding, leads: Collection[str], *, read: bool
) -> list[str]:
    """Passages that go together as they are shown, behind the sentence that announces their list.

    leads: those that are shown already. read: whether the columns of a row are read out.
    """
    shown = [_shown(passage, asked, read=read) for passage in window]
    first = window[0]
    if not first.lead:
        return shown
    lead = [] if first.lead in leads else [_without_address(first.lead)]
    # A mark for the items between the two that are left out.
    return [*lead, LEFT_OUT, *shown] if first.skips or not lead else [*lead, *shown]


def _with_keys(shown: Sequence[str], key: str) -> str:
    """Texts in one, each with the key, so that each is located and checked by itself."""
    pieces: list[str] = []
    before = ""
    for text in shown:
        part = text if text == LEFT_OUT else f"{escape_keys(text)} [{key}]"
        is_apart = LEFT_OUT in (before, part) or LINE_ITEM.match(part)
        pieces += ["\n" if is_apart else " ", part]
        before = part
    return "".join(pieces).strip()


def _row_first(candidate: _Candidate, asked: Understanding, prompt: Prompt) -> str:
    """What a row states, in a sentence, or yes or no where it decides that; "" for other passages."""
    passage = candidate.passage
    if passage.row is None or passage.table is None:
        return ""
    sentence = by_row(candidate.key, prompt.sources, passage.table, passage.row, asked)
    sentence = sentence or row_in_a_sentence(passage, asked)
    return f"{escape_keys(sentence)} [{candidate.key}]" if sentence else ""


def _window(candidate: _Candidate, is_list: bool, *, around: bool) -> list[Passage]:
    """The passage with the sentences around it that go with it and have room.

    Those before it are at most two that it refers back to. With `around`, and where a list is asked for that
    nothing announces, they are any two. All stand next to each other.
    """
    if candidate.passage.is_row:
        return [candidate.passage]
    whole = _whole_list(candidate, MOST_LIST_WORDS if is_list or around else MOST_WORDS)
    is_whole_list = "\n" in whole.text  # with what announces it: nothing need go on from it
    is_wide = around or (is_list and not is_whole_list)
    most = MOST_LIST_WORDS if is_wide else WINDOW_WORDS
    window = [whole]
    at = whole.at
    room = most - _word_count(whole)
    for passage in reversed(candidate.page[max(0, at - LIST_BEFORE) : at]):
        room -= _word_count(passage)
        if passage.is_row or room < 0 or not _goes_on(window[0], is_wide=is_wide):
            break
        window.insert(0, passage)
    for passage in candidate.page[at + 1 :]:
        if passage.lead and passage.text in window[-1].text:  # an item of the list that it announces
            continue
        room -= _word_count(passage)
        if room < 0 or _begins_anew(passage, is_wide=is_wide):
            break
        window.append(passage)
    return window


def _word_count(passage: Passage) -> int:
    return len(passage.text.split())


def _goes_on(passage: Passage, *, is_wide: bool) -> bool:
    """Whether a passage goes with the sentence before it. is_wide: also where it does not refer back."""
    if not passage.follows or passage.lead:
        return False
    if not is_wide and not LEANS_BACK.match(passage.text):
        return False
    return not SPEAKER.match(passage.text)


def _begins_anew(passage: Passage, *, is_wide: bool) -> bool:
    """Whether a passage does not go with the one before it. is_wide: items and paragraphs may."""
    if passage.is_row or passage.is_note or not passage.follows:
        return True
    if not is_wide and passage.is_item and LINE_ITEM.match(passage.text):
        return True
    if not is_wide and PARAGRAPH.match(passage.text):
        return True
    if SPEAKER.match(passage.text) or _is_title(passage):
        return True
    return sum(map(str.isalpha, passage.text.split())) < FEWEST_WORDS


def _whole_list(candidate: _Candidate, most_words: int) -> Passage:
    """For an item its list with what announces it, where that has room; else the passage itself."""
    item = candidate.passage
    if not item.lead:
        return item
    for passage in reversed(candidate.page[: item.at]):
        if passage.text.startswith(f"{item.lead}\n"):
            has_room = len(passage.text.split()) <= most_words
            return passage if has_room and item.text in passage.text else item
    return item


def _sentence(passage: Passage) -> str:
    """The passage with a mark where it does not hold all of its sentence.

    A sentence is cut at a page's edge, among the text of a chart, or for want of room.
    """
    text = passage.text
    if len(text) > LONGEST_PASSAGE:
        ends = [end for _, end in sentence_spans(text, longest=LONGEST_PASSAGE) if end <= LONGEST_PASSAGE]
        text = f"{text[: max(ends)].rstrip()} {LEFT_OUT}"
    if not passage.lead:
        text = _without_address(text)
    if (passage.is_item and LINE_ITEM.match(text)) or "\n" in text or text.endswith(LEFT_OUT):
        return text
    is_finished_here = is_finished(text, also=":;,")
    if text[:1].islower() or text[:1] in "%),;":
        text = f"{LEFT_OUT} {text}"
    if not is_finished_here:
        text = f"{text} {LEFT_OUT}"
    return text


def _without_address(text: str) -> str:
    """A text without its paragraph's number and whom it addresses, with a mark where it then begins small."""
    found = BEFORE_IT_SAYS.match(text)
    if found is None:
        return text
    rest = text[found.end() :]
    return f"{LEFT_OUT} {rest}" if rest[:1].islower() else rest


def _shown(passage: Passage, asked: Understanding, *, read: bool) -> str:
    """A sentence as it stands; a row with its caption before it and, with `read`, its columns after it."""
    if not passage.is_row:
        return _sentence(passage)
    # A row's own number stands at the beginning of a line, as on the page: within one it would be read as an
    # amount.
    gap = " "
    if passage.skips:
        gap = f"\n{LEFT_OUT}\n"
    elif NUMBER_OF_ROW.match(passage.text):
        gap = "\n"
    text = passage.text
    if passage.head and not passage.lead:
        text = f"{_head(passage)}:{gap}{text}"
    columns = _columns(passage, asked) if read else ""
    return f"{text} ({columns})" if columns else text


def _head(passage: Passage) -> str:
    """What stands above a row, a title that is printed twice once.

    Of a long one it is the beginning where the heads of the row's columns are read out behind it.
    """
    once = REPEATED.sub(r"\1", passage.head)
    if len(once) <= LONGEST_HEAD or passage.table is None:
        return once
    beginning = once[: LONGEST_HEAD + 1].rpartition(" ")[0]
    return f"{beginning or once[:LONGEST_HEAD]} {LEFT_OUT}"


def row_in_a_sentence(passage: Passage, asked: Understanding) -> str:
    """What a row states in the one or two columns that are asked for; "" for any other passage.

    "" too where the row does not name all that is asked: of 92 sentences that were said nonetheless, 45
    stated another figure, and the row as it stands holds the same figures without a claim.
    """
    pairs = _columns_asked_for(passage, asked)
    if len(pairs) > MOST_IN_A_SENTENCE and not asked.years and not asked.compares:
        pairs = _newest(pairs)
    if passage.row is None or passage.table is None or asked.form not in ("figure", "passage"):
        return ""
    # The caption of a workbook's cells begins with the name of their sheet.
    sheet = passage.table.caption if any(cell and cell.name for cell in passage.row.cells) else ""
    if not _names_all_that_is_asked(passage.row, [sheet, *(head for head, _ in pairs)], asked):
        return ""
    fewest = 2 if asked.compares else 1
    if not fewest <= len(pairs) <= MOST_IN_A_SENTENCE:
        return ""
    figures = [figure for _, figure in pairs]
    if not all(any(map(str.isdigit, figure)) for figure in figures):
        return ""
    if asked.reading.asks("share") and not all("%" in figure for figure in figures):
        return ""
    if len(pairs) == 1 and head_period(passage.row.label):  # the years name the rows
        return in_a_sentence(pairs[0][0], [(figures[0], passage.row.label)], asked.whose)
    return in_a_sentence(passage.row.label, [(figure, head) for head, figure in pairs], asked.whose)


def _names_all_that_is_asked(row: Row, heads: Sequence[str], asked: Understanding) -> bool:
    """Whether a row with these heads has each word of the question but its periods and the name of what its
    document is about. If not, what it states may be something else: the company's, where a segment's is
    asked for.
    """
    said = " ".join((row.label, row.section, *heads, *asked.measures))
    named = set(terms(" ".join((asked.whose, *(period.text for period in asked.periods)))))
    return all(word in named or shared_words([word], said) for word in asked.reading.terms_of_row)


def _newest(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The columns of the newest year, without what was budgeted where another is there."""
    years = [latest_year(head) for head, _ in pairs]
    newest = max(years)
    if not newest:
        return []
    of_year = [pair for pair, year in zip(pairs, years, strict=True) if year == newest]
    return [pair for pair in of_year if not is_planned(pair[0])] or of_year


def _columns(passage: Passage, asked: Understanding) -> str:
    """What stands under which head, with its unit."""
    # A head over two lines goes on after its comma, "May 31, > 2019".
    columns = _columns_asked_for(passage, asked)
    return "; ".join(f"{head.replace(', > ', ', ')}: {figure}" for head, figure in columns)


def _columns_asked_for(passage: Passage, asked: Understanding) -> list[tuple[str, str]]:
    """(head, figure with its unit) of the years asked for.

    Else of the heads that share the question's words, else of the first columns.
    """
    if passage.table is None or passage.row is None:
        return []
    table = passage.table
    heads = [head for head in table.heads if head]
    if any(map(_is_figure, heads)) or len(set(heads)) < min(len(heads), 2):
        return []  # its first row, taken for its heads
    columns = list(zip(table.heads, passage.row.cells, strict=False))
    limit = limit_column(table, passage.row)
    if limit is not None:
        columns = [columns[limit]]
    words = asked.reading.terms
    named = {column_of(table, period, words) for period in asked.periods} if limit is None else set()
    if len(asked.periods) > 1 and asked.compares and None in named:
        return []  # one of the two is not there
    if named and None not in named:
        columns = [pair for column, pair in enumerate(columns) if column in named]
    pairs = [(head, cell.text) for head, cell in columns if cell is not None and head]
    chosen = _of_periods(pairs, asked.periods) or _sharing_words(pairs, words)
    return [(head, _with_unit(cell, head, passage.row, table)) for head, cell in chosen[:MOST_COLUMNS]]


def _of_periods(pairs: Sequence[tuple[str, str]], periods: Sequence[Period]) -> list[tuple[str, str]]:
    """The columns whose heads agree best with some periods."""
    fits = [agreement(periods, find_periods(head)) for head, _ in pairs]
    best = max(fits, default=0)
    if best <= 0:  # the nearest are of other parts of these years
        return [pair for pair in pairs if nearest_other(periods, find_periods(pair[0]))]
    return [pair for pair, fit in zip(pairs, fits, strict=True) if fit == best]


def _sharing_words(pairs: Sequence[tuple[str, str]], words: Sequence[str]) -> list[tuple[str, str]]:
    """The columns whose heads share most of the question's words; all where none shares any."""
    shared = [shared_words(words, head) for head, _ in pairs]
    most = max(shared, default=0.0)
    return [pair for pair, share in zip(pairs, shared, strict=True) if share == most]


def _is_figure(head: str) -> bool:
    """Whether a head is a figure, and no period."""
    return bool(BARE_FIGURE.fullmatch(head)) and not find_periods(head)


def _with_unit(cell: str, head: str, row: Row, table: Table) -> str:
    """A bare cell with the currency and the scale, or the per cent, that its table or a head above it states.

    A row or column of shares, rates, numbers or dates has none of it. Nor has one whose own head, label or
    section states a unit, which is printed with it: "Population (mln)" in a table in thousands.
    """
    if not BARE_FIGURE.fullmatch(cell) or YEAR_SAID.fullmatch(cell):
        return cell
    short = short_head(head)
    has_own = OWN_UNIT.search(f"{row.section} {row.label}") or OWN_UNIT.search(short)
    if has_own or is_counted(head, row) or mark_beside(short, row):
        return cell
    mark = mark_beside(head, row) or mark_of_table(table, row)
    if mark is None:
        return cell
    if mark.unit == "%":
        return f"{cell}%"
    return with_unit(cell, mark.scale, mark.unit)
