"""Knows which sentences of a chat model's answer rest on a page: by their own key, by one that the check
adds, or on none; asks no model and writes no text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.answer.citations.citation_spans import check_answer, with_short_keys
from chatbot.answer.citations.clauses import BETWEEN_CLAUSES, PAST, VERB, clauses_of, has_clause
from chatbot.answer.citations.latex import plain_arithmetic
from chatbot.evidence.page import page_of
from chatbot.evidence.page_sentences import NEAR, stems_of
from chatbot.evidence.word_runs import MIN_QUOTE_WORDS, comparable_words, telling_words
from chatbot.records import FINE, MODEL_TEXT, Citation, NumberCheck, Prompt, Statement
from ingestion.language.list_items import SAFE_ITEM
from ingestion.language.numbers import find_figures
from ingestion.language.opposites import OPPOSITES
from ingestion.language.periods import YEAR
from ingestion.language.sentences import sentence_spans

__all__ = [
    "CheckedText",
    "check_behind",
    "check_quoted",
    "check_statements",
    "with_whole_keys",
    "without_added",
]

# Fewer words that say something, and no figure, state nothing: "Yes.", "In short".
FEWEST_TELLING = 2
# ... nor do fewer letters of a script without blanks: "是的。".
FEWEST_UNSPACED = 4
# Share of a sentence's words that must stand near the passage located for it, lest four words in a row that
# any page of the kind has pass for all of it.
LEAST_NEAR = 0.4
# Pages on which one sentence is looked up with all checks.
MOST_LOOKED_AT = 4
# ... and anywhere on the page that its list or paragraph is cited for.
LEAST_SHARED = 0.75
LEAST_SUMMED_UP = 0.5  # ... and on the page of the sentence that it leads up to
MOST_SUMMED_UP = 7  # words that tell, in such a sentence; a longer one states something of its own
# Of a figure; others leave it open whether another page or another wording has it.
AGAINST = frozenset({"contradicted", "unsupported"})
# Words of a heading, and of a line that leads a list in, that neither the question nor the pages have: more
# state something new.
MOST_NEW_IN_HEADING, MOST_NEW_IN_LEAD = 2, 3

_HEADING = re.compile(r"#{1,6}\s|(?:\*\*|__)[^*_]+(?:\*\*|__)\s*$")
_LETTER = re.compile(r"[^\W_]")
# What belongs to a key rather than to what is said behind it.
_BEHIND_KEY = re.compile(rf"(?:{KEYS_IN_BRACKETS.pattern}|[\s)\]*_.,;:–—-])*")
# Words that open a sentence and say only where it is from.
_OPENING = re.compile(
    r"\W*(?:according to|as (?:stated|shown|noted|reported|set out) (?:in|by|on))\b[^,;.:]*\Z", re.I
)
# What the cited page does not have: "but gives no rates".
_JOINS = r"\b(?:because|although|though|after|while|since|whose|which)\b"
_ABSENT = re.compile(
    r"(?:(?:but|and|though) )?(?:(?:it|they|which) )?(?:(?:(?:do|does) not|don['’]t|doesn['’]t) "
    r"(?:contain|state|give|show|include|report|mention|say|specify|explain|provide|name|identify|quantify"
    r"|itemi[sz]e|break down|set out)|"
    rf"(?:contain|state|give|show|include|report|mention|say)s? (?:no|nothing))\b(?:(?!(?<!who )\bthat\b"
    rf"|{_JOINS})[^,;:])*",
    re.I,
)
_ASKS = re.compile(r"\b(?:what|which|who|whom|whose|how|why|when|where|whether)\b", re.I)
# What a line that leads a list in ends with or says of the list.
_LEADING = re.compile(
    r"\b(?:follow(?:s|ing)|below|here|these|includ(?:es?|ed|ing))\b|\b(?:is|are|was|were|be|by|to|for|on"
    r"|in|of|that|says?|states?)\W*\Z|"
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|several|various)(?:\s\w+){1,3}\W*\Z",
    re.I,
)
# Letters of scripts that part no words with blanks.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_EXCERPTS = (
    r"(?:the|these|this) (?:provided |given |cited )?(?:excerpt|document|source|page|passage|report"
    r"|speech|paper|note|filing|release|table)s?"
    r"(?: of the [\w-]+(?: [\w-]+)?)?"
)
# "The excerpts give the equity [1], but not the income".
_OF_EXCERPTS = re.compile(rf"\W*{_EXCERPTS}\b", re.I)
_BUT_NOT = re.compile(r"(?:but|and) (?:not|no|nothing)\b[^;:]*", re.I)
# Where the whole sentence says only that: "the excerpts do not state a rate", "… show revenue but no rate".
_LACKING = re.compile(
    rf"\W*(?:(?:i['’]?m|i am) (?:sorry|afraid),? (?:but |that )?|unfortunately,? )?"
    rf"(?:{_EXCERPTS} {_ABSENT.pattern}|"
    rf"(?:(?!{_JOINS}|\b(?:that|and|who)\b)[^,;:.])* (?:(?:do|does) not appear|is not"
    rf"|are not) in {_EXCERPTS}|"
    rf"{_EXCERPTS} (?:contain|state|give|show|include|report|mention"
    rf"|say)s? (?P<has>(?:(?!\bthat\b)[^;:.])*),? but (?:no|not|nothing)\b(?:(?!\bthat\b)[^;:.])*)"
    r"(?:,? (?:so|and so|hence|therefore|thus)\b[^;:.]*\b(?:cannot|can not|can't|could not|couldn't"
    r"|is not possible)\b[^,;:.]*)?\W*",
    re.I,
)
_YEAR = re.compile(YEAR)
# "Largely, yes."; "No bank failed" says something.
_YES_OR_NO = re.compile(
    r"(?:(?:[a-z]+ly|both|and|but),? ){0,2}(?:yes|no)(?:,? (?:and no|but only just|[a-z]+ly))?\W*", re.I
)
_TABLE_RULE = re.compile(r"[|:\s-]+")
_ITEM = re.compile(rf"\s*(?:{SAFE_ITEM.pattern}|\|\s)")


@dataclass(frozen=True, slots=True)
class CheckedText:
    """A checked answer. text: as shown, with the keys that were added; the rest as in Answer."""

    text: str
    citations: tuple[Citation, ...]
    numbers: tuple[NumberCheck, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class _ModelSentence:
    """A sentence of an answer. keys: of its own, in order. status: "" where it states nothing. added: the
    key that the check found for it.
    """

    start: int
    end: int
    text: str
    keys: tuple[str, ...]
    status: str = ""
    rests_on: str | None = None
    added: str = ""


def check_quoted(text: str, prompt: Prompt) -> CheckedText:
    """An answer in the documents' own words. text: with whole keys, such as "[S1-7f3a]". Every statement
    is cited, by its own key or the next one.
    """
    shown, citations, numbers = check_answer(text, prompt)
    return CheckedText(shown, citations, numbers, _quoted(shown, citations))


def check_statements(text: str, prompt: Prompt) -> CheckedText:
    """A chat model's answer with every sentence that states something judged. text: as the model wrote it,
    with whole keys.

    A sentence without a key is looked up in all pages of the prompt, and where it is found gets the key of
    the page ("cited_by_check"). One that is worked out from figures which stand there rests on what is cited
    near it. All else is "unsupported", and the keys of its neighbours do not count for its figures.
    """
    text = plain_arithmetic(text)
    sentences = _judged(text, prompt)
    pieces: list[str] = []
    uncited: list[tuple[int, int]] = []
    position = length = 0
    for one in sentences:
        end = one.start + len(one.text.rstrip())
        piece = _with_key(text[position:end], one.added)
        if one.status == "unsupported":
            uncited.append((length + one.start - position, length + len(piece)))
        pieces.append(piece)
        length = length + len(piece)
        position = end
    shown, citations, numbers = check_answer("".join([*pieces, text[position:]]), prompt, uncited=uncited)
    return CheckedText(
        shown, citations, numbers, tuple(_statement(one, prompt) for one in sentences if one.status)
    )


def _with_key(said: str, key: str) -> str:
    """What is said with the key that was added to it, "" for none: in a row of a table within its last
    cell.
    """
    if not key:
        return said
    if said.endswith("|"):
        return f"{said[:-1]}[{key}] |"
    return f"{said} [{key}]"


def check_behind(own: str, said: str, prompt: Prompt) -> CheckedText:
    """The documents' own words first, with whole keys, and behind them the text of a model of which
    nothing was found.
    """
    quoted = check_quoted(own, prompt)
    unfound = check_statements(said, prompt)
    text = f"{own}\n\n{MODEL_TEXT}\n\n{said}"
    shown, citations, numbers = check_answer(text, prompt, uncited=[(len(own), len(text))])
    return CheckedText(shown, citations, numbers, (*quoted.statements, *unfound.statements))


def with_whole_keys(text: str, prompt: Prompt) -> str:
    """A shown answer whose keys are all known, as it was before: "[S1]" becomes "[S1-7f3a]"."""
    whole = {key.partition("-")[0]: key for key in prompt.sources}
    return KEYS_IN_BRACKETS.sub(
        lambda mark: ANY_KEY.sub(lambda key: whole.get(key[0], key[0]), mark[0]), text
    )


def _quoted(text: str, citations: Sequence[Citation]) -> tuple[Statement, ...]:
    """The statements of an answer in the documents' own words, as it is shown."""
    if citations:
        first = citations[-1].key
    else:
        first = None
    found: list[Statement] = []
    for start, end in reversed(sentence_spans(text)):
        said = text[start:end].strip()
        keys = [key for mark in KEYS_IN_BRACKETS.finditer(said) for key in ANY_KEY.findall(mark[0])]
        first = keys[0] if keys else first
        if _states(KEYS_IN_BRACKETS.sub("", said)):
            found.append(Statement(said, "cited", first))
    return tuple(reversed(found))


def without_added(text: str, statements: Sequence[Statement], prompt: Prompt) -> str:
    """An answer without the keys that the check added: as the model wrote it. text, statements: with whole
    keys.
    """
    pieces: list[str] = []
    position = 0
    for one in statements:
        at = text.find(one.text, position)
        if at >= 0:
            pieces += [
                text[position:at],
                _without_key(one.text, prompt) if one.status == "cited_by_check" else one.text,
            ]
            position = at + len(one.text)
    return "".join([*pieces, text[position:]])


def _without_key(said: str, prompt: Prompt) -> str:
    """As `_with_key` was given it."""
    for key in prompt.sources:
        if said.endswith((f" [{key}]", f"[{key}] |")):
            if said.endswith("|"):
                return f"{said[: -len(key) - 4]}|"
            return said[: -len(key) - 3]
    return said


# ---------------------------------------------------------------- each sentence by itself


def _judged(text: str, prompt: Prompt) -> list[_ModelSentence]:
    """Every sentence with its status."""
    known = {key.casefold(): key for key in prompt.sources}
    sentences = [_sentence(text, start, end, known) for start, end in _spans(text, known)]
    checks = _checks_of(text, sentences, check_answer(text, prompt)[2])
    given = stems_of(
        " ".join(
            [
                prompt.question,
                *(f"{hit.document} {hit.context} {hit.page_text}" for hit in prompt.sources.values()),
            ]
        )
    )
    around = _Around(sentences)
    judged: list[_ModelSentence] = []
    # From the end, for a line that leads a list in is judged by what follows it.
    for at in range(len(sentences) - 1, -1, -1):
        one = sentences[at]
        below = judged[-1] if judged else None
        if one.keys:
            one = replace(one, status="cited", rests_on=one.keys[0])
        elif _states(one.text) and not (
            _is_table_head(sentences, at) or _announces(one.text, below, given) or _lacks(one.text, given)
        ):
            one = _shared(one, prompt, around.governing(at)) or _looked_up(
                one, prompt, around.keys(at), checks[at], leads=_leads_up(one.text, below)
            )
        judged.append(one)
    return judged[::-1]


def _sentence(text: str, start: int, end: int, known: Mapping[str, str]) -> _ModelSentence:
    said = text[start:end]
    keys = [found[0] for found in ANY_KEY.finditer(said)]
    return _ModelSentence(
        start, end, said, tuple(known[key.casefold()] for key in keys if key.casefold() in known)
    )


def _spans(text: str, known: Mapping[str, str]) -> list[tuple[int, int]]:
    """Of each sentence: with the keys that stand alone below it, and without what it says behind its last
    key, which is a sentence of its own.
    """
    joined: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if (
            joined
            and KEYS_IN_BRACKETS.search(text, start, end)
            and not _LETTER.search(KEYS_IN_BRACKETS.sub("", text[start:end]))
        ):
            start = joined.pop()[0]
        joined.append((start, end))
    return [span for start, end in joined for span in _parted(text, start, end, known)]


def _parted(text: str, start: int, end: int, known: Mapping[str, str]) -> list[tuple[int, int]]:
    """A sentence, and what it says behind its last key. A row of a table is one, as is what has its key in
    the words that open it: "According to [S1]".
    """
    keys = [found for found in ANY_KEY.finditer(text, start, end) if found[0].casefold() in known]
    if not keys or text[start:end].lstrip().startswith("|"):
        return [(start, end)]
    before = comparable_words(KEYS_IN_BRACKETS.sub("", text[start : keys[-1].start()]))
    opens = len(before.texts) < MIN_QUOTE_WORDS and not any(word[0].isdigit() for word in before.texts)
    bracket = next(
        (
            found.end()
            for found in KEYS_IN_BRACKETS.finditer(text, start, end)
            if found.end() > keys[-1].start()
        ),
        keys[-1].end(),
    )
    cut = _BEHIND_KEY.match(text, bracket, end)
    if (
        opens
        or cut is None
        or _OPENING.match(text, start, keys[-1].start())
        or _ABSENT.fullmatch(text, cut.end(), end)
    ):
        return [(start, end)]
    if _OF_EXCERPTS.match(text, start, keys[-1].start()) and _BUT_NOT.fullmatch(text, cut.end(), end):
        return [(start, end)]
    if telling_words(comparable_words(KEYS_IN_BRACKETS.sub("", text[cut.end() : end]))) < FEWEST_TELLING:
        return [(start, end)]
    return [(start, cut.end()), (cut.end(), end)]


def _checks_of(
    text: str, sentences: Sequence[_ModelSentence], numbers: Sequence[NumberCheck]
) -> list[list[NumberCheck]]:
    """The checks of each sentence's figures; none where figures and checks are not the same."""
    figures = find_figures(ANY_KEY.sub(lambda key: " " * len(key[0]), text))
    found: list[list[NumberCheck]] = [[] for _ in sentences]
    starts = [one.start for one in sentences]
    for figure, check in zip(figures, numbers, strict=True) if len(figures) == len(numbers) else ():
        found[bisect_right(starts, figure.start) - 1].append(check)
    return found


def _states(text: str) -> bool:
    """Whether a sentence states anything: it is no question, and has a figure or some words that tell."""
    said = text.strip(" \n\t*_\"'”»)")
    if not said or _is_question(said) or _TABLE_RULE.fullmatch(said) or _YES_OR_NO.fullmatch(said):
        return False
    return (
        telling_words(comparable_words(said)) >= FEWEST_TELLING
        or len(_UNSPACED.findall(said)) >= FEWEST_UNSPACED
        or bool(find_figures(said))
    )


def _lacks(text: str, known: frozenset[str]) -> bool:
    """Whether a sentence only says what the excerpts do not have, and of what they have nothing that is
    new. known: words of the question and the pages.
    """
    found = _LACKING.fullmatch(text.strip())
    if found:
        has = found["has"] or ""
    else:
        has = ""
    return (
        found is not None
        and not VERB.search(has)
        and stems_of(has) <= known
        and all(_YEAR.fullmatch(figure.text) for figure in find_figures(text))
    )


def _is_question(said: str) -> bool:
    """Whether a sentence asks: "Wrong: the minister was bribed?" has its verb behind what it speaks of,
    and does not.
    """
    if not said.endswith(("?", "？")):
        return False
    verb = VERB.search(said)
    return (
        verb is None
        or bool(_ASKS.search(said[: verb.end()]))
        or telling_words(comparable_words(said[: verb.start()])) == 0
    )


def _is_table_head(sentences: Sequence[_ModelSentence], at: int) -> bool:
    """Whether a row of a table in Markdown has the rule below it that parts the head from the rest."""
    if at + 1 < len(sentences):
        following = sentences[at + 1].text.strip()
    else:
        following = ""
    return (
        sentences[at].text.lstrip().startswith("|")
        and following.startswith("|")
        and _TABLE_RULE.fullmatch(following) is not None
    )


def _announces(text: str, below: _ModelSentence | None, known: frozenset[str]) -> bool:
    """Whether a heading, or a line that leads in what stands below it, says nothing of its own. known:
    words of the question and of the pages.
    """
    said = text.strip()
    leads = said.rstrip("*_ ").endswith((":", "："))
    if (
        not (leads or _HEADING.match(said))
        or find_figures(said)
        or below is None
        or below.status == "unsupported"
    ):
        return False
    if any(_is_sentence(part) for part in BETWEEN_CLAUSES.split(said.rstrip(":：*_ "))):
        return False
    return len(stems_of(said) - known) <= (MOST_NEW_IN_LEAD if leads else MOST_NEW_IN_HEADING)


def _is_sentence(part: str) -> bool:
    """Whether a part of a heading or lead-in says something of something, with a verb; "The main measures
    are" and "It took these measures" only lead in.
    """
    if _LEADING.search(part) or _ASKS.search(part):
        return False
    verb = VERB.search(part) or PAST.search(part)
    return (
        verb is not None
        and telling_words(comparable_words(part[: verb.start()])) > 0
        and bool(_LETTER.search(part[verb.end() :]))
    )


# ---------------------------------------------------------------- looked up in the pages


class _Around:
    """What stands around each sentence, read once: keys, paragraphs and the lines that lead lists in."""

    def __init__(self, sentences: Sequence[_ModelSentence]) -> None:
        self.sentences = sentences
        self.places: dict[str, list[int]] = {}
        for at, one in enumerate(sentences):
            for key in dict.fromkeys(one.keys):
                self.places.setdefault(key, []).append(at)
        self.keyed = [at for at, one in enumerate(sentences) if one.keys]
        # Those that end a paragraph: with a blank line behind them.
        self.ends = [
            at for at, one in enumerate(sentences) if one.text[len(one.text.rstrip()) :].count("\n") > 1
        ]
        self.leads = [at for at, one in enumerate(sentences) if not _ITEM.match(one.text)]

    def keys(self, at: int) -> list[str]:
        """Keys of the sentences around, the nearest first: of those after it before those ahead of it."""
        nearest: list[tuple[int, bool, int, str]] = []
        for key, places in self.places.items():
            after = bisect_left(places, at)
            beside = min(
                (abs(other - at), other < at, other) for other in places[max(0, after - 1) : after + 1]
            )
            nearest.append((*beside[:2], self.sentences[beside[2]].keys.index(key), key))
        return [key for *_, key in sorted(nearest)]

    def governing(self, at: int) -> str:
        """The key that is meant for a sentence of a list or a paragraph too: of the line that leads its list
        in, behind its last item, or at the paragraph's end where it is the only one; "" for none."""
        ended = bisect_left(self.ends, at)
        if ended:
            first = self.ends[ended - 1] + 1
        else:
            first = 0
        if ended < len(self.ends):
            last = self.ends[ended]
        else:
            last = len(self.sentences) - 1
        behind = bisect_left(self.keyed, at)
        if behind < len(self.keyed) and self.keyed[behind] <= last:
            following = self.sentences[self.keyed[behind]].keys[0]
        else:
            following = ""
        if not _ITEM.match(self.sentences[at].text):
            ahead = bisect_left(self.keyed, first)
            alone = ahead == len(self.keyed) or self.keyed[ahead] >= last
            return following if alone else ""
        above = bisect_left(self.leads, at)
        if above:
            lead = self.sentences[self.leads[above - 1]]
        else:
            lead = None
        if (
            lead is not None
            and lead.keys
            and KEYS_IN_BRACKETS.sub("", lead.text).rstrip(" \n*_").endswith(":")
        ):
            return lead.keys[0]
        return following


def _shared(one: _ModelSentence, prompt: Prompt, key: str) -> _ModelSentence | None:
    """The sentence as cited by a key that it shares with others, where that page has its words and its
    figures; None where it does not.
    """
    if not key:
        return None
    said = one.text.strip()
    hit = prompt.sources[key]
    words = stems_of(_without_item(said))
    page = page_of(hit).stems
    if len(words & page.all) < LEAST_SHARED * len(words) or not all(
        has_clause(clause, page) for clause in clauses_of(_without_item(said))
    ):
        return None
    if any(number.status in AGAINST for number in check_answer(f"{said} [{key}]", prompt)[2]):
        return None
    return replace(one, status="cited", rests_on=key)


def _looked_up(
    one: _ModelSentence, prompt: Prompt, near: Sequence[str], checks: Sequence[NumberCheck], *, leads: bool
) -> _ModelSentence:
    """The sentence with what it rests on. near: keys that stand nearby, which go first. checks: of its
    figures, with the whole answer in view. leads: whether it leads up to a sentence of its paragraph that has
    a key."""
    if key := _page_of(
        _without_item(one.text.strip()), prompt, list(dict.fromkeys([*near, *prompt.sources]))
    ):
        return replace(one, status="cited_by_check", rests_on=key, added=key)
    worked_out = any(check.status == "derived" for check in checks) and all(
        check.status in FINE for check in checks
    )
    if worked_out and near:
        return replace(one, status="cited", rests_on=near[0])
    if leads and not checks and _sums_up(one.text.strip(), prompt, near[0]):
        return replace(one, status="cited_by_check", rests_on=near[0], added=near[0])
    return replace(one, status="unsupported")


def _leads_up(text: str, below: _ModelSentence | None) -> bool:
    """Whether a sentence is no heading, and the next one of its paragraph has a key."""
    said = text.strip()
    apart = (
        text[len(text.rstrip()) :].count("\n") > 1
        or said.endswith((":", "："))
        or _HEADING.match(said)
        or _ITEM.match(text)
    )
    return below is not None and bool(below.keys) and not apart


def _sums_up(said: str, prompt: Prompt, key: str) -> bool:
    """Whether a sentence without a figure says in words of its own what may stand on the page that the
    next one is cited for.
    """
    words = stems_of(said)
    there = page_of(prompt.sources[key]).stems.all
    if (
        telling_words(comparable_words(said)) > MOST_SUMMED_UP
        or len(words & there) < LEAST_SUMMED_UP * len(words)
        or not all(clause.core <= there for clause in clauses_of(said))
    ):
        return False
    told, told_there = (
        frozenset(some.texts) for some in (comparable_words(said), page_of(prompt.sources[key]).words)
    )
    if any(told & side and not told_there & side for pair in OPPOSITES for side in pair):
        return False
    return not check_answer(f"{said} [{key}]", prompt)[1][-1].doubted


def _page_of(said: str, prompt: Prompt, keys: Sequence[str]) -> str:
    """The key of the page that has the most of a sentence near the passage located for it, the first of equal
    ones; "" for none.

    Few pages are looked at in earnest, which costs: those that have its figures' digits, and of them those
    that have most of its words anywhere.
    """
    words = stems_of(said)
    clauses = clauses_of(said)
    shares = {
        key: len(words & page_of(prompt.sources[key]).stems.all) / len(words) if words else 1.0
        for key in keys
    }
    digits = [figure.text for figure in find_figures(said)]
    printed = {key: sum(figure in prompt.sources[key].page_text for figure in digits) for key in keys}
    likely = (
        key
        for key in sorted(keys, key=lambda key: (-printed[key], -shares[key]))
        if shares[key] >= LEAST_NEAR
    )
    best, found = "", 0.0
    for key in islice(
        (
            key
            for key in likely
            if all(has_clause(clause, page_of(prompt.sources[key]).stems) for clause in clauses)
        ),
        MOST_LOOKED_AT,
    ):
        if shares[key] > found:
            share = _share_found(said, words, key, prompt)
        else:
            share = 0.0
        if share >= LEAST_NEAR and share > found:
            best, found = (key, share)
        else:
            best, found = (best, found)
    return best


def _share_found(said: str, words: frozenset[str], key: str, prompt: Prompt) -> float:
    """0-1: the share of a sentence's words that stand near the passage located for it on a page; 0 where
    none is, or one of its figures is not there.
    """
    _, citations, numbers = check_answer(f"{said} [{key}]", prompt)
    citation = citations[-1]
    if citation.doubted or any(number.status in AGAINST for number in numbers):
        return 0.0
    hit = prompt.sources[key]
    around = hit.page_text[max(0, citation.start - NEAR) : citation.end + NEAR]
    if words:
        return len(words & stems_of(f"{hit.document} {hit.context} {around}")) / len(words)
    return 1.0


def _without_item(said: str) -> str:
    """A sentence without the bullet, number or letter of its item."""
    mark = _ITEM.match(said)
    if mark:
        return said[mark.end() :]
    return said


def _statement(one: _ModelSentence, prompt: Prompt) -> Statement:
    said = with_short_keys(_with_key(one.text.strip(), one.added), prompt)
    return Statement(said, one.status, one.rests_on.split("-")[0] if one.rests_on else None)
