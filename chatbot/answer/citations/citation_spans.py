"""Reads an answer's citation keys and finds what each stands for on the cited page."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from chatbot.answer.checks.number_checks import Scope, check_numbers, figures_stating
from chatbot.answer.checks.sentence_arithmetic import REPORTED
from chatbot.answer.citations.altered_words import alteration, has_numbers, repeats
from chatbot.answer.citations.citation_keys import ANY_KEY, KEY, KEYS_IN_BRACKETS
from chatbot.answer.citations.clauses import Clause, clauses_of, is_aside, says_clause, unsupported_clauses
from chatbot.answer.citations.model_refusals import says_absent
from chatbot.answer.citations.printed_matches import instructs_by_name, printed_row, repeats_order
from chatbot.answer.citations.quotation_lookup import (
    copied_passage,
    locate,
    quoted_passage,
    row_behind_head,
    unquoted_passage,
)
from chatbot.evidence.page import PageEvidence, figures_said, page_of
from chatbot.evidence.page_sentences import parted, stems_of
from chatbot.evidence.word_runs import (
    MIN_QUOTE_WORDS,
    STOP_WORDS,
    TELLING_WORDS,
    Words,
    comparable_words,
    distinctive_words,
)
from chatbot.records import FINE, REWORDED, Citation, Hit, NumberCheck, Prompt
from ingestion.language.list_items import SAFE_ITEM
from ingestion.language.numbers import Figure
from ingestion.language.sentences import sentence_spans

__all__ = ["check_answer", "with_short_keys"]

# Characters before a key. What lies further back is another statement, whatever its punctuation.
LONGEST_STATEMENT = 1_000
# What is copied from the page may be a whole list.
LONGEST_COPIED = 5_000
UNKNOWN_KEY = "there is no source with this number"
PARAPHRASED = "no passage on the page says it in these words"
NOT_LOCATED = "no matching passage was found on the page"
FIGURE_ALONE = "only its figure or date was found on the page, not what it says about it"
IN_PART = "only part of it is on the page in these words"
# Reasons given for a statement that does not have the page's wording, and may be right.
FREELY_PUT = frozenset({PARAPHRASED, NOT_LOCATED, FIGURE_ALONE, IN_PART})
# Share of the words of a line leading a list in that its page must have.
LEAST_LED_IN = 0.4
# Share of a statement's words that each of the pages cited together for it must have.
LEAST_OF_EACH = 0.3
# Share of a statement's words that must be quoted for it to count as a quotation. Fewer are a name or a term
# in quotation marks, and what is said of it is not quoted.
LEAST_QUOTED = 0.5
OTHER_HEAD = "its row is on the page, but not in that column"
UNKNOWN_NAME = "none of the pages mentions “{}”"
UNSAID = "the pages cited for it do not mention “{}”"
MISSING = "it says what is missing, which cannot be checked: read the page"
# Its words stand there with another figure.
OTHER_FIGURE = "its words are on the page, but not with {}"
CONTRADICTED = "one of its figures is contradicted"
NOTHING_STATED = "there is no statement before this citation"
# Verdicts on a figure that do not speak against the statement around it.
_NOT_CONTRADICTED = FINE | {"present_elsewhere", "unsupported"}

_Span = tuple[int, int]
# Offsets, reason ("" where verified) and quote.
_Passage = tuple[_Span, str, str]

_MARK = re.compile(rf"{KEYS_IN_BRACKETS.pattern}|[(【]?{KEY.pattern}[)】]?")

_QUOTATION = re.compile(r'"[^"]*+"|“[^”“]*+”|„[^“”„]*+[“”]|«[^»«]*+»')
# "The cash flow statement shows a repayment": says where it stands, which is no part of the statement.
_FRAME = re.compile(
    r"^\W*(?:According to (?:the|this) (?:[\w’'-]+ ){0,5}?[\w’'-]+,|"
    r"(?:The|This) (?:[\w’'-]+ ){0,3}?(?:excerpt|document|source|page|passage|section|table|statement|note"
    r"|report|filing|speech|text|chart)s? "
    r"(?:of (?:the )?(?:[\w’'-]+ ){1,3})?"
    r"(?:also )?(?:show|state|say|give|report|list|put|note|describe|explain|add|round)s?\b(?: that)?)"
)
_ELLIPSIS = re.compile(r"\[?\.\.\.+\]?|\[?…\]?")
# Words with a capital letter in a row: a name, or the head of an item.
_CAPITAL = r"(?:[A-Z]-)?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ][^\W\d_]*"
_NAME = re.compile(rf"\b{_CAPITAL}(?:(?: of| and| for| the| on|,)? (?:{_CAPITAL}|[A-Z]{{2,}}\b))+")
_OPENS_SENTENCE = re.compile(
    r"([A-Z][a-z]+(?=,)|Since|Once|Before|After|Until|Unless|Although|Though|While|When|Where|Because"
    r"|Despite|Both|Only|Under|Across)\b"
)
# The rows of a table from a position on, and those at a text's end.
_ROWS = re.compile(r"\s*(?:\|[^\n]*\n)+\s*")
_TABLE_AT_END = re.compile(r"(?m:^)\|[^\n]*(?:\n\|[^\n]*)*\Z")
_NAME_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Mark:
    """Keys that stand in one pair of brackets.

    start, end: offsets of the brackets.
    keys: each key as written, with the key that was given, or "".
    group: index of the first of the marks that stand side by side with it.
    """

    start: int
    end: int
    keys: tuple[tuple[str, str], ...]
    group: int

    @property
    def is_known(self) -> bool:
        """Whether one of its keys was given."""
        return any(key for _, key in self.keys)


class _JudgedFigure(NamedTuple):
    """A figure of the answer.

    start: its offset.
    status: the verdict of its check.
    text: as the check gives it.
    """

    start: int
    status: str
    text: str


def check_answer(
    text: str, prompt: Prompt, *, uncited: Sequence[tuple[int, int]] = ()
) -> tuple[str, tuple[Citation, ...], tuple[NumberCheck, ...]]:
    """The shown text, its citations and its number checks.

    text: a model's or the extractive answer, with keys such as "[S1-7f3a]". Known keys are shown as "[S1]"
    each, unknown ones as written.
    citations: one for each key in the order of the text, so that the n-th mark shown belongs to the n-th
    citation. Their offsets are into hit.page_text (hit.text where that is empty).
    uncited: stretches of the text that do not overlap. No key beside them is cited for their figures.
    """
    marks = _marks(text, prompt)
    answer = _Answer(text, marks, prompt, sorted(uncited))
    numbers = check_numbers(answer.blanked, answer.scope, prompt)
    figures = figures_said(answer.blanked, [page_of(hit) for hit in prompt.sources.values()])
    answer.figures = [
        _JudgedFigure(figure.start, check.status, check.text)
        for figure, check in zip(figures, numbers, strict=True)
    ]
    supported = (check.citation for check in numbers if check.status == "supported")
    answer.pages_with_figures = frozenset(supported)
    citations = tuple(citation for mark in marks for citation in answer.citations(mark))
    return _shown(text, marks), citations, numbers


def with_short_keys(text: str, prompt: Prompt) -> str:
    """The text as check_answer shows it, without its checks."""
    return _shown(text, _marks(text, prompt))


# ---------------------------------------------------------------- keys


def _marks(text: str, prompt: Prompt) -> list[_Mark]:
    """Bracketed keys of any kind, and known keys however they are written."""
    known = {key.casefold(): key for key in prompt.sources}
    found: list[_Mark] = []
    for match in _MARK.finditer(text):
        written = ANY_KEY.findall(match[0])
        keys = tuple((key, known.get(key.casefold(), "")) for key in written)
        if not match[0].startswith("[") and not keys[0][1]:
            continue
        group = len(found)
        if found and _are_side_by_side(text, found[-1].end, match.start()):
            group = found[-1].group
        found.append(_Mark(match.start(), match.end(), keys, group))
    return found


def _are_side_by_side(text: str, end: int, start: int) -> bool:
    """Whether only a few blanks and commas stand between the end of a mark and the start of the next."""
    if start - end > 3:
        return False
    return not text[end:start].strip(" ,;")


def _shown(text: str, marks: list[_Mark]) -> str:
    """The text with short keys: "[S1]" for each key that was given. A bracket with none stays as written."""
    known = [mark for mark in marks if mark.is_known]
    return _with_marks(text, known, _shown_keys)


def _shown_keys(mark: _Mark) -> str:
    return "".join(f"[{_short(key) or written}]" for written, key in mark.keys)


def _blank(mark: _Mark) -> str:
    return " " * (mark.end - mark.start)


def _with_marks(text: str, marks: list[_Mark], shown: Callable[[_Mark], str]) -> str:
    """The text with each mark replaced by what `shown` gives for it."""
    pieces: list[str] = []
    position = 0
    for mark in marks:
        pieces += [text[position : mark.start], shown(mark)]
        position = mark.end
    pieces.append(text[position:])
    return "".join(pieces)


def _short(key: str) -> str:
    return key.split("-")[0]


# ---------------------------------------------------------------- which words a key stands for


class _Answer:
    """An answer cut into sentences, with its keys blanked out at equal length so that offsets hold."""

    def __init__(
        self, text: str, marks: list[_Mark], prompt: Prompt, uncited: Sequence[tuple[int, int]]
    ) -> None:
        """uncited: stretches in order, whose figures no key is cited for."""
        self.prompt = prompt
        self.marks = marks
        self.uncited = uncited
        self.keys_of_groups: dict[int, tuple[str, ...]] = {}
        self.judged: dict[tuple[int, int, str], Citation] = {}
        # What the number checks found, which citations need: the figures with their verdicts, and the short
        # keys of the pages that figures were found on.
        self.figures: Sequence[_JudgedFigure] = ()
        self.pages_with_figures: frozenset[str | None] = frozenset()
        self.mark_starts = [mark.start for mark in marks]
        self.blanked = _with_marks(text, marks, _blank)
        quoted = _QUOTATION.finditer(self.blanked)
        self.quotations = [match.span() for match in quoted if "\n\n" not in match[0]]
        self.starts = _sentence_starts(self.blanked, self.quotations)
        # Sentences that are not list items, or that lead a list in themselves.
        self.leads = list(filter(self._is_lead, range(len(self.starts))))

    def _is_lead(self, index: int) -> bool:
        sentence = self._sentence(index)
        return sentence.endswith(":") or not SAFE_ITEM.match(sentence)

    def citations(self, mark: _Mark) -> Iterator[Citation]:
        for written, key in mark.keys:
            if key:
                yield self._judged(mark, key)
            else:
                yield Citation(written, None, None, None, "", False, reason=UNKNOWN_KEY)

    def scope(self, position: int) -> Scope:
        """The sentence around a position and the keys cited for what stands there.

        These are the next keys in the sentence, else any of it, else nearby ones.
        """
        index = bisect_right(self.starts, position) - 1
        start, end = self._bounds(index)
        if self._is_uncited(position):
            return Scope(start, end, ())
        following = self._marks_within(position, end)
        if following:
            marks = self._marks_beside(following[0])
        else:
            marks = self._marks_within(start, end) or self._nearby(index)
        return Scope(start, end, _known_keys(marks))

    def _is_uncited(self, position: int) -> bool:
        before = bisect_right(self.uncited, position, key=itemgetter(0)) - 1
        return before >= 0 and position < self.uncited[before][1]

    def _judged(self, mark: _Mark, key: str) -> Citation:
        """Does what _citation does, but once for keys that are repeated side by side."""
        place = mark.group, bisect_right(self.starts, mark.start), key
        if place not in self.judged:
            self.judged[place] = self._citation(mark, key)
        return self.judged[place]

    def _citation(self, mark: _Mark, key: str) -> Citation:
        """The passage of the cited page that the statement at the key rests on."""
        hit = self.prompt.sources[key]
        basis = "located"
        if copied := self._copied(mark, hit):
            place, reason, quote = copied
        else:
            place, reason, quote, basis = self._compared(mark, key)
        first, last = place
        instructs = self._instructs(mark, hit, place)
        return Citation(
            _short(key),
            hit.document,
            hit.page,
            hit.page_label,
            quote,
            not reason,
            first,
            last,
            hit.version,
            reason or None,
            hit.confidence,
            instructs,
            basis,
        )

    def _instructs(self, mark: _Mark, hit: Hit, place: _Span) -> bool:
        """Whether a page's name, the passage cited or the statement itself gives an order to a machine."""
        if instructs_by_name(hit):
            return True
        first, last = place
        statement = self.blanked[slice(*self._since_key_before(mark, 0))]
        for start, end in hit.instructions:
            if start < last and first < end:
                return True
            if repeats_order(statement, hit.page_text[start:end]):
                return True
        return False

    def _compared(self, mark: _Mark, key: str) -> tuple[_Span, str, str, str]:
        """Offsets, reason ("" where verified), quote and basis of a statement that is not copied."""
        hit = self.prompt.sources[key]
        start, end = self._statement(mark)
        place, reason, quote = self._statement_passage(mark, hit)
        if reason and reason not in FREELY_PUT:
            return place, reason, quote, "located"
        if name := self._unknown_name(start, end):
            return place, UNKNOWN_NAME.format(name), quote, "located"
        if word := self._word_unsaid(mark):
            return place, UNSAID.format(word), quote, "located"
        if not reason:
            wrong = self._wrong_figure(mark)
            reason = OTHER_FIGURE.format(wrong) if wrong else ""
            return place, reason, quote, "located"
        place, basis = self._freely_put(mark, key, place)
        if basis == "located":
            return place, reason, quote, basis
        first, last = place
        quote = hit.page_text[max(0, first) : max(0, last)]
        if basis == "figures":
            return place, "", quote, basis
        if self._wrong_figure(mark, _NOT_CONTRADICTED):
            return place, CONTRADICTED, quote, "located"
        missing = says_absent(self.blanked[start:end])
        return place, MISSING if missing else REWORDED, quote, basis

    def _statement_passage(self, mark: _Mark, hit: Hit) -> _Passage:
        """The passage of the statement at a mark, or of its paragraph where the statement has none."""
        found = self._passage(*self._statement(mark), hit)
        _, reason, quote = found
        if not reason or quote:
            return found
        paragraph = self._paragraph(mark)
        if paragraph is None:
            return found
        return self._passage(*paragraph, hit)

    def _wrong_figure(self, mark: _Mark, fine: frozenset[str] = FINE) -> str:
        """The first figure of the statement at a mark whose verdict is not in `fine`; "" for none."""
        for figure in self._figures_within(*self._statement(mark)):
            if figure.status not in fine:
                return figure.text
        return ""

    def _figures_within(self, start: int, end: int) -> list[_JudgedFigure]:
        return [figure for figure in self.figures if start <= figure.start < end]

    def _statuses(self, start: int, end: int) -> set[str]:
        """The verdicts on the figures between two offsets."""
        return {figure.status for figure in self._figures_within(start, end)}

    def _freely_put(self, mark: _Mark, key: str, at: _Span) -> tuple[_Span, str]:
        """Place and basis of a statement in words of its own.

        at: where a part of it was found. It stays there, "located", where too little of it is on the page to
        compare.
        """
        start, end = self._statement(mark)
        statement = self.blanked[start:end]
        view = page_of(self.prompt.sources[key])
        statuses = self._statuses(start, end)
        if not statuses and says_absent(statement):
            return (-1, -1), "reworded"
        if not self._is_comparable(start, end, key):
            return at, "located"
        place = at if at[0] >= 0 else self._closest_place(start, end, view)
        if not statuses or not self._is_said_at_keys(mark, start, end):
            return self._closest_place(start, end, view), "reworded"
        if not has_numbers(statement, view, place):
            return self._closest_place(start, end, view), "reworded"
        return place, "figures"

    def _is_comparable(self, start: int, end: int, key: str) -> bool:
        """Whether a page has enough words of a statement, or figures of it that are right."""
        statement = self.blanked[start:end]
        view = page_of(self.prompt.sources[key])
        statuses = self._statuses(start, end)
        is_derived = "derived" in statuses
        if is_derived:
            words = self._words_beside_result(start, end)
        else:
            words = stems_of(parted(_FRAME.sub(" ", statement)))
        least = LEAST_OF_EACH * len(words)
        if is_derived and len(words) < 2:
            least = len(words) - 1
        if len(words & view.stems.all) >= least:
            return True
        if is_derived and _short(key) in self.pages_with_figures:
            return True
        if not statuses or not statuses <= FINE:
            return False
        return any(figures_stating(figure, view) for figure in figures_said(statement, [view]))

    def _word_unsaid(self, mark: _Mark) -> str:
        """A verb or a cause in the statement at the mark that none of the pages cited together has."""
        statement = self.blanked[slice(*self._statement(mark))]
        pages = [page_of(self.prompt.sources[key]) for key in self._keys_beside(mark)]
        words = [unsupported_clauses(statement, page, self._known_text) for page in pages]
        if all(words):
            return words[0]
        return ""

    def _unknown_name(self, start: int, end: int) -> str:
        """A name of several words that no page, question or exchange of the prompt has; "" for none."""
        for found in _NAME.finditer(self.blanked, start, end):
            if self._is_unknown(found[0]):
                return " ".join(found[0].split())
        return ""

    def _is_unknown(self, name: str) -> bool:
        """Whether the prompt lacks a word of a name of several words, and its initials."""
        words = [word for word in _NAME_WORD.findall(name) if word.casefold() not in STOP_WORDS]
        if opening := _OPENS_SENTENCE.match(name):  # "Since December", "Notably, Acme"
            words = [word for word in words if word != opening[1]]
        if len(words) < 2:
            return False
        initials = "".join(word[0] for word in words)
        if initials in self._known_text:
            return False
        return any(word.casefold() not in self._known_words for word in words)

    @cached_property
    def _known_text(self) -> str:
        pages = (f"{hit.document} {hit.context} {hit.page_text}" for hit in self.prompt.sources.values())
        exchanges = (f"{exchange.user} {exchange.assistant}" for exchange in self.prompt.exchanges)
        return " ".join([self.prompt.question, *pages, *exchanges])

    @cached_property
    def _known_words(self) -> frozenset[str]:
        return frozenset(_NAME_WORD.findall(self._known_text.casefold()))

    def _is_said_at_keys(self, mark: _Mark, start: int, end: int) -> bool:
        """Whether the pages cited together say what stands at their keys.

        A line that leads a list in is taken with its items.
        """
        views = [page_of(self.prompt.sources[key]) for key in self._keys_beside(mark)]
        if self._is_said_by(start, end, views):
            return True
        index = bisect_right(self.starts, mark.start) - 1
        if not self._sentence(index).endswith(":"):
            return False
        words = stems_of(self.blanked[start:end])
        least = LEAST_LED_IN * len(words)
        if not any(len(words & view.stems.all) >= least for view in views):
            return False
        items = self._items_led_in(index)
        if not items:
            return False
        without_marks = (item for item in items if not self._marks_within(*item))
        return all(self._is_said_by(*item, views) for item in without_marks)

    def _items_led_in(self, index: int) -> list[_Span]:
        """The bounds of the list items that follow a line."""
        leads_behind = self.leads[bisect_right(self.leads, index) :]
        end = leads_behind[0] if leads_behind else len(self.starts)
        return [self._bounds(item) for item in range(index + 1, end)]

    def _is_said_by(self, start: int, end: int, views: Sequence[PageEvidence]) -> bool:
        """Whether some pages say what stands between two offsets, and its figures are right."""
        text = _FRAME.sub(" ", self.blanked[start:end])
        if item := SAFE_ITEM.match(text):
            text = text[item.end() :]
        statuses = self._statuses(start, end)
        if statuses - FINE:
            return False
        clauses = clauses_of(text)
        if not statuses and not clauses:
            return False
        if "derived" in statuses:
            return self._have_words_of_result(start, end, views)
        if not clauses:
            return True
        asked = stems_of(parted(self.prompt.question))
        if statuses:
            clauses = _with_figures_beside(clauses, tuple(figures_said(text, views)))
        not_said = [clause for clause in clauses if not _is_said(clause, views, asked)]
        if not not_said:
            return True
        if len(not_said) == len(clauses):
            return False
        # Figures that are right vouch for asides, where the rest is said.
        return bool(statuses) and all(map(is_aside, not_said))

    def _have_words_of_result(self, start: int, end: int, views: Sequence[PageEvidence]) -> bool:
        """Whether pages have enough words of a statement with a derived figure.

        It is put in words that no page has in one place.
        """
        words = self._words_beside_result(start, end)
        on_pages = frozenset[str]().union(*(view.stems.all for view in views))
        shared = len(words & on_pages)
        return shared >= LEAST_LED_IN * len(words) or len(words) - shared < 2

    def _words_beside_result(self, start: int, end: int) -> frozenset[str]:
        """The words around a derived figure, without those that report a result or repeat the question."""
        statement = REPORTED.sub(" ", self.blanked[start:end])
        return stems_of(parted(statement)) - stems_of(parted(self.prompt.question))

    def _closest_place(self, start: int, end: int, view: PageEvidence) -> _Span:
        """The line of a statement's first figure on a page, else the sentence with most of its words."""
        statement = self.blanked[start:end]
        stated = _first_stated(statement, view)
        if stated:
            first = view.text.rfind("\n", 0, stated.start) + 1
            last = view.text.find("\n", stated.end)
            return _stripped(view.text, first, last if last >= 0 else len(view.text))
        words = stems_of(statement)
        shared = [len(words & sentence) for sentence in view.stems.sentences]
        if not shared:
            return _stripped(view.text, -1, -1)
        most = shared.index(max(shared))
        return _stripped(view.text, *view.sentence_spans[most])

    def _copied(self, mark: _Mark, hit: Hit) -> _Passage | None:
        """Offsets, reason and quote, where the whole paragraph since the key before is copied from the page.

        It may be a sentence, a list with its items, or a row behind the head of its table. All that is copied
        is marked, not only the part that happens to be the longest run of words.
        """
        first = self.marks[mark.group]
        paragraph = self.blanked.rfind("\n\n", 0, first.start) + 1
        start, end = self._since_key_before(mark, paragraph, LONGEST_COPIED)
        text = self.blanked[start:end]
        view = page_of(hit)
        parts = [text] if self._quoted(start, end) else _ELLIPSIS.split(text)
        span = copied_passage(parts, view) or printed_row(comparable_words(text), hit)
        if span:
            return span, "", view.text[slice(*span)]
        span = row_behind_head(text, view)
        if span is None:
            return None
        # The row of a known table was looked for with its heads before. Here something else stands before it.
        quote = view.text[slice(*span)]
        found = comparable_words(quote)
        # So many figures stand nowhere in this order by chance.
        tells = distinctive_words(found) > 0 or len(found.texts) >= MIN_QUOTE_WORDS
        if not tells or _is_of_known_row(hit, span):
            return span, OTHER_HEAD, quote
        return span, "", quote

    def _statement(self, mark: _Mark) -> _Span:
        """The offsets of the words since the key before; for a key below a table, those of the table.

        Where those words are too few, as after "According to", they are those of the whole sentence.
        """
        if table := self._table_above(self.marks[mark.group].start):
            return table
        start, end = self._bounds(bisect_right(self.starts, mark.start) - 1)
        clause = self._since_key_before(mark, start)
        words = comparable_words(self.blanked[slice(*clause)]).texts
        if len(words) >= MIN_QUOTE_WORDS or any(word[0].isdigit() for word in words):
            return clause
        earliest = clause[1] - LONGEST_STATEMENT
        latest = clause[1] + LONGEST_STATEMENT
        return max(start, earliest), min(end, latest)

    def _since_key_before(self, mark: _Mark, start: int, longest: int = LONGEST_STATEMENT) -> _Span:
        """From a position, or the key before, to the first of the keys that stand with this one.

        It is cut to what can be one statement, but never within a quotation.
        """
        first = self.marks[mark.group]
        key_before = self.marks[mark.group - 1].end if mark.group else 0
        start = max(start, key_before)
        cut = first.start - longest
        if cut <= start:
            return start, first.start
        for opened, closed in reversed(self.quotations):
            if opened <= cut < closed:
                return max(start, opened), first.start
        return cut, first.start

    def _paragraph(self, mark: _Mark) -> _Span | None:
        """All that stands on the line since the key before, where that is more than a sentence.

        A key may close a paragraph.
        """
        first = self.marks[mark.group]
        line = self.blanked.rfind("\n", 0, first.start) + 1
        paragraph = self._since_key_before(mark, line)
        if paragraph[0] < self._statement(mark)[0]:
            return paragraph
        return None

    def _passage(self, start: int, end: int, hit: Hit) -> _Passage:
        """Offsets, reason ("" where verified) and quote for one statement."""
        view = page_of(hit)
        statement = self.blanked[start:end]
        words = comparable_words(statement)
        if not words.texts:
            return (-1, -1), NOTHING_STATED, ""
        if quotations := self._quotations_without_names(start, end, hit):
            return _of_quotations(statement, words, quotations, view)
        figures = figures_said(statement, [view])
        span = unquoted_passage(words, figures, view)
        if span is None:
            stated = all(figures_stating(figure, view) for figure in figures)
            return (-1, -1), PARAPHRASED if stated else NOT_LOCATED, ""
        quote = view.text[slice(*span)]
        if _tells_enough(quote, words):
            return span, _difference(statement, words, view, span), quote
        if row := printed_row(words, hit):
            return row, "", view.text[slice(*row)]
        return span, FIGURE_ALONE, quote

    def _quotations_without_names(self, start: int, end: int, hit: Hit) -> list[list[str]]:
        """The quotations between two offsets without names and titles, each in its parts."""
        found: list[list[str]] = []
        for parts in self._quoted(start, end):
            if quoted := [part for part in parts if not self._is_name(part, hit)]:
                found.append(quoted)
        return found

    def _quoted(self, start: int, end: int) -> list[list[str]]:
        """The words in quotation marks, each quotation in the pieces that its ellipses leave.

        Single words are only set off, not quoted.
        """
        found: list[list[str]] = []
        for opened, closed in self.quotations:
            if not start <= opened < end:
                continue
            parts = _ELLIPSIS.split(self.blanked[opened + 1 : closed - 1])
            if quoted := [part for part in parts if len(comparable_words(part).texts) > 1]:
                found.append(quoted)
        return found

    def _is_name(self, part: str, hit: Hit) -> bool:
        """Whether short words in quotation marks are a title or repeat the question, and so no quotation."""
        if len(comparable_words(part).texts) >= MIN_QUOTE_WORDS:
            return False
        named_in = (hit.document, hit.context, self.prompt.question)
        if not any(locate(text, part) for text in named_in):
            return False
        return not locate(hit.page_text, part)

    def _bounds(self, index: int) -> _Span:
        """The offsets of a sentence."""
        following = index + 1
        if following < len(self.starts):
            return self.starts[index], self.starts[following]
        return self.starts[index], len(self.blanked)

    def _marks_within(self, start: int, end: int) -> list[_Mark]:
        first = bisect_left(self.mark_starts, start)
        last = bisect_left(self.mark_starts, end)
        return self.marks[first:last]

    def _keys_beside(self, mark: _Mark) -> tuple[str, ...]:
        """The known keys of the marks that stand side by side with this one, each once."""
        if mark.group not in self.keys_of_groups:
            self.keys_of_groups[mark.group] = _known_keys(self._marks_beside(mark))
        return self.keys_of_groups[mark.group]

    def _marks_beside(self, mark: _Mark) -> list[_Mark]:
        """The marks that stand side by side with this one: "[S1][S2]", "[S1], [S2]"."""
        last = mark.group + 1
        while last < len(self.marks) and self.marks[last].group == mark.group:
            last += 1
        return self.marks[mark.group : last]

    def _nearby(self, index: int) -> list[_Mark]:
        """The marks that a sentence without keys may rest on.

        The first found are taken: those below its table, of the next sentence on its line, of the one before
        on its line, of the line that leads its list in, at the end of its paragraph or of its list; for
        arithmetic, all marks.
        """
        start, end = self._bounds(index)
        if below := self._below_table(start):
            return below
        if marks := self._marks_within(end, self._next_index("\n", start)):
            return self._marks_beside(marks[0])
        line = self.blanked.rfind("\n", 0, start) + 1
        if marks := self._marks_within(line, start):
            return self._marks_beside(marks[-1])
        if marks := self._of_lead_in(index) or self._closing_paragraph(start, end):
            return marks
        # An item of a list whose key stands behind the last one.
        if SAFE_ITEM.match(self.blanked, start):
            marks = self._marks_within(end, self._next_index("\n\n", end))
            if marks:
                return self._marks_beside(marks[0])
        # The operands of arithmetic are cited with their own rows, before or after it.
        if "=" in self.blanked[start:end]:
            return self.marks
        return []

    def _table_above(self, position: int) -> _Span | None:
        """The table whose last row ends right above a position, with only blanks between; None for none."""
        above = self.blanked[:position].rstrip()
        if not above.endswith("|") or "\n" not in self.blanked[len(above) : position]:
            return None
        earliest = max(0, len(above) - LONGEST_STATEMENT)
        table = _TABLE_AT_END.search(above, earliest)
        if table:
            return table.start(), len(above)
        return None

    def _below_table(self, start: int) -> list[_Mark]:
        """For a table row, the keys right below the table that belong to no sentence of their own."""
        rows = _ROWS.match(self.blanked, start)
        if rows is None:
            return []
        table_end = rows.end()
        marks = self._marks_within(table_end, self._next_index("\n", table_end))
        if marks and not self.blanked[table_end : marks[0].start].strip():
            return self._marks_beside(marks[0])
        return []

    def _next_index(self, sought: str, position: int) -> int:
        """Where a text next occurs from a position on; the answer's end where it does not."""
        found = self.blanked.find(sought, position)
        if found >= 0:
            return found
        return len(self.blanked)

    def _of_lead_in(self, index: int) -> list[_Mark]:
        """The marks of the line that leads the sentence's list in."""
        before = bisect_left(self.leads, index)
        if not before:
            return []
        above = self.leads[before - 1]
        if self._sentence(above).endswith(":"):
            return self._marks_within(*self._bounds(above))
        return []

    def _sentence(self, index: int) -> str:
        return self.blanked[slice(*self._bounds(index))].rstrip()

    def _closing_paragraph(self, start: int, end: int) -> list[_Mark]:
        """The only keys of a paragraph, where they stand at its end: they are meant for all of it."""
        last = self._next_index("\n\n", end)
        first = self.blanked.rfind("\n\n", 0, start) + 1
        marks = self._marks_within(first, last)
        if not marks or marks[0].group != marks[-1].group:
            return []
        if re.search(r"[^\W_]", self.blanked[marks[-1].end : last]):
            return []
        return marks


def _known_keys(marks: Sequence[_Mark]) -> tuple[str, ...]:
    """The keys of some marks that were given, each once."""
    return tuple(dict.fromkeys(key for mark in marks for _, key in mark.keys if key))


def _is_said(clause: Clause, views: Sequence[PageEvidence], asked: frozenset[str]) -> bool:
    """Whether one of some pages has a clause. asked: the words of the question."""
    return any(says_clause(clause, view, asked) for view in views)


def _with_figures_beside(clauses: list[Clause], figures: tuple[Figure, ...]) -> list[Clause]:
    """The clauses of a statement, those without a verb and a figure with all of its figures.

    They speak of the figures beside them.
    """
    return [
        clause if clause.verb or clause.figures else replace(clause, figures=figures) for clause in clauses
    ]


def _first_stated(statement: str, view: PageEvidence) -> Figure | None:
    """The place on a page of the first figure of a statement that the page has."""
    for figure in figures_said(statement, [view]):
        if places := figures_stating(figure, view):
            return places[0]
    return None


def _stripped(text: str, start: int, end: int) -> _Span:
    """The offsets without the blanks at either end."""
    part = text[start:end]
    blanks = len(part) - len(part.lstrip())
    return start + blanks, start + len(part.rstrip())


def _is_of_known_row(hit: Hit, span: _Span) -> bool:
    """Whether a stretch of a page touches a row of a table that was read with its cells."""
    start, end = span
    for table in hit.tables:
        for row in table.rows:
            if row.start < end and start < row.end and any(row.cells):
                return True
    return False


def _of_quotations(statement: str, words: Words, quotations: list[list[str]], view: PageEvidence) -> _Passage:
    """Offsets, reason and quote for a statement with quotations, each in its parts."""
    place, reason, quote = quoted_passage(quotations, view)
    reason = reason or alteration(words, view.words, place)
    if reason:
        return place, reason, quote
    unframed = _FRAME.sub(" ", statement)
    in_quotes = sum(distinctive_words(comparable_words(part)) for parts in quotations for part in parts)
    if in_quotes >= LEAST_QUOTED * distinctive_words(comparable_words(unframed)):
        return place, "", quote
    return place, "" if repeats(unframed, view, place) else IN_PART, quote


def _tells_enough(quote: str, words: Words) -> bool:
    """Whether a quote found for a statement's words is more than a figure or a date."""
    found = comparable_words(quote)
    telling = distinctive_words(found)
    # A label of one word with two figures after it is a row, which stands nowhere by chance.
    figures = sum(word[0].isdigit() for word in found.texts)
    if telling > 0 and figures > 1:
        return True
    return telling >= min(TELLING_WORDS, distinctive_words(words))


def _difference(statement: str, words: Words, view: PageEvidence, span: _Span) -> str:
    """Why a statement is not verified by the words found on the page; "" where it is.

    It may differ from the page around them, or stand there only in part.
    """
    if altered := alteration(words, view.words, span):
        return altered
    return "" if repeats(_FRAME.sub(" ", statement), view, span) else IN_PART


def _sentence_starts(text: str, quotations: list[tuple[int, int]]) -> list[int]:
    """Where sentences and lines begin, never inside a quotation.

    Blank lines, and those of keys only, belong to what precedes.
    """
    starts = [0]
    opened = [start for start, _ in quotations]
    line_start = 0
    for line in text.splitlines(keepends=True):
        for start in _starts_in_line(line):
            position = line_start + start
            if not position:
                continue
            before = bisect_right(opened, position) - 1
            first, last = quotations[max(0, before)] if quotations else (0, 0)
            if not first < position < last:
                starts.append(position)
        line_start += len(line)
    return starts


def _starts_in_line(line: str) -> Iterator[int]:
    """Where the sentences of a line begin, blanks apart; the first at 0."""
    for start, end in sentence_spans(line, longest=len(line)):
        sentence = line[start:end]
        if sentence.strip():
            yield end - len(sentence.lstrip()) if start else 0
