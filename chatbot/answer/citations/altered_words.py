"""Knows whether a statement repeats a page, and where it does but for words that turn its sense: a denial,
another number in words, the opposite; knows no keys and no figures in digits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from difflib import SequenceMatcher

from chatbot.evidence.page import PageEvidence
from chatbot.evidence.page_sentences import parted
from chatbot.evidence.word_runs import STOP_WORDS, Words, comparable_words
from ingestion.language.numbers.spelled import NUMBER_WORDS
from ingestion.language.opposites import DENIALS, OPPOSITES
from ingestion.language.terms import terms as terms_of

__all__ = ["alteration", "has_numbers", "repeats"]

# Words equal in order, other than "the" and "of", from which a statement repeats the page and does not speak
# of something else in a few of its words.
FEWEST_EQUAL = 3
# ... and their share of the statement's words of that kind: a freer wording is not compared word by word.
LEAST_SHARE = 0.5
# Words in a row on either side that may stand for each other; more are another way of saying it.
MOST_CHANGED = 5
# ... that only one of the two has; more are a clause of its own, "which is not in force yet".
MOST_ADDED = 3

# Share of a statement's terms that stand in the page's order where all of them stand there: more are turned
# around in a role that is swapped.
LEAST_IN_ORDER = 0.9

_NUMBERS = frozenset(NUMBER_WORDS) | frozenset(
    (
        "once twice thrice half halves third thirds quarters fourths fifth fifths sixth sixths sevenths "
        "eighths ninths tenth tenths dozen none"
    ).split()
)
_PERIODS = frozenset("day days week weeks month months quarter quarters year years meeting meetings".split())


def alteration(said: Words, page: Words, span: tuple[int, int]) -> str:
    """What of a statement the page has otherwise around the words found at span; "" where nothing of the kind
    is.

    Compared are the statement's words with those of the page around the span, in order; only between words
    that both have.
    """
    first = bisect_left(page.starts, span[0])
    last = bisect_left(page.starts, span[1])
    reach = len(said.texts)
    there = page.texts[max(0, first - reach) : last + reach]
    matcher = SequenceMatcher(None, said.texts, there, autojunk=False)
    equal = sum(
        word not in STOP_WORDS
        for block in matcher.get_matching_blocks()
        for word in said.texts[block.a : block.a + block.size]
    )
    telling = sum(word not in STOP_WORDS for word in said.texts)
    if equal < FEWEST_EQUAL:
        return ""
    often = _how_often(said.texts)
    as_often = _how_often(page.texts[first : last + reach])
    if often and as_often and often != as_often:
        return f"the page says “{as_often}” where the answer says “{often}”"
    if equal < LEAST_SHARE * telling:
        return ""
    codes = matcher.get_opcodes()
    denials: list[str] = []
    opposites: list[str] = []
    for at, (kind, a, b, c, d) in enumerate(codes):
        # What stands after the last common word belongs to other sentences.
        longest = MOST_CHANGED if kind == "replace" else MOST_ADDED
        if (
            at == 0
            # of what the page has before the statement only a number right before the first common word,
            # "Four cases exceeded"
        ):
            a = max(a, b - 1)
            c = max(c, d - 1)
            if a == b or said.texts[a] not in _NUMBERS:
                continue
        if kind == "equal" or at == len(codes) - 1 or max(b - a, d - c) > longest:
            continue
        mine = said.texts[a:b]
        its = there[c:d]
        own = _numbers(mine, its)
        others = _numbers(its, mine)
        if own and others and own != others:
            return f"the page says “{' '.join(others)}” where the answer says “{' '.join(own)}”"
        denials += _denial(mine, its)
        if said.texts[b] not in DENIALS:  # "may not" is "must not"
            opposites += _opposition(mine, its)
    # A denial and an opposite together say the same: "not less than" for "at least", "not before" for "only
    # after".
    if len(denials) == len(opposites):
        return ""
    return (denials or opposites)[0]


def has_numbers(said: str, page: PageEvidence, span: tuple[int, int]) -> bool:
    """Whether the numbers that a statement has in words stand in the sentences around a span of the page,
    in words or digits.
    """
    words = [word for word in comparable_words(said).texts if word in NUMBER_WORDS]
    there = comparable_words(page.text[slice(*_sentences_around(page, span))]).texts
    return all(word in there or str(NUMBER_WORDS[word]) in there for word in words)


def repeats(said: str, page: PageEvidence, span: tuple[int, int]) -> bool:
    """Whether each term of a statement, figures apart, stands in the sentences around a span of the page,
    nearly all in one order: it is copied, with words such as "the" and "this year" left out or put elsewhere,
    and nothing denied that the page does not deny."""
    there = _terms(page.text[slice(*_sentences_around(page, span))])
    terms = _terms(said)
    over = (page.text[start:end] for start, end in page.sentence_spans if start < span[1] and span[0] < end)
    around = comparable_words(" ".join(over)).texts
    if not set(there).issuperset(terms) or DENIALS.isdisjoint(
        comparable_words(said).texts
    ) != DENIALS.isdisjoint(around):
        return False
    in_order = sum(
        block.size for block in SequenceMatcher(None, terms, there, autojunk=False).get_matching_blocks()
    )
    return in_order >= LEAST_IN_ORDER * len(terms)


def _sentences_around(page: PageEvidence, span: tuple[int, int]) -> tuple[int, int]:
    """Offsets of the sentences that a span stands in, with the one before and the one behind."""
    spans = page.sentence_spans
    first = max(0, bisect_right(spans, span[0], key=lambda one: one[0]) - 2)
    last = min(len(spans), bisect_left(spans, span[1], key=lambda one: one[0]) + 1)
    return spans[first][0], spans[last - 1][1]


def _terms(text: str) -> list[str]:
    return [term for term in terms_of(parted(text)) if not term[0].isdigit()]


def _how_often(words: Sequence[str]) -> str:
    """The first "every year", "every two years" of some words, "" for none; "every single year" is every
    year.
    """
    said = [word for word in words if word != "single"]
    runs = (said[at : at + length] for at, word in enumerate(said) if word == "every" for length in (2, 3))
    return next((" ".join(run) for run in runs if run[-1] in _PERIODS), "")


def _denial(said: Sequence[str], there: Sequence[str]) -> list[str]:
    """What one of two runs of words that stand in the same place denies, and the other does not."""
    denied, denies = ([word for word in words if word in DENIALS] for words in (said, there))
    if len(denied) % 2 == len(denies) % 2:
        return []
    return [
        f"the answer has “{denied[0]}”, the page does not"
        if len(denied) % 2
        else f"the page has “{denies[0]}”, the answer does not"
    ]


def _numbers(words: Sequence[str], beside: Sequence[str]) -> list[str]:
    """The numbers among some words; of "fouryear" where beside them stands a "nineyear" too."""
    joined = [
        (word, number)
        for word in words
        for number in NUMBER_WORDS
        if word.startswith(number) and len(word) > len(number)
    ]
    alike = [
        number
        for word, number in joined
        if any(f"{other}{word.removeprefix(number)}" in beside for other in NUMBER_WORDS)
    ]
    return [word for word in words if word in _NUMBERS] or alike


def _opposition(said: Sequence[str], there: Sequence[str]) -> list[str]:
    """A word that is said, and its opposite that is there in the same place, where neither stands on both
    sides.
    """
    for pair in OPPOSITES:
        for mine, its in (pair, pair[::-1]):
            used = [word for word in said if word in mine]
            used_there = [word for word in there if word in its]
            if used and used_there and its.isdisjoint(said) and mine.isdisjoint(there):
                return [f"the page says “{used_there[0]}” where the answer says “{used[0]}”"]
    return []
