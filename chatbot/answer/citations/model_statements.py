"""Tells which sentences of a chat model's answer rest on a page.

A sentence rests on one by its own key, by a key that the check adds, or on none.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chatbot.answer.citations.citation_keys import ANY_KEY, KEYS_IN_BRACKETS
from chatbot.answer.citations.citation_spans import check_answer, with_short_keys
from chatbot.answer.citations.clauses import BETWEEN_CLAUSES, PAST, VERB, Clause, clauses_of, has_clause
from chatbot.answer.citations.latex import plain_arithmetic
from chatbot.evidence.page import page_of
from chatbot.evidence.page_sentences import NEAR, stems_of
from chatbot.evidence.word_runs import MIN_QUOTE_WORDS, comparable_words, distinctive_words
from chatbot.records import FINE, MODEL_TEXT, Citation, Hit, NumberCheck, Prompt, Statement
from ingestion.language.list_items import SAFE_ITEM
from ingestion.language.numbers import find_figures
from ingestion.language.opposites import OPPOSITES
from ingestion.language.periods import YEAR
from ingestion.language.sentences import sentence_spans
from ingestion.precedence import giving_way

__all__ = [
    "FEWEST_TELLING",
    "FEWEST_UNSPACED",
    "UNSPACED",
    "CheckedText",
    "check_behind",
    "check_quoted",
    "check_statements",
    "with_key",
    "with_whole_keys",
    "without_added",
]

# Fewer telling words, and no figure, state nothing: "Yes.", "In short".
FEWEST_TELLING = 2
# Nor do fewer letters of a script without blanks: "是的。".
FEWEST_UNSPACED = 4
# Letters of scripts that put no blanks between words.
UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
# Share of a sentence's words that must stand near the passage located for it. Otherwise four words in a row
# that any page of the kind has would pass for all of it.
LEAST_NEAR = 0.4
# Pages on which one sentence is looked up with all checks.
MOST_LOOKED_AT = 4
# Share of a sentence's words that must stand anywhere on the page that its list or paragraph is cited for.
LEAST_SHARED = 0.75
# Share of a sentence's words that must stand on the page of the sentence that it leads up to.
LEAST_SUMMED_UP = 0.5
# Telling words in such a sentence; a longer one states something of its own.
MOST_SUMMED_UP = 7
# Verdicts that speak against a figure. Others leave open whether another page or another wording has it.
AGAINST = frozenset({"contradicted", "unsupported"})
# Words of a heading, and of a line that leads a list in, that neither the question nor the pages have. More
# state something new.
MOST_NEW_IN_HEADING, MOST_NEW_IN_LEAD = 2, 3

_HEADING = re.compile(r"#{1,6}\s|(?:\*\*|__)[^*_]+(?:\*\*|__)\s*$")
_LETTER = re.compile(r"[^\W_]")
# What belongs to a key rather than to the words behind it.
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
    """A checked answer.

    text: as shown, with the keys that were added.
    citations, numbers, statements: as in Answer.
    """

    text: str
    citations: tuple[Citation, ...]
    numbers: tuple[NumberCheck, ...]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class _ModelSentence:
    """A sentence of an answer.

    start, end: its offsets in the answer.
    text: as the model wrote it.
    keys: its own keys, in order.
    status: as in Statement; "" where it states nothing.
    rests_on: the key of the page that it rests on.
    added: the key that the check found for it.
    """

    start: int
    end: int
    text: str
    keys: tuple[str, ...]
    status: str = ""
    rests_on: str | None = None
    added: str = ""


def check_quoted(text: str, prompt: Prompt) -> CheckedText:
    """Checks an answer in the documents' own words.

    text: with whole keys, such as "[S1-7f3a]". Every statement is cited, by its own key or the next one.
    """
    shown, citations, numbers = check_answer(text, prompt)
    return CheckedText(shown, citations, numbers, _quoted(shown, citations))


def check_statements(text: str, prompt: Prompt) -> CheckedText:
    """Judges every sentence of a chat model's answer that states something.

    text: as the model wrote it, with whole keys.

    A sentence without a key is looked up in all pages of the prompt, and where it is found gets the key of
    the page ("cited_by_check"). One that is worked out from figures which stand there rests on what is cited
    near it. All else is "unsupported", and the keys of its neighbours do not count for its figures.
    """
    text = plain_arithmetic(text)
    sentences = _judged(text, prompt)
    pieces: list[str] = []
    uncited: list[tuple[int, int]] = []
    position = length = 0
    for sentence in sentences:
        end = sentence.start + len(sentence.text.rstrip())
        piece = with_key(text[position:end], sentence.added)
        if sentence.status == "unsupported":
            uncited.append((length + sentence.start - position, length + len(piece)))
        pieces.append(piece)
        length += len(piece)
        position = end
    pieces.append(text[position:])
    shown, citations, numbers = check_answer("".join(pieces), prompt, uncited=uncited)
    statements = tuple(_statement(sentence, prompt) for sentence in sentences if sentence.status)
    return CheckedText(shown, citations, numbers, statements)


def with_key(text: str, key: str) -> str:
    """A text with the key that was added to it, "" for none; in a table row within its last cell."""
    if not key:
        return text
    if text.endswith("|"):
        return f"{text[:-1]}[{key}] |"
    return f"{text} [{key}]"


def check_behind(own: str, said: str, prompt: Prompt) -> CheckedText:
    """Checks the documents' own words with a model's text behind them, of which nothing was found.

    own: the documents' words, with whole keys.
    said: the model's text.
    """
    quoted = check_quoted(own, prompt)
    unfound = check_statements(said, prompt)
    text = f"{own}\n\n{MODEL_TEXT}\n\n{said}"
    behind = (len(own), len(text))
    shown, citations, numbers = check_answer(text, prompt, uncited=[behind])
    return CheckedText(shown, citations, numbers, (*quoted.statements, *unfound.statements))


def with_whole_keys(text: str, prompt: Prompt) -> str:
    """A shown answer whose keys are all known, as it was before: "[S1]" becomes "[S1-7f3a]"."""
    whole = {key.partition("-")[0]: key for key in prompt.sources}

    def whole_key(key: re.Match[str]) -> str:
        return whole.get(key[0], key[0])

    return KEYS_IN_BRACKETS.sub(lambda mark: ANY_KEY.sub(whole_key, mark[0]), text)


def _quoted(text: str, citations: Sequence[Citation]) -> tuple[Statement, ...]:
    """The statements of an answer in the documents' own words, as it is shown."""
    cited = citations[-1].key if citations else None
    found: list[Statement] = []
    for start, end in reversed(sentence_spans(text)):
        sentence = text[start:end].strip()
        if key := _first_key(sentence):
            cited = key
        if _states(_without_keys(sentence)):
            found.append(Statement(sentence, "cited", cited))
    return tuple(reversed(found))


def _first_key(text: str) -> str:
    """The first key in brackets of a text; "" for none."""
    bracket = KEYS_IN_BRACKETS.search(text)
    return ANY_KEY.findall(bracket[0])[0] if bracket else ""


def _without_keys(text: str) -> str:
    return KEYS_IN_BRACKETS.sub("", text)


def without_added(text: str, statements: Sequence[Statement], prompt: Prompt) -> str:
    """An answer as the model wrote it, without the keys that the check added.

    text, statements: with whole keys.
    """
    pieces: list[str] = []
    position = 0
    for statement in statements:
        start = text.find(statement.text, position)
        if start < 0:
            continue
        written = statement.text
        if statement.status == "cited_by_check":
            written = _without_key(written, prompt)
        pieces += [text[position:start], written]
        position = start + len(statement.text)
    return "".join([*pieces, text[position:]])


def _without_key(text: str, prompt: Prompt) -> str:
    """Undoes `with_key`."""
    for key in prompt.sources:
        if text.endswith(f"[{key}] |"):
            return f"{text[: -len(key) - 4]}|"
        if text.endswith(f" [{key}]"):
            return text[: -len(key) - 3]
    return text


# ---------------------------------------------------------------- each sentence by itself


def _judged(text: str, prompt: Prompt) -> list[_ModelSentence]:
    """Every sentence with its status."""
    known = {key.casefold(): key for key in prompt.sources}
    sentences = [_sentence(text, *span, known) for span in _spans(text, known)]
    checks = _checks_of(text, sentences, check_answer(text, prompt)[2])
    pages = (f"{hit.document} {hit.context} {hit.page_text}" for hit in prompt.sources.values())
    given = stems_of(" ".join([prompt.question, *pages]))
    around = _Around(sentences)
    judged: list[_ModelSentence] = []
    # From the end, for a line that leads a list in is judged by what follows it.
    for index in giving_way(range(len(sentences) - 1, -1, -1)):
        sentence = sentences[index]
        below = judged[-1] if judged else None
        if sentence.keys:
            judged.append(replace(sentence, status="cited", rests_on=sentence.keys[0]))
        elif _states_nothing(sentences, index, below, given):
            judged.append(sentence)
        else:
            found = _shared(sentence, prompt, around.governing(index))
            if found is None:
                near = around.keys(index)
                leads = _leads_up(sentence.text, below)
                found = _looked_up(sentence, prompt, near, checks[index], leads=leads)
            judged.append(found)
    return judged[::-1]


def _states_nothing(
    sentences: Sequence[_ModelSentence], index: int, below: _ModelSentence | None, given: frozenset[str]
) -> bool:
    """Whether a sentence without a key needs no page. given: words of the question and the pages."""
    text = sentences[index].text
    if not _states(text) or _is_table_head(sentences, index):
        return True
    return _announces(text, below, given) or _lacks(text, given)


def _sentence(text: str, start: int, end: int, known: Mapping[str, str]) -> _ModelSentence:
    sentence = text[start:end]
    written = [key.casefold() for key in ANY_KEY.findall(sentence)]
    keys = tuple(known[key] for key in written if key in known)
    return _ModelSentence(start, end, sentence, keys)


def _spans(text: str, known: Mapping[str, str]) -> list[tuple[int, int]]:
    """The offsets of each sentence, with the keys that stand alone below it.

    What a sentence says behind its last key is a sentence of its own.
    """
    joined: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if joined and _is_of_keys_only(text, start, end):
            start = joined.pop()[0]
        joined.append((start, end))
    return [span for start, end in joined for span in _parted(text, start, end, known)]


def _is_of_keys_only(text: str, start: int, end: int) -> bool:
    if not KEYS_IN_BRACKETS.search(text, start, end):
        return False
    return not _LETTER.search(_without_keys(text[start:end]))


def _parted(text: str, start: int, end: int, known: Mapping[str, str]) -> list[tuple[int, int]]:
    """A sentence, and what it says behind its last key.

    A row of a table is never parted, nor a sentence with its key in the words that open it: "According to
    [S1]".
    """
    whole = [(start, end)]
    written = ANY_KEY.finditer(text, start, end)
    keys = [key for key in written if key[0].casefold() in known]
    if not keys or text[start:end].lstrip().startswith("|"):
        return whole
    last_key = keys[-1].start()
    if _opens_sentence(text, start, last_key):
        return whole
    bracket_end = keys[-1].end()
    for bracket in KEYS_IN_BRACKETS.finditer(text, start, end):
        if bracket.end() > last_key:
            bracket_end = bracket.end()
            break
    match = _BEHIND_KEY.match(text, bracket_end, end)
    if match is None:
        return whole
    cut = match.end()
    if _ABSENT.fullmatch(text, cut, end):
        return whole
    if _OF_EXCERPTS.match(text, start, last_key) and _BUT_NOT.fullmatch(text, cut, end):
        return whole
    behind = _without_keys(text[cut:end])
    if distinctive_words(comparable_words(behind)) < FEWEST_TELLING:
        return whole
    return [(start, cut), (cut, end)]


def _opens_sentence(text: str, start: int, key: int) -> bool:
    """Whether the words before a sentence's last key only open it."""
    before = comparable_words(_without_keys(text[start:key])).texts
    if len(before) < MIN_QUOTE_WORDS and not any(word[0].isdigit() for word in before):
        return True
    return _OPENING.match(text, start, key) is not None


def _checks_of(
    text: str, sentences: Sequence[_ModelSentence], numbers: Sequence[NumberCheck]
) -> list[list[NumberCheck]]:
    """The checks of each sentence's figures; none where figures and checks are not the same."""
    figures = find_figures(ANY_KEY.sub(lambda key: " " * len(key[0]), text))
    found: list[list[NumberCheck]] = [[] for _ in sentences]
    if len(figures) != len(numbers):
        return found
    starts = [sentence.start for sentence in sentences]
    for figure, check in zip(figures, numbers, strict=True):
        found[bisect_right(starts, figure.start) - 1].append(check)
    return found


def _states(text: str) -> bool:
    """Whether a sentence states anything: it is no question, and has a figure or some telling words."""
    stripped = text.strip(" \n\t*_\"'”»)")
    if not stripped or _is_question(stripped):
        return False
    if _TABLE_RULE.fullmatch(stripped) or _YES_OR_NO.fullmatch(stripped):
        return False
    if distinctive_words(comparable_words(stripped)) >= FEWEST_TELLING:
        return True
    if len(UNSPACED.findall(stripped)) >= FEWEST_UNSPACED:
        return True
    return bool(find_figures(stripped))


def _lacks(text: str, known: frozenset[str]) -> bool:
    """Whether a sentence only says what the excerpts lack, and nothing new of what they have.

    known: words of the question and the pages.
    """
    found = _LACKING.fullmatch(text.strip())
    if found is None:
        return False
    has = found["has"] or ""
    if VERB.search(has) or not stems_of(has) <= known:
        return False
    return all(_YEAR.fullmatch(figure.text) for figure in find_figures(text))


def _is_question(text: str) -> bool:
    """Whether a sentence asks something.

    "Wrong: the minister was bribed?" does not: its verb stands behind what it speaks of.
    """
    if not text.endswith(("?", "？")):
        return False
    verb = VERB.search(text)
    if verb is None or _ASKS.search(text[: verb.end()]):
        return True
    return distinctive_words(comparable_words(text[: verb.start()])) == 0


def _is_table_head(sentences: Sequence[_ModelSentence], index: int) -> bool:
    """Whether a sentence is the head of a Markdown table: a row with the rule below it."""
    if not sentences[index].text.lstrip().startswith("|"):
        return False
    if index + 1 == len(sentences):
        return False
    following = sentences[index + 1].text.strip()
    return following.startswith("|") and _TABLE_RULE.fullmatch(following) is not None


def _announces(text: str, below: _ModelSentence | None, known: frozenset[str]) -> bool:
    """Whether a heading, or a line that leads in what stands below it, says nothing of its own.

    known: words of the question and of the pages.
    """
    line = text.strip()
    leads = line.rstrip("*_ ").endswith((":", "："))
    if not leads and not _HEADING.match(line):
        return False
    if below is None or below.status == "unsupported" or find_figures(line):
        return False
    if any(_is_sentence(part) for part in BETWEEN_CLAUSES.split(line.rstrip(":：*_ "))):
        return False
    most_new = MOST_NEW_IN_LEAD if leads else MOST_NEW_IN_HEADING
    return len(stems_of(line) - known) <= most_new


def _is_sentence(part: str) -> bool:
    """Whether a part of a heading or lead-in says something about something, with a verb.

    "The main measures are" and "It took these measures" only lead in.
    """
    if _LEADING.search(part) or _ASKS.search(part):
        return False
    verb = VERB.search(part) or PAST.search(part)
    if verb is None:
        return False
    if not distinctive_words(comparable_words(part[: verb.start()])):
        return False
    return bool(_LETTER.search(part[verb.end() :]))


# ---------------------------------------------------------------- looked up in the pages


class _Around:
    """What stands around each sentence, read once: keys, paragraphs and the lines that lead lists in."""

    def __init__(self, sentences: Sequence[_ModelSentence]) -> None:
        self.sentences = sentences
        self.places: dict[str, list[int]] = {}
        for index, sentence in enumerate(sentences):
            for key in dict.fromkeys(sentence.keys):
                self.places.setdefault(key, []).append(index)
        self.keyed = [index for index, sentence in enumerate(sentences) if sentence.keys]
        self.ends = [index for index, sentence in enumerate(sentences) if _ends_paragraph(sentence.text)]
        self.leads = [index for index, sentence in enumerate(sentences) if not _ITEM.match(sentence.text)]

    def keys(self, index: int) -> list[str]:
        """Keys of the sentences around, the nearest first; of equally near ones those behind it first."""
        nearest: list[tuple[int, bool, int, str]] = []
        for key, places in self.places.items():
            behind = bisect_left(places, index)
            beside = places[max(0, behind - 1) : behind + 1]
            # The nearest place; of two equally near ones, the one behind.
            place = min(beside, key=lambda other: (abs(other - index), other < index))
            position = self.sentences[place].keys.index(key)
            nearest.append((abs(place - index), place < index, position, key))
        return [key for *_, key in sorted(nearest)]

    def governing(self, index: int) -> str:
        """The key that is meant for a sentence of a list or a paragraph too; "" for none.

        It is the key of the line that leads its list in, behind its last item, or at the paragraph's end
        where it is the only one.
        """
        first, last = self._paragraph(index)
        behind = bisect_left(self.keyed, index)
        following = ""
        if behind < len(self.keyed) and self.keyed[behind] <= last:
            following = self.sentences[self.keyed[behind]].keys[0]
        if not _ITEM.match(self.sentences[index].text):
            ahead = bisect_left(self.keyed, first)
            is_alone = ahead == len(self.keyed) or self.keyed[ahead] >= last
            return following if is_alone else ""
        return self._key_of_lead(index) or following

    def _paragraph(self, index: int) -> tuple[int, int]:
        """The first and the last sentence of a sentence's paragraph."""
        paragraph = bisect_left(self.ends, index)
        first = self.ends[paragraph - 1] + 1 if paragraph else 0
        if paragraph < len(self.ends):
            return first, self.ends[paragraph]
        return first, len(self.sentences) - 1

    def _key_of_lead(self, index: int) -> str:
        """The key of the line that leads in the list of an item; "" for none."""
        above = bisect_left(self.leads, index)
        if not above:
            return ""
        lead = self.sentences[self.leads[above - 1]]
        if not lead.keys:
            return ""
        if _without_keys(lead.text).rstrip(" \n*_").endswith(":"):
            return lead.keys[0]
        return ""


def _ends_paragraph(text: str) -> bool:
    """Whether a sentence has a blank line behind it."""
    return text[len(text.rstrip()) :].count("\n") > 1


def _shared(sentence: _ModelSentence, prompt: Prompt, key: str) -> _ModelSentence | None:
    """The sentence as cited by a key that it shares with others.

    None where that page does not have its words and its figures.
    """
    if not key:
        return None
    text = sentence.text.strip()
    hit = prompt.sources[key]
    without_item = _without_item(text)
    words = stems_of(without_item)
    page = page_of(hit).stems
    if len(words & page.all) < LEAST_SHARED * len(words):
        return None
    if not _has_all(clauses_of(without_item), hit):
        return None
    numbers = check_answer(f"{text} [{key}]", prompt)[2]
    if any(number.status in AGAINST for number in numbers):
        return None
    return replace(sentence, status="cited", rests_on=key)


def _looked_up(
    sentence: _ModelSentence,
    prompt: Prompt,
    near: Sequence[str],
    checks: Sequence[NumberCheck],
    *,
    leads: bool,
) -> _ModelSentence:
    """The sentence with what it rests on.

    near: keys that stand nearby, which go first.
    checks: of its figures, with the whole answer in view.
    leads: whether it leads up to a sentence of its paragraph that has a key.
    """
    text = sentence.text.strip()
    keys = list(dict.fromkeys([*near, *prompt.sources]))
    if key := _page_of(_without_item(text), prompt, keys):
        return replace(sentence, status="cited_by_check", rests_on=key, added=key)
    statuses = {check.status for check in checks}
    if near and "derived" in statuses and statuses <= FINE:
        return replace(sentence, status="cited", rests_on=near[0])
    if leads and not checks and _sums_up(text, prompt, near[0]):
        return replace(sentence, status="cited_by_check", rests_on=near[0], added=near[0])
    return replace(sentence, status="unsupported")


def _leads_up(text: str, below: _ModelSentence | None) -> bool:
    """Whether a sentence is no heading, and the next one of its paragraph has a key."""
    if below is None or not below.keys or _ends_paragraph(text):
        return False
    stripped = text.strip()
    if stripped.endswith((":", "：")):
        return False
    return not _HEADING.match(stripped) and not _ITEM.match(text)


def _sums_up(text: str, prompt: Prompt, key: str) -> bool:
    """Whether a sentence without a figure says in its own words what the next one's page may have."""
    page = page_of(prompt.sources[key])
    words = stems_of(text)
    compared = comparable_words(text)
    if distinctive_words(compared) > MOST_SUMMED_UP:
        return False
    if len(words & page.stems.all) < LEAST_SUMMED_UP * len(words):
        return False
    if not all(clause.core <= page.stems.all for clause in clauses_of(text)):
        return False
    if _turns_sense(frozenset(compared.texts), frozenset(page.words.texts)):
        return False
    return not check_answer(f"{text} [{key}]", prompt)[1][-1].doubted


def _turns_sense(words: frozenset[str], page_words: frozenset[str]) -> bool:
    """Whether some words have one of a pair of opposites of which a page has no word."""
    for pair in OPPOSITES:
        for side in pair:
            if words & side and not page_words & side:
                return True
    return False


def _page_of(text: str, prompt: Prompt, keys: Sequence[str]) -> str:
    """The key of the page that has the most of a sentence near the passage located for it; "" for none.

    Of equal pages it is the first.

    A full check costs time, so few pages get one: those that have its figures' digits, and of them those that
    have most of its words anywhere.
    """
    words = stems_of(text)
    clauses = clauses_of(text)
    shares = {key: _share(words, page_of(prompt.sources[key]).stems.all) for key in keys}
    digits = [figure.text for figure in find_figures(text)]
    printed = {key: _printed(digits, prompt.sources[key]) for key in keys}
    ranked = sorted(keys, key=lambda key: (-printed[key], -shares[key]))
    likely = (key for key in ranked if shares[key] >= LEAST_NEAR)
    with_clauses = (key for key in likely if _has_all(clauses, prompt.sources[key]))
    best = ""
    best_share = 0.0
    for key in islice(with_clauses, MOST_LOOKED_AT):
        if shares[key] <= best_share:
            continue
        share = _share_found(text, words, key, prompt)
        if share >= LEAST_NEAR and share > best_share:
            best = key
            best_share = share
    return best


def _printed(digits: Sequence[str], hit: Hit) -> int:
    """How many of some figures a page has, as they are written."""
    return sum(figure in hit.page_text for figure in digits)


def _has_all(clauses: Sequence[Clause], hit: Hit) -> bool:
    """Whether a page has each of a sentence's clauses."""
    page = page_of(hit).stems
    return all(has_clause(clause, page) for clause in clauses)


def _share(words: frozenset[str], there: frozenset[str]) -> float:
    """0-1: the share of some words that stand among others; 1 for no words."""
    if not words:
        return 1.0
    return len(words & there) / len(words)


def _share_found(text: str, words: frozenset[str], key: str, prompt: Prompt) -> float:
    """0-1: the share of a sentence's words that stand near the passage located for it on a page.

    0 where no passage is located, or one of its figures is not there.
    """
    _, citations, numbers = check_answer(f"{text} [{key}]", prompt)
    citation = citations[-1]
    if citation.doubted or any(number.status in AGAINST for number in numbers):
        return 0.0
    if not words:
        return 1.0
    hit = prompt.sources[key]
    around = hit.page_text[max(0, citation.start - NEAR) : citation.end + NEAR]
    return _share(words, stems_of(f"{hit.document} {hit.context} {around}"))


def _without_item(text: str) -> str:
    """A sentence without the bullet, number or letter of its item."""
    mark = _ITEM.match(text)
    if mark:
        return text[mark.end() :]
    return text


def _statement(sentence: _ModelSentence, prompt: Prompt) -> Statement:
    text = with_key(sentence.text.strip(), sentence.added)
    rests_on = sentence.rests_on.split("-")[0] if sentence.rests_on else None
    return Statement(with_short_keys(text, prompt), sentence.status, rests_on)
