"""Finds where sentences end, in pages, answers, questions and conversations alike.

Stops of abbreviations and figures, note marks and wrapped lines do not count as ends.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ingestion.language.currencies import DRAWN_SIGNS, LETTER_SIGNS
from ingestion.language.list_items import ITEM, ITEM_NUMBER
from ingestion.language.months import SHORT_MONTHS
from ingestion.language.scales import LETTER_SCALES, SHORT_SCALES
from ingestion.language.vocabulary import Match
from ingestion.records import Span

__all__ = [
    "LEVEL",
    "LONGEST_SENTENCE",
    "PLACES",
    "RAISED",
    "is_finished",
    "sentence_around",
    "sentence_spans",
    "sentences",
    "within_sentence",
]

# Characters. Longer text without any stop is cut here, so that one sentence never outweighs the rest of a
# conversation.
LONGEST_SENTENCE = 1_000
# Such a cut is made at a blank behind at least this share of the longest sentence.
SHORTEST_SHARE = 0.5
# Characters read before a stop or a line end: more than any abbreviation has, and few enough to keep the time
# linear.
LOOK_BACK = 40
# Citations that may follow a stop one after the other.
MOST_CITATIONS = 5

# The signs of a note's mark, as they are set level and raised.
LEVEL = "0123456789abcdefgh"
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹ᵃᵇᶜᵈᵉᶠᵍʰ"
BOUNDARY = re.compile(
    r"(?<![.!?…])(?P<stop>[.!?…]++)(?P<closed>[\"'”’)\]»*_]*+)"
    rf"(?P<note>[{RAISED}]{{1,3}}+|[0-9]{{1,3}}(?=\s+[\"“‘(]?[A-Z]))?+"
    r"(?=\s|[\[(]|$)|(?P<full>[。！？｡।॥؟۔]++)[」』”’）)】\"'*_]*+|(?P<line>\n)\s*+"
)
BLANKS = re.compile(r"\s*+")
# A citation belongs to the sentence before it, though it stands behind the stop: "(page 8)", "[S1]",
# "(see Table 3)".
CITATION = re.compile(
    r"\s{0,3}+(?:\[[^\[\]\n]{0,24}\d[^\[\]\n]{0,24}\]|[(\[](?:see |cf\. |source:? ){0,2}"
    r"(?:pages?|pp?|source|notes?|table|figure|fig|section|sec|para|line|§)\b"
    r"[^()\[\]\n]{0,60}[)\]])[.;]?+",
    re.I,
)
CITATIONS = re.compile(rf"(?i)(?:{CITATION.pattern}){{0,{MOST_CITATIONS}}}+")
# The end of a text that is a sentence's end too; a note's mark may stand behind the stop. Behind the mark of
# a list item a word may follow, "; and".
FINISHED = re.compile(
    rf"(?:[.!?…][{RAISED}]{{0,3}}|(?<=[^\W\d_]{{3}}[.!?…])[0-9]{{1,3}}|[。！？｡।॥؟۔])[\"'”’»)\]」』）】*_]*+\s*+\Z"
)
CITED_LAST = re.compile(r"[(\[][^()\[\]\n]{0,80}[)\]][.;]?\Z")
JOINED = re.compile(r"(?: (?:and|or))?\s*\Z")
# A number that touches a full stop is a note's mark only behind a word of so many letters: "mechanisms.13",
# but "No.13".
SHORTEST_NOTED = 3
LAST_WORD = re.compile(r"[^\s(\[\"'“‘/—–|]+$")
# Abbreviations that never end a sentence.
ALWAYS_SHORT = frozenset(
    (
        "mr mrs ms dr prof messrs mme hon rev gen gov sen rep capt col lt e.g eg i.e ie vs v cf viz approx "
        "ca incl excl resp mt ft"
    ).split()
)
# Abbreviations for places in a document that have a number. Before a number they do not end a sentence;
# elsewhere "No." and "Art." may be words.
PLACES = frozenset(
    (
        "no nos nr p pp pg pgs fig figs sec secs s ss art arts para paras par ch chap vol vols eq eqs tab "
        "cl reg regs app annex sched item"
    ).split()
)
_SHORT_SIGNS = {sign.rstrip(".").lower() for sign in LETTER_SIGNS}
SHORT_BEFORE_NUMBER = PLACES | {"ex", "n", "est", "c"} | _SHORT_SIGNS
NUMBER = re.compile(rf"[#{DRAWN_SIGNS}(\[]?(?:\d|[ivxlcIVXLC]{{2,5}}\b|[VX]\b)")
# Abbreviations that end a sentence only before a word that opens one.
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
# The end of a line that goes on in the next line.
HANGS = re.compile(
    rf"(?i)(?:[,(\[{DRAWN_SIGNS}&/]|(?<![\w.])(?:the|a|an|of|to|in|on|at|by|for|from|with|and|or|nor|but"
    rf"|than|as|is|are|was|were|be|been|has|had|have|will|would|not|"
    r"about|over|under|between|per|its|their|our|this|that|which|who|no\.|nos\.|p\.|pp\.|fig\.|rs\.?|us))$",
)


def sentence_spans(text: str, *, longest: int = LONGEST_SENTENCE, also: str = "") -> list[Span]:
    """(start, end) of each sentence in order. Together they cover the text; a blank text is one sentence, an
    empty one has none.

    Line breaks stay at a sentence's end, blanks before the next sentence's first word, as tokenizers join
    them. Takes linear time.

    longest: characters, 1 or more. A longer sentence is cut at a blank that separates no figure from its
        unit, else at any blank, else anywhere. Raises ValueError below 1.
    also: marks that end a part too where a blank follows, such as ";".
    """
    if longest < 1:
        raise ValueError(f"longest is {longest}; it must be 1 or more")
    cuts = [0] if text else []
    for match in BOUNDARY.finditer(text):
        end = _end(text, match)
        is_inside = cuts[-1] < end < len(text)
        if is_inside and _is_boundary(text, match, end, cuts[-1]):
            cuts.append(end)
    if also:
        marks = re.finditer(rf"[{re.escape(also)}](?=\s+\S)", text)
        cuts = sorted({*cuts, *(mark.end() for mark in marks)})
    if len(cuts) > 1 and not text[cuts[-1] :].strip():
        cuts.pop()
    least = int(longest * SHORTEST_SHARE) + 1
    pieces = re.compile(
        rf"(?s:.{{1,{longest}}}\Z|.{{{least},{longest}}}(?<![\s\d{DRAWN_SIGNS}])(?=\s)"
        rf"|.{{{least},{longest}}}(?<!\s)(?=\s)|.{{1,{longest}}})"
    )
    spans = list[Span]()
    for start, end in pairwise([*cuts, len(text)]):
        spans += [piece.span() for piece in pieces.finditer(text, start, end)]
    return spans


def sentences(text: str, *, longest: int = LONGEST_SENTENCE, also: str = "") -> list[str]:
    """The sentences in order, without the blanks around each; see sentence_spans."""
    spans = sentence_spans(text, longest=longest, also=also)
    stripped = (text[start:end].strip() for start, end in spans)
    return [sentence for sentence in stripped if sentence]


def sentence_around(text: str, start: int, end: int, *, reach: int) -> Span:
    """(start, end) of the sentences that a span of the text touches, without the blanks around them.

    reach: how many characters on each side of the span are searched.
    """
    touched = text[start:end]
    start += len(touched) - len(touched.lstrip())
    first = max(0, start - reach)
    near = text[first : end + reach]
    spans = sentence_spans(near) or [(0, 0)]
    touched_spans = [span for span in spans if span[1] > start - first and span[0] < end - first]
    opens, closes = (touched_spans or spans[-1:])[0][0], (touched_spans or spans)[-1][1]
    found = near[opens:closes]
    begin = first + opens + len(found) - len(found.lstrip())
    return begin, begin + len(found.strip())


def is_finished(text: str, *, also: str = "") -> bool:
    """Whether a text ends where a sentence may end. also: marks that end a part too, such as ";"."""
    uncited = text.rstrip()
    for _ in range(MOST_CITATIONS):
        citation = CITED_LAST.search(uncited)
        if FINISHED.search(uncited) or not citation or not CITATION.fullmatch(uncited, citation.start()):
            break
        uncited = uncited[: citation.start()].rstrip()
    return bool(FINISHED.search(uncited)) or (bool(also) and JOINED.sub("", text)[-1:] in set(also))


def within_sentence(label: str) -> str:
    """A label as it reads within a sentence: its first word in lower case, unless it may be a name.

    It is taken for a name where it stands alone, is all in capitals, or where another word has a capital.
    """
    first, _, rest = label.partition(" ")
    if not rest or first.isupper() or any(word[0].isupper() for word in rest.split()):
        return label
    return f"{first.lower()} {rest}".rstrip()


def _end(text: str, match: Match) -> int:
    """Where the sentence ends if it ends at this match: behind its citations and its line breaks."""
    end = match.end()
    if not match["line"]:
        end = _behind(CITATIONS, text, end)
    last_break = text.rfind("\n", match.start() if match["line"] else end, _behind(BLANKS, text, end))
    return last_break + 1 if last_break >= 0 else end


def _behind(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Where the match at a position of a pattern that matches nothing too ends."""
    found = pattern.match(text, position)
    return found.end() if found else position


def _before(text: str, match: Match, start: int) -> str:
    """What the sentence has before the match, LOOK_BACK characters of it at most."""
    return text[max(start, match.start() - LOOK_BACK) : match.start()]


def _is_boundary(text: str, match: Match, end: int, start: int) -> bool:
    follows = _behind(BLANKS, text, end)
    if match["line"]:
        return _line_ends(text, match, follows, start)
    if match["full"]:
        return True
    if not text[end - 1].isspace() and follows == end:  # "4.5 million.(see below"
        return False
    if match["note"] and match["note"][0] not in RAISED:
        return _is_noted(text, match, start)
    if text.count("\n", match.end(), follows) > 1:
        return True
    following = text[follows : follows + 2].lstrip("(")  # "Inc. (the “Company”)" goes on, too
    goes_on = following[:1].islower()
    if set(match["stop"]) & set("!?"):
        return not (goes_on and match["closed"])
    if goes_on or _is_short(text, match, follows, start):
        return False
    return not _is_inside(text, match, start)


def _is_noted(text: str, match: Match, start: int) -> bool:
    """Whether digits that touch the stop are a note's mark, and the sentence ends before them."""
    found = LAST_WORD.search(_before(text, match, start))
    word = found[0].lower() if found else ""
    return len(word) >= SHORTEST_NOTED and word.isalpha() and word not in ALWAYS_SHORT | SHORT_BEFORE_NUMBER


def _is_short(text: str, match: Match, follows: int, start: int) -> bool:
    """Whether the full stop belongs to an abbreviation, an initial or the number of an item."""
    before = _before(text, match, start)
    found = LAST_WORD.search(before)
    if match["stop"] != "." or match["closed"] or not found:
        return False
    word = found[0].lower()
    if word in ALWAYS_SHORT or ITEM_NUMBER.fullmatch(before):
        return True
    initial = len(word) == 1 and found[0].isupper() and found[0] != "I"
    if word in SHORT_BEFORE_NUMBER and not initial:
        return bool(NUMBER.match(text, follows))
    if not (word in OFTEN_SHORT or initial or DOTTED.fullmatch(word)):
        return False
    first = FIRST_WORD.match(text, follows)
    return not (first and first[1] and first[1].lower() in OPENERS)


def _is_inside(text: str, match: Match, start: int) -> bool:
    """Whether the full stop stands inside a short bracket, where it ends no sentence.

    "(see note 4. Figures are rounded)", "( 1 . 3 %)".
    """
    before = _before(text, match, start)
    opened = before.rfind("(") > before.rfind(")")
    closed = text.find(")", match.end(), match.end() + LOOK_BACK)
    return opened and closed >= 0 and "(" not in text[match.end() : closed]


def _line_ends(text: str, match: Match, follows: int, start: int) -> bool:
    """Whether a line break ends what stands before it, as it does not where a sentence is wrapped.

    It does at a blank line and behind a list item, a table row or a heading.
    """
    before = _before(text, match, start).rstrip()
    if not before:
        return False
    if match[0].count("\n") > 1 or ITEM.match(text, follows):
        return True
    wrapped = text[follows : follows + 1].islower() and before[-1] not in '.!?…:;。|”"'
    return not wrapped and not HANGS.search(before)
