"""Where sentences end: the one place that knows it, for pages, answers, questions and conversations alike.

Knows abbreviations, figures, note marks and line breaks; does not know what is said.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ingestion.language.currencies import DRAWN_SIGNS, LETTER_SIGNS
from ingestion.language.list_items import ITEM, ITEM_NUMBER
from ingestion.language.months import SHORT_MONTHS
from ingestion.language.scales import LETTER_SCALES, SHORT_SCALES

__all__ = [
    "LONGEST_SENTENCE",
    "PLACES",
    "is_finished",
    "sentence_around",
    "sentence_spans",
    "sentences",
    "within_sentence",
]

# Characters; what runs on without any stop is cut here, so that one piece never outweighs the rest of a
# conversation.
LONGEST_SENTENCE = 1_000
# A cut of what runs on is looked for in the last part of the room, at a blank.
SHORTEST_SHARE = 0.5
# Characters that are looked at before a stop or a line end: longer than any abbreviation, bounded so that the
# time stays linear.
LOOK_BACK = 40
# Citations that may stand behind a stop one after the other.
MOST_CITATIONS = 5

BOUNDARY = re.compile(
    r"(?<![.!?…])(?P<stop>[.!?…]++)(?P<closed>[\"'”’)\]»*_]*+)(?P<note>[0-9]{1,3}(?=\s+[\"“‘(]?[A-Z]))?+"
    r"(?=\s|[\[(]|$)|(?P<full>[。！？｡।॥؟۔]++)[」』”’）)】\"'*_]*+|(?P<line>\n)\s*+"
)
BLANKS = re.compile(r"\s*+")
# What belongs to the sentence before it, though it stands behind the stop: "(page 8)", "[S1]", "(see Table
# 3)".
CITATION = re.compile(
    r"\s{0,3}+(?:\[[^\[\]\n]{0,24}\d[^\[\]\n]{0,24}\]|[(\[](?:see |cf\. |source:? ){0,2}(?:pages?|pp?|source|notes?|table|figure|fig|section|sec|para|line|§)\b"
    r"[^()\[\]\n]{0,60}[)\]])[.;]?+",
    re.I,
)
# A text that ends so has ended its sentence, a note's mark or a citation behind the stop not counted; an item
# of a list may have a word behind its mark, "; and".
FINISHED = re.compile(
    r"(?:[.!?…]|(?<=[^\W\d_]{3}[.!?…])[0-9]{1,3}|[。！？｡।॥؟۔])[\"'”’»)\]」』）】*_]*+\s*+\Z"
)
CITED_LAST = re.compile(r"[(\[][^()\[\]\n]{0,80}[)\]][.;]?\Z")
JOINED = re.compile(r"(?: (?:and|or))?\s*\Z")
# A number that touches a full stop is a note's mark only behind a word: "mechanisms.13", but "No.13".
SHORTEST_NOTED = 3
LAST_WORD = re.compile(r"[^\s(\[\"'“‘/—–|]+$")
# Never the end of a sentence.
ALWAYS_SHORT = frozenset(
    (
        "mr mrs ms dr prof messrs mme hon rev gen gov sen rep capt col lt e.g eg i.e ie vs v cf viz approx "
        "ca incl excl resp mt ft"
    ).split()
)
# Short only before a number; "No." and "Art." are words too.
# Of these a place in a document is told by its number.
PLACES = frozenset(
    (
        "no nos nr p pp pg pgs fig figs sec secs s ss art arts para paras par ch chap vol vols eq eqs tab "
        "cl reg regs app annex sched item"
    ).split()
)
SHORT_BEFORE_NUMBER = PLACES | {"ex", "n", "est", "c"} | {sign.rstrip(".").lower() for sign in LETTER_SIGNS}
NUMBER = re.compile(rf"[#{DRAWN_SIGNS}(\[]?(?:\d|[ivxlcIVXLC]{{2,5}}\b|[VX]\b)")
# Ends a sentence only where a word follows that opens one.
OFTEN_SHORT = (
    frozenset(
        """
            inc corp co cos ltd plc llc llp bros intl jr sr etc al dept govt st ave assn natl pct ph.d mon
            tue tues wed thu thurs fri sat sun
        """.split()
    )
    | SHORT_MONTHS
    | SHORT_SCALES
    | frozenset(LETTER_SCALES)
)
DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
OPENERS = frozenset(
    """
        the a an this that these those it its he she they we i you there here in on at by for from with as
        if when while after before since during under however but and or so yet also then thus hence
        moreover meanwhile although though because both all most some many each no not our my your his her
        their what which who where why how is are was were did does do can will
    """.split()
)
FIRST_WORD = re.compile(r"[\"'“‘(\[*_]*+([^\W\d_]++)?")
# A line that ends so goes on in the next one.
HANGS = re.compile(
    rf"(?:[,(\[{DRAWN_SIGNS}&/]|(?<![\w.])(?:the|a|an|of|to|in|on|at|by|for|from|with|and|or|nor|but"
    rf"|than|as|is|are|was|were|be|been|has|had|have|will|would|not|"
    r"about|over|under|between|per|its|their|our|this|that|which|who|no\.|nos\.|p\.|pp\.|fig\.|rs\.?|us))$",
    re.I,
)


def sentence_spans(text: str, *, longest: int = LONGEST_SENTENCE, also: str = "") -> list[tuple[int, int]]:
    """(start, end) of each sentence in order; together they are the text, and a blank text is one. [] for an
    empty text.

    Line breaks stand at a sentence's end, blanks before the next one's first word, as tokenizers join them.
    longest: characters, 1 or more; what runs on without a stop is cut at a blank that parts no figure from
    its unit, else at any blank, else anywhere. also: marks that end a part too where a blank follows, such as
    ";". Linear in the text.
    """
    if longest < 1:
        raise ValueError(f"longest is {longest}; it must be 1 or more")
    cuts = [0] if text else []
    for match in BOUNDARY.finditer(text):
        end = _end(text, match)
        if cuts[-1] < end < len(text) and _is_boundary(text, match, end, cuts[-1]):
            cuts.append(end)
    if also:
        cuts = sorted(
            {*cuts, *(match.end() for match in re.finditer(rf"[{re.escape(also)}](?=\s+\S)", text))}
        )
    if text and not text[cuts[-1] :].strip() and len(cuts) > 1:
        cuts.pop()
    return [
        span for start, end in pairwise([*cuts, len(text)]) for span in _bounded(text, start, end, longest)
    ]


def sentences(text: str, *, longest: int = LONGEST_SENTENCE, also: str = "") -> list[str]:
    """The sentences in order, without the blanks around each; see sentence_spans."""
    return [
        said
        for start, end in sentence_spans(text, longest=longest, also=also)
        if (said := text[start:end].strip())
    ]


def sentence_around(text: str, start: int, end: int, *, reach: int, also: str = "") -> tuple[int, int]:
    """(start, end) of the sentences that a span of the text touches, looked for up to `reach` characters
    on each side, without blanks around them.
    """
    start += len(text[start:end]) - len(text[start:end].lstrip())
    first = max(0, start - reach)
    spans = sentence_spans(text[first : end + reach], also=also) or [(0, 0)]
    opened = next(opened for opened, closed in spans if closed > start - first or closed == spans[-1][1])
    ended = next(closed for _, closed in spans if closed >= end - first or closed == spans[-1][1])
    said = text[first + opened : first + ended]
    opened += len(said) - len(said.lstrip())
    return first + opened, first + opened + len(said.strip())


def is_finished(text: str, *, also: str = "") -> bool:
    """Whether a text ends where a sentence may end. also: marks that end a part too, such as ";"."""
    said = text.rstrip()
    for _ in range(MOST_CITATIONS):
        if FINISHED.search(said):
            cited = None
        else:
            cited = CITED_LAST.search(said)
        if not cited or not CITATION.fullmatch(said, cited.start()):
            break
        said = said[: cited.start()].rstrip()
    return bool(FINISHED.search(said)) or (bool(also) and JOINED.sub("", text)[-1:] in set(also))


def within_sentence(label: str) -> str:
    """A label without its capital, where that is a sentence's and not a name's: it has other words, which
    all begin small.
    """
    first, _, rest = label.partition(" ")
    named = not rest or first.isupper() or any(word[0].isupper() for word in rest.split())
    if named:
        return label
    return f"{first.lower()} {rest}".rstrip()


def _end(text: str, match: re.Match[str]) -> int:
    """Where the sentence ends if it ends at this match: behind its citations and its line breaks."""
    end = match.end()
    if not match["line"]:
        for _ in range(MOST_CITATIONS):
            cited = CITATION.match(text, end)
            if not cited:
                break
            end = cited.end()
    after = BLANKS.match(text, end if not match["line"] else match.start())
    if after:
        last = text.rfind("\n", after.start(), after.end())
    else:
        last = -1
    if last >= 0:
        return last + 1
    return end


def _is_boundary(text: str, match: re.Match[str], end: int, start: int) -> bool:
    follows = BLANKS.match(text, end).end()  # type: ignore[union-attr]
    if match["line"]:
        return _line_ends(text, match, follows, start)
    if match["full"]:
        return True
    if not text[end - 1].isspace() and follows == end:  # "4.5 million.(see below"
        return False
    if match["note"]:
        return _is_noted(text, match, start)
    if text.count("\n", match.end(), follows) > 1:
        return True
    lower = text[follows : follows + 2].lstrip("(")[:1].islower()  # "Inc. (the “Company”)" goes on, too
    if set(match["stop"]) & set("!?"):
        return not (lower and match["closed"])
    return not lower and not _is_short(text, match, follows, start) and not _is_inside(text, match, start)


def _is_noted(text: str, match: re.Match[str], start: int) -> bool:
    """Whether digits that touch the stop are a note's mark, and the sentence ends before them."""
    found = LAST_WORD.search(text[max(start, match.start() - LOOK_BACK) : match.start()])
    if found:
        word = found[0].lower()
    else:
        word = ""
    return len(word) >= SHORTEST_NOTED and word.isalpha() and word not in ALWAYS_SHORT | SHORT_BEFORE_NUMBER


def _is_short(text: str, match: re.Match[str], follows: int, start: int) -> bool:
    """Whether the full stop belongs to an abbreviation, an initial or the number of an item."""
    before = text[max(start, match.start() - LOOK_BACK) : match.start()]
    found = LAST_WORD.search(before)
    if match["stop"] != "." or match["closed"] or not found:
        return False
    word = found[0].lower()
    if word in ALWAYS_SHORT or ITEM_NUMBER.fullmatch(before):
        return True
    initial = len(word) == 1 and found[0].isupper() and found[0] != "I"
    if word in SHORT_BEFORE_NUMBER and not initial:
        return bool(NUMBER.match(text, follows))
    if word in OFTEN_SHORT or initial or DOTTED.fullmatch(word):
        opener = FIRST_WORD.match(text, follows)
        return not (opener and opener[1] and opener[1].lower() in OPENERS)
    return False


def _is_inside(text: str, match: re.Match[str], start: int) -> bool:
    """Whether the full stop stands in a short bracket, which ends no sentence: "(see note 4. Figures are
    rounded)", "( 1 . 3 %)".
    """
    before = text[max(start, match.start() - LOOK_BACK) : match.start()]
    opened = before.rfind("(") > before.rfind(")")
    closed = text.find(")", match.end(), match.end() + LOOK_BACK)
    return opened and closed >= 0 and "(" not in text[match.end() : closed]


def _line_ends(text: str, match: re.Match[str], follows: int, start: int) -> bool:
    """Whether a line break ends what stands before it: a blank line, a list item, a table row, a heading;
    not a line wrapped in a sentence.
    """
    before = text[max(start, match.start() - LOOK_BACK) : match.start()].rstrip()
    if not before:
        return False
    if match[0].count("\n") > 1 or ITEM.match(text, follows):
        return True
    wrapped = text[follows : follows + 1].islower() and before[-1] not in '.!?…:;。|”"'
    return not wrapped and not HANGS.search(before)


def _bounded(text: str, start: int, end: int, longest: int) -> list[tuple[int, int]]:
    spans = []
    while end - start > longest:
        cut = _cut(text, start, start + longest)
        spans.append((start, cut))
        start = cut
    return [*spans, (start, end)]


def _cut(text: str, start: int, limit: int) -> int:
    first = start + max(int((limit - start) * SHORTEST_SHARE), 1)
    blanks = [at for at in range(limit, first, -1) if text[at].isspace() and not text[at - 1].isspace()]
    whole = next((at for at in blanks if not text[at - 1].isdigit() and text[at - 1] not in DRAWN_SIGNS), 0)
    return whole or next(iter(blanks), limit)
