"""Tells whether a statement repeats a page, and which of its words turn the page's sense.

These are a denial, another number in words, or the opposite. Figures in digits are checked elsewhere.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher
from operator import itemgetter

from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_sentences import parted
from chatbot.evidence.word_runs import STOP_WORDS, Words, comparable_words
from ingestion.language.numbers.spelled import NUMBER_WORDS
from ingestion.language.opposites import DENIALS, OPPOSITES
from ingestion.language.terms import terms as terms_of

__all__ = ["PERIODS", "alteration", "has_numbers", "repeats"]

# Words equal in order, other than "the" and "of", from which a statement repeats the page. Fewer may speak of
# something else in a few of its words.
FEWEST_EQUAL = 3
# Their share of the statement's words of that kind. A freer wording is not compared word by word.
LEAST_SHARE = 0.5
# Words in a row on either side that may stand for each other. More are another way of saying it.
MOST_CHANGED = 5
# Words in a row that only one of the two has. More are a clause of its own, "which is not in force yet".
MOST_ADDED = 3

# Share of a statement's terms that stand in the page's order where all of them stand there. Where roles are
# swapped, more of them are out of order.
LEAST_IN_ORDER = 0.9

_NUMBERS = frozenset(NUMBER_WORDS) | frozenset(
    (
        "once twice thrice half halves third thirds quarters fourths fifth fifths sixth sixths sevenths "
        "eighths ninths tenth tenths dozen none"
    ).split()
)
PERIODS = frozenset("day days week weeks month months quarter quarters year years meeting meetings".split())


def alteration(said: Words, page: Words, span: tuple[int, int]) -> str:
    """What the page says differently around the words found at span; "" for nothing of the kind.

    The statement's words are compared with those of the page around the span, in order, and only between
    words that both have.
    """
    first = bisect_left(page.starts, span[0])
    last = bisect_left(page.starts, span[1])
    reach = len(said.texts)
    there = page.texts[max(0, first - reach) : last + reach]
    matcher = SequenceMatcher(None, said.texts, there, autojunk=False)
    equal = 0
    for block in matcher.get_matching_blocks():
        equal += _count_other_words(said.texts[block.a : block.a + block.size])
    if equal < FEWEST_EQUAL:
        return ""
    often = _how_often(said.texts)
    as_often = _how_often(page.texts[first : last + reach])
    if often and as_often and often != as_often:
        return f"the page says “{as_often}” where the answer says “{often}”"
    if equal < LEAST_SHARE * _count_other_words(said.texts):
        return ""
    return _first_turn(said.texts, there, matcher.get_opcodes())


def _count_other_words(words: Sequence[str]) -> int:
    """How many of some words are not stop words."""
    return sum(word not in STOP_WORDS for word in words)


def _first_turn(
    answer: Sequence[str], page: Sequence[str], codes: Sequence[tuple[str, int, int, int, int]]
) -> str:
    """Which difference between the answer's and the page's words turns the sense; "" for none.

    codes: as difflib.SequenceMatcher gives them.
    """
    denials: list[str] = []
    opposites: list[str] = []
    # What stands after the last common word belongs to other sentences.
    for index, (kind, start, end, page_start, page_end) in enumerate(codes[:-1]):
        if index == 0:
            # Of what stands before the first common word only a number right before it counts, "Four cases
            # exceeded".
            start = max(start, end - 1)
            page_start = max(page_start, page_end - 1)
            if start == end or answer[start] not in _NUMBERS:
                continue
        longest = MOST_CHANGED if kind == "replace" else MOST_ADDED
        if kind == "equal" or max(end - start, page_end - page_start) > longest:
            continue
        answer_part = answer[start:end]
        page_part = page[page_start:page_end]
        if other_number := _other_number(answer_part, page_part):
            return other_number
        denials += _denial(answer_part, page_part)
        if answer[end] not in DENIALS:  # "may not" is "must not"
            opposites += _opposition(answer_part, page_part)
    # A denial and an opposite together say the same: "not less than" for "at least", "not before" for "only
    # after".
    if len(denials) == len(opposites):
        return ""
    return (denials or opposites)[0]


def has_numbers(said: str, page: PageEvidence, span: tuple[int, int]) -> bool:
    """Whether the numbers that a statement has in words stand in the sentences around a span of the page.

    They may stand there in words or digits.
    """
    words = [word for word in comparable_words(said).texts if word in NUMBER_WORDS]
    there = comparable_words(page.text[slice(*_sentences_around(page, span))]).texts
    return all(word in there or str(NUMBER_WORDS[word]) in there for word in words)


def repeats(said: str, page: PageEvidence, span: tuple[int, int]) -> bool:
    """Whether a statement is copied from the sentences around a span of the page.

    Each of its terms, figures apart, stands there, nearly all in one order. Words such as "the" and "this
    year" may be left out or put elsewhere. Nothing may be denied that the page does not deny.
    """
    there = _terms(page.text[slice(*_sentences_around(page, span))])
    terms = _terms(said)
    if not set(there).issuperset(terms):
        return False
    first, last = span
    spans = [(start, end) for start, end in page.sentence_spans if start < last and first < end]
    cited = " ".join(page.text[start:end] for start, end in spans)
    if _denies(said) != _denies(cited):
        return False
    matcher = SequenceMatcher(None, terms, there, autojunk=False)
    in_order = sum(block.size for block in matcher.get_matching_blocks())
    return in_order >= LEAST_IN_ORDER * len(terms)


def _denies(text: str) -> bool:
    return not DENIALS.isdisjoint(comparable_words(text).texts)


def _sentences_around(page: PageEvidence, span: tuple[int, int]) -> tuple[int, int]:
    """Offsets of the sentences that a span stands in, with the one before and the one behind."""
    spans = page.sentence_spans
    begun = bisect_right(spans, span[0], key=itemgetter(0))
    ended = bisect_left(spans, span[1], key=itemgetter(0))
    first = max(0, begun - 2)
    last = min(len(spans), ended + 1)
    return spans[first][0], spans[last - 1][1]


def _terms(text: str) -> list[str]:
    return [term for term in terms_of(parted(text)) if not term[0].isdigit()]


def _how_often(words: Sequence[str]) -> str:
    """The first "every year" or "every two years" of some words, "" for none.

    "Every single year" is every year.
    """
    plain = [word for word in words if word != "single"]
    for index, word in enumerate(plain):
        if word != "every":
            continue
        for length in (2, 3):
            run = plain[index : index + length]
            if run[-1] in PERIODS:
                return " ".join(run)
    return ""


def _denial(answer: Sequence[str], page: Sequence[str]) -> list[str]:
    """The denial that only one of two runs of words in the same place has."""
    denied = [word for word in answer if word in DENIALS]
    denied_by_page = [word for word in page if word in DENIALS]
    if len(denied) % 2 == len(denied_by_page) % 2:
        return []
    if len(denied) % 2:
        return [f"the answer has “{denied[0]}”, the page does not"]
    return [f"the page has “{denied_by_page[0]}”, the answer does not"]


def _other_number(answer: Sequence[str], page: Sequence[str]) -> str:
    """How two runs of words in the same place differ in their numbers; "" where they do not."""
    answer_numbers = _numbers(answer, page)
    page_numbers = _numbers(page, answer)
    if not answer_numbers or not page_numbers or answer_numbers == page_numbers:
        return ""
    return f"the page says “{' '.join(page_numbers)}” where the answer says “{' '.join(answer_numbers)}”"


def _numbers(words: Sequence[str], beside: Sequence[str]) -> list[str]:
    """The numbers among some words; of "fouryear" where beside them stands a "nineyear" too."""
    plain = [word for word in words if word in _NUMBERS]
    if plain:
        return plain
    found: list[str] = []
    for word in words:
        for number in NUMBER_WORDS:
            rest = word.removeprefix(number)
            if rest and rest != word and _has_compound(beside, rest):
                found.append(number)
    return found


def _has_compound(words: Sequence[str], rest: str) -> bool:
    """Whether one of some words is a number joined to the rest of a word, as "nine" to "year"."""
    return any(f"{number}{rest}" in words for number in NUMBER_WORDS)


def _opposition(answer: Sequence[str], page: Sequence[str]) -> list[str]:
    """How the answer has the opposite of the page's word in the same place.

    [] where a word of either side stands in both.
    """
    for pair in OPPOSITES:
        for side, opposite in (pair, pair[::-1]):
            used = [word for word in answer if word in side]
            used_by_page = [word for word in page if word in opposite]
            if used and used_by_page and opposite.isdisjoint(answer) and side.isdisjoint(page):
                return [f"the page says “{used_by_page[0]}” where the answer says “{used[0]}”"]
    return []
