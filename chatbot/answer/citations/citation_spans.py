"""Knows how an answer's citation keys are read, and which of its words each key stands for on the cited
page; knows no model and no store.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from chatbot.answer.checks.number_checks import Scope, check_numbers, figures_stating
from chatbot.answer.checks.sentence_arithmetic import REPORTED
from chatbot.answer.citations.altered_words import alteration, has_numbers, repeats
from chatbot.answer.citations.citation_keys import ANY_KEY, KEY, KEYS_IN_BRACKETS
from chatbot.answer.citations.clauses import clauses_of, is_aside, says_clause, unsaid
from chatbot.answer.citations.model_refusals import says_absent
from chatbot.answer.citations.printed_matches import instructs_by_name, printed_row, repeats_order
from chatbot.answer.citations.quotation_lookup import (
    copied_passage,
    locate,
    quoted_passage,
    row_behind_head,
    unquoted_passage,
)
from chatbot.evidence.page import PageEvidence, page_of
from chatbot.evidence.page_sentences import parted, stems_of
from chatbot.evidence.word_runs import (
    MIN_QUOTE_WORDS,
    STOP_WORDS,
    TELLING_WORDS,
    comparable_words,
    telling_words,
)
from chatbot.records import FINE, REWORDED, Citation, Hit, NumberCheck, Prompt
from ingestion.language.list_items import SAFE_ITEM
from ingestion.language.numbers import find_figures
from ingestion.language.sentences import sentence_spans

__all__ = ["check_answer", "with_short_keys"]

LONGEST_STATEMENT = (
    1_000  # characters before a key; what lies further back is another statement, whatever its punctuation
)
# ... but what is copied from the page may be a whole list.
LONGEST_COPIED = 5_000
UNKNOWN_KEY = "no such source was given"
PARAPHRASED = "no passage of the page says it in these words"
NOT_LOCATED = "no passage of the page could be located"
FIGURE_ALONE = "only a figure or date of it was found on the page, not what it says of it"
IN_PART = "only a part of it stands there in these words"
# Of a statement that does not have the page's wording, and may be right.
FREELY_PUT = frozenset({PARAPHRASED, NOT_LOCATED, FIGURE_ALONE, IN_PART})
# Share of the words of a line that leads a list in that its page must have, and of a statement that each of
# the pages cited together for it must.
LEAST_LED_IN, LEAST_OF_EACH = 0.4, 0.3
# ... and of a statement that are quoted: fewer are a name or a term in quotation marks, and what is said of
# it is not quoted.
LEAST_QUOTED = 0.5
OTHER_HEAD = "its row stands on the page, but not under that head"
UNKNOWN_NAME = "none of the pages given names “{}”"
UNSAID = "the pages cited for it do not have “{}”"
MISSING = "it says what is missing, which no check can show: look through the page"
# Its words stand there, of another figure.
OTHER_FIGURE = "its words stand there, but not with {}"
CONTRADICTED = "a figure of it is contradicted"
NOTHING_STATED = "no statement stands at this key"

_MARK = re.compile(rf"{KEYS_IN_BRACKETS.pattern}|[(【]?{KEY.pattern}[)】]?")

_QUOTATION = re.compile(r'"[^"]*+"|“[^”“]*+”|„[^“”„]*+[“”]|«[^»«]*+»')
# "The cash flow statement shows a repayment": where it stands, which is no part of what is said.
_FRAME = re.compile(
    r"^\W*(?:According to (?:the|this) (?:[\w’'-]+ ){0,5}?[\w’'-]+,|"
    r"(?:The|This) (?:[\w’'-]+ ){0,3}?(?:excerpt|document|source|page|passage|section|table|statement|note"
    r"|report|filing|speech|text|chart)s? "
    r"(?:of (?:the )?(?:[\w’'-]+ ){1,3})?"
    r"(?:also )?(?:show|state|say|give|report|list|put|note|describe|explain|add|round)s?\b(?: that)?)"
)
_ELLIPSIS = re.compile(r"\[?\.\.\.+\]?|\[?…\]?")
# Words with a capital letter one behind the other: a name, or the head of an item.
_CAPITAL = r"(?:[A-Z]-)?[A-ZÀ-ÖØ-Þ][a-zß-öø-ÿ][^\W\d_]*"
_NAME = re.compile(rf"\b{_CAPITAL}(?:(?: of| and| for| the| on|,)? (?:{_CAPITAL}|[A-Z]{{2,}}\b))+")
_OPENS_SENTENCE = re.compile(
    r"([A-Z][a-z]+(?=,)|Since|Once|Before|After|Until|Unless|Although|Though|While|When|Where|Because"
    r"|Despite|Both|Only|Under|Across)\b"
)
# The rows of a table from one on, and those that a text ends in.
_ROWS = re.compile(r"\s*(?:\|[^\n]*\n)+\s*")
_TABLE_AT_END = re.compile(r"(?m:^)\|[^\n]*(?:\n\|[^\n]*)*\Z")
_NAME_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Mark:
    """Keys that stand in one pair of brackets. keys: (as written, the key that was given or "") of each;
    group: equal for marks that stand side by side.
    """

    start: int
    end: int
    keys: tuple[tuple[str, str], ...]
    group: int


def check_answer(
    text: str, prompt: Prompt, *, uncited: Sequence[tuple[int, int]] = ()
) -> tuple[str, tuple[Citation, ...], tuple[NumberCheck, ...]]:
    """The shown text, its citations and its number checks.

    text: a model's or the extractive answer, with keys such as "[S1-7f3a]". Shown, known keys are "[S1]"
    each, unknown ones stay as written. citations: one per key in order of the text, so that the n-th mark
    shown belongs to the n-th citation. Their offsets are into hit.page_text (hit.text where that is empty).
    uncited: stretches of the text, apart from each other, whose figures no key beside them is cited for.
    """
    marks = _marks(text, prompt)
    answer = _Answer(text, marks, prompt, sorted(uncited))
    numbers = check_numbers(answer.blanked, answer.scope, prompt)
    answer.figures = [
        (figure.start, check.status, check.text)
        for figure, check in zip(find_figures(answer.blanked), numbers, strict=True)
    ]
    answer.reckoned_from = frozenset(check.citation for check in numbers if check.status == "supported")
    return (
        _shown(text, marks),
        tuple(citation for mark in marks for citation in answer.citations(mark)),
        numbers,
    )


def with_short_keys(text: str, prompt: Prompt) -> str:
    """The text as check_answer shows it, without its checks."""
    return _shown(text, _marks(text, prompt))


# ---------------------------------------------------------------- keys


def _marks(text: str, prompt: Prompt) -> list[_Mark]:
    """Bracketed keys of any kind, and known keys however they are written."""
    known = {key.casefold(): key for key in prompt.sources}
    found: list[_Mark] = []
    for match in _MARK.finditer(text):
        keys = tuple((written, known.get(written.casefold(), "")) for written in ANY_KEY.findall(match[0]))
        if match[0].startswith("[") or keys[0][1]:
            beside = (
                bool(found)
                and match.start() - found[-1].end <= 3
                and not text[found[-1].end : match.start()].strip(" ,;")
            )
            found.append(_Mark(match.start(), match.end(), keys, found[-1].group if beside else len(found)))
    return found


def _shown(text: str, marks: list[_Mark]) -> str:
    """The text with short keys, "[S1]" for each that was given; where none of a bracket was, as written."""
    known = [mark for mark in marks if any(key for _, key in mark.keys)]
    return _with_marks(
        text, known, lambda mark: "".join(f"[{_short(key) or written}]" for written, key in mark.keys)
    )


def _with_marks(text: str, marks: list[_Mark], shown: Callable[[_Mark], str]) -> str:
    """The text with each mark as it is to be shown."""
    ends = [0, *(mark.end for mark in marks)]
    pieces = [text[end : mark.start] + shown(mark) for end, mark in zip(ends, marks, strict=False)]
    return "".join([*pieces, text[ends[-1] :]])


def _short(key: str) -> str:
    return key.split("-")[0]


# ---------------------------------------------------------------- which words a key stands for


class _Answer:
    """An answer cut into sentences, with its keys blanked out at equal length so that offsets hold."""

    def __init__(
        self, text: str, marks: list[_Mark], prompt: Prompt, uncited: Sequence[tuple[int, int]]
    ) -> None:
        """uncited: stretches in order, whose figures no key is cited for."""
        self.prompt, self.marks, self.uncited = prompt, marks, uncited
        self.keys_of_groups: dict[int, tuple[str, ...]] = {}
        self.judged: dict[tuple[int, int, str], Citation] = {}
        # Start, verdict and text of each figure, which citations need to have, and the short keys of the
        # pages that figures were found on.
        self.figures: Sequence[tuple[int, str, str]] = ()
        self.reckoned_from: frozenset[str | None] = frozenset()
        self.mark_starts = [mark.start for mark in marks]
        self.blanked = _with_marks(text, marks, lambda mark: " " * (mark.end - mark.start))
        self.quotations = [
            (match.start(), match.end())
            for match in _QUOTATION.finditer(self.blanked)
            if "\n\n" not in match[0]
        ]
        self.starts = _sentence_starts(self.blanked, self.quotations)
        # Sentences that are no items of a list, or lead one in themselves.
        self.leads = [
            at
            for at in range(len(self.starts))
            if self._said(at).endswith(":") or not SAFE_ITEM.match(self._said(at))
        ]

    def citations(self, mark: _Mark) -> Iterator[Citation]:
        for written, key in mark.keys:
            yield (
                self._judged(mark, key)
                if key
                else Citation(written, None, None, None, "", False, reason=UNKNOWN_KEY)
            )

    def scope(self, position: int) -> Scope:
        """The sentence around a position and the keys cited for what stands there: the next in the
        sentence, else any of it, else nearby.
        """
        index = bisect_right(self.starts, position) - 1
        start, end = self._bounds(index)
        stretch = bisect_right(self.uncited, position, key=lambda stretch: stretch[0]) - 1
        if stretch >= 0 and position < self.uncited[stretch][1]:
            return Scope(start, end, ())
        following = self._marks_within(position, end)
        if following:
            marks = self._together(following[0])
        else:
            marks = self._marks_within(start, end) or self._nearby(index)
        return Scope(start, end, tuple(dict.fromkeys(key for mark in marks for _, key in mark.keys if key)))

    def _judged(self, mark: _Mark, key: str) -> Citation:
        """As _citation, once for keys that are repeated side by side."""
        place = mark.group, bisect_right(self.starts, mark.start), key
        if place not in self.judged:
            self.judged[place] = self._citation(mark, key)
        return self.judged[place]

    def _citation(self, mark: _Mark, key: str) -> Citation:
        """The passage of the cited page that the statement at the key rests on."""
        hit = self.prompt.sources[key]
        copied = self._copied(mark, hit)
        (first, last), reason, quote = copied or self._passage(*self._statement(mark), hit)
        if reason and not quote and (paragraph := self._paragraph(mark)):
            (first, last), reason, quote = self._passage(*paragraph, hit)
        basis = "located"
        if not copied and (name := self._unknown_name(*self._statement(mark))):
            if not reason or reason in FREELY_PUT:
                reason = UNKNOWN_NAME.format(name)
            else:
                reason = reason
        elif not copied and (not reason or reason in FREELY_PUT) and (word := self._unsaid(mark)):
            reason = UNSAID.format(word)
        elif reason in FREELY_PUT:
            (first, last), basis = self._freely_put(mark, key, (first, last))
            missing = says_absent(self.blanked[slice(*self._statement(mark))])
            reason = {"figures": "", "reworded": MISSING if missing else REWORDED}.get(basis, reason)
            if basis != "located":
                quote = hit.page_text[max(0, first) : max(0, last)]
            else:
                quote = quote
        if not reason and not copied and basis == "located" and (wrong := self._wrong_figure(mark)):
            reason = OTHER_FIGURE.format(wrong)
        if basis == "reworded" and self._wrong_figure(mark, FINE | {"present_elsewhere", "unsupported"}):
            reason, basis = CONTRADICTED, "located"
        where = (hit.document, hit.page, hit.page_label)
        said = self.blanked[slice(*self._before(mark, 0))]
        instructs = instructs_by_name(hit) or any(
            (start < last and first < end) or repeats_order(said, hit.page_text[start:end])
            for start, end in hit.instructions
        )
        return Citation(
            _short(key),
            *where,
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

    def _wrong_figure(self, mark: _Mark, fine: frozenset[str] = FINE) -> str:
        """The first figure of the statement at a mark that has another verdict than these; "" where none
        has.
        """
        start, end = self._statement(mark)
        return next(
            (text for figure, status, text in self.figures if start <= figure < end and status not in fine),
            "",
        )

    def _freely_put(self, mark: _Mark, key: str, at: tuple[int, int]) -> tuple[tuple[int, int], str]:
        """Place and basis of a statement in words of its own; at: where a part of it was found, and what it
        stays at with "located" where too little of it is on the page to compare."""
        start, end = self._statement(mark)
        view = page_of(self.prompt.sources[key])
        worked = any(start <= figure < end and status == "derived" for figure, status, _ in self.figures)
        if worked:
            words = self._beside_sums(start, end)
        else:
            words = stems_of(parted(_FRAME.sub(" ", self.blanked[start:end])))
        least = len(words) - 1 if worked and len(words) < 2 else LEAST_OF_EACH * len(words)
        statuses = {status for figure, status, _ in self.figures if start <= figure < end}
        confirmed = (
            bool(statuses)
            and statuses <= FINE
            and any(figures_stating(figure, view) for figure in find_figures(self.blanked[start:end]))
        )
        if says_absent(self.blanked[start:end]) and not statuses:
            return (-1, -1), "reworded"
        if len(words & view.stems.all) < least and not (
            confirmed or (worked and _short(key) in self.reckoned_from)
        ):
            return at, "located"
        if at[0] >= 0:
            place = at
        else:
            place = self._place(start, end, view)
        if statuses and self._stands(mark, start, end) and has_numbers(self.blanked[start:end], view, place):
            return place, "figures"
        return self._place(start, end, view), "reworded"

    def _unsaid(self, mark: _Mark) -> str:
        """A verb or a cause of what is said at the mark that none of the pages cited together has."""
        said = self.blanked[slice(*self._statement(mark))]
        words = [
            unsaid(said, page_of(self.prompt.sources[key]), self._known_text)
            for key in self._keys_together(mark)
        ]
        if all(words):
            return words[0]
        return ""

    def _unknown_name(self, start: int, end: int) -> str:
        """A name of several words of which no page, question or exchange of the prompt has one; "" where
        there is none.
        """
        for found in _NAME.finditer(self.blanked, start, end):
            words = [word for word in _NAME_WORD.findall(found[0]) if word.casefold() not in STOP_WORDS]
            if opening := _OPENS_SENTENCE.match(found[0]):  # "Since December", "Notably, Acme"
                words = [word for word in words if word != opening[1]]
            initials = "".join(word[0] for word in words)
            if (
                len(words) > 1
                and initials not in self._known_text
                and any(word.casefold() not in self._known_words for word in words)
            ):
                return " ".join(found[0].split())
        return ""

    @cached_property
    def _known_text(self) -> str:
        pages = (f"{hit.document} {hit.context} {hit.page_text}" for hit in self.prompt.sources.values())
        said = (f"{one.user} {one.assistant}" for one in self.prompt.exchanges)
        return " ".join([self.prompt.question, *pages, *said])

    @cached_property
    def _known_words(self) -> frozenset[str]:
        return frozenset(_NAME_WORD.findall(self._known_text.casefold()))

    def _stands(self, mark: _Mark, start: int, end: int) -> bool:
        """Whether the pages cited together have what is said at their keys; of a line that leads a list
        in, with its items.
        """
        views = [page_of(self.prompt.sources[key]) for key in self._keys_together(mark)]
        if self._has(start, end, views):
            return True
        index = bisect_right(self.starts, mark.start) - 1
        if not self._said(index).endswith(":"):
            return False
        behind = self.leads[bisect_right(self.leads, index) :][:1]
        items = [self._bounds(at) for at in range(index + 1, behind[0] if behind else len(self.starts))]
        led = stems_of(self.blanked[start:end])
        known = any(len(led & view.stems.all) >= LEAST_LED_IN * len(led) for view in views)
        return (
            known
            and bool(items)
            and all(self._has(*item, views) for item in items if not self._marks_within(*item))
        )

    def _has(self, start: int, end: int, views: Sequence[PageEvidence]) -> bool:
        said = _FRAME.sub(" ", self.blanked[start:end])
        mark = SAFE_ITEM.match(said)
        if mark:
            said = said[mark.end() :]
        else:
            said = said
        clauses = clauses_of(said)
        statuses = {status for at, status, _ in self.figures if start <= at < end}
        if statuses - FINE or not (statuses or clauses):
            return False
        if "derived" in statuses:  # what is worked out is put in words that no page has
            words = self._beside_sums(start, end)
            there = len(words & frozenset[str]().union(*(view.stems.all for view in views)))
            return there >= LEAST_LED_IN * len(words) or len(words) - there < 2
        asked = stems_of(parted(self.prompt.question))
        if statuses:  # what has no verb of its own is of the figures beside it
            all_figures = tuple(find_figures(said))
            clauses = [
                clause if clause.verb or clause.figures else replace(clause, figures=all_figures)
                for clause in clauses
            ]
        told = [any(says_clause(clause, view, asked) for view in views) for clause in clauses]
        # Figures that are right vouch for what stands by the way, where the rest is told.
        return not clauses or (
            any(told)
            and all(
                found or (statuses and is_aside(clause)) for clause, found in zip(clauses, told, strict=True)
            )
        )

    def _beside_sums(self, start: int, end: int) -> frozenset[str]:
        """The words of what is worked out, but for those in which a result is told and those of the
        question.
        """
        said, asked = (
            stems_of(parted(text))
            for text in (REPORTED.sub(" ", self.blanked[start:end]), self.prompt.question)
        )
        return said - asked

    def _place(self, start: int, end: int, view: PageEvidence) -> tuple[int, int]:
        """The line of the first of a statement's figures on a page, else its sentence with most of the
        words.
        """
        said = self.blanked[start:end]
        if stated := next(
            (places[0] for figure in find_figures(said) if (places := figures_stating(figure, view))), None
        ):
            first = view.text.rfind("\n", 0, stated.start) + 1
            last = view.text.find("\n", stated.end)
            line = view.text[first : last if last >= 0 else len(view.text)]
            return first + len(line) - len(line.lstrip()), first + len(line.rstrip())
        words = stems_of(said)
        shared = [len(words & sentence) for sentence in view.stems.sentences]
        if shared:
            first, last = view.sentence_spans[shared.index(max(shared))]
        else:
            first, last = (-1, -1)
        sentence = view.text[first:last]
        return first + len(sentence) - len(sentence.lstrip()), first + len(sentence.rstrip())

    def _copied(self, mark: _Mark, hit: Hit) -> tuple[tuple[int, int], str, str] | None:
        """As _passage, where all that the paragraph says since the key before is copied from the page: a
        sentence, a list with its items, a row behind the head of its table. What is copied is what is marked,
        and not the part of it that happens to be the longest run of words."""
        start, end = self._before(
            mark, self.blanked.rfind("\n\n", 0, self.marks[mark.group].start) + 1, LONGEST_COPIED
        )
        said = self.blanked[start:end]
        view = page_of(hit)
        if self._quoted(start, end):
            parts = [said]
        else:
            parts = _ELLIPSIS.split(said)
        if span := copied_passage(parts, view) or printed_row(comparable_words(said), hit):
            return span, "", view.text[slice(*span)]
        if span := row_behind_head(said, view):
            # What a known table's row is headed by was looked for before, and is not what stands before it
            # here.
            known = any(
                row.start < span[1] and span[0] < row.end
                for table in hit.tables
                for row in table.rows
                if any(row.cells)
            )
            quote = view.text[slice(*span)]
            found = comparable_words(quote)
            tells = (
                telling_words(found) > 0 or len(found.texts) >= MIN_QUOTE_WORDS
            )  # so many figures stand nowhere in this order by chance
            return span, "" if tells and not known else OTHER_HEAD, quote
        return None

    def _statement(self, mark: _Mark) -> tuple[int, int]:
        """The words since the key before; the whole sentence where those are too few, as after "According
        to"; of a key below a table the table.
        """
        if table := self._table_above(self.marks[mark.group].start):
            return table
        start, end = self._bounds(bisect_right(self.starts, mark.start) - 1)
        clause = self._before(mark, start)
        words = comparable_words(self.blanked[slice(*clause)]).texts
        enough = len(words) >= MIN_QUOTE_WORDS or any(word[0].isdigit() for word in words)
        if enough:
            return clause
        return (max(start, clause[1] - LONGEST_STATEMENT), min(end, clause[1] + LONGEST_STATEMENT))

    def _before(self, mark: _Mark, start: int, longest: int = LONGEST_STATEMENT) -> tuple[int, int]:
        """From a position, or the key before, to the first of the keys that stand with this one; cut to
        what can be one statement.
        """
        first = self.marks[mark.group]
        start = max(start, self.marks[mark.group - 1].end if mark.group else 0)
        cut = max(start, first.start - longest)
        if cut > start:
            opened = next(
                (opened for opened, closed in reversed(self.quotations) if opened <= cut < closed), cut
            )
        else:
            opened = cut
        return max(start, opened), first.start

    def _paragraph(self, mark: _Mark) -> tuple[int, int] | None:
        """All that stands on the line between the key before and this one, where that is more than a
        sentence: a key may close a paragraph.
        """
        line = self.blanked.rfind("\n", 0, self.marks[mark.group].start) + 1
        paragraph = self._before(mark, line)
        if paragraph[0] < self._statement(mark)[0]:
            return paragraph
        return None

    def _passage(self, start: int, end: int, hit: Hit) -> tuple[tuple[int, int], str, str]:
        """Offsets, reason ("" where verified) and quote for one statement."""
        view = page_of(hit)
        statement = self.blanked[start:end]
        words = comparable_words(statement)
        if not words.texts:
            return (-1, -1), NOTHING_STATED, ""
        if quoted := [
            kept
            for parts in self._quoted(start, end)
            if (kept := [part for part in parts if not self._is_name(part, hit)])
        ]:
            place, reason, quote = quoted_passage(quoted, view)
            reason = reason or alteration(words, view.words, place)
            in_quotes = sum(telling_words(comparable_words(part)) for parts in quoted for part in parts)
            told = in_quotes >= LEAST_QUOTED * telling_words(comparable_words(_FRAME.sub(" ", statement)))
            return (
                place,
                reason or ("" if told or repeats(_FRAME.sub(" ", statement), view, place) else IN_PART),
                quote,
            )
        figures = find_figures(statement)
        if span := unquoted_passage(words, figures, view):
            quote = view.text[slice(*span)]
            found = comparable_words(quote)
            # A label of one word with two figures after it is a row, which stands nowhere by chance.
            is_row = telling_words(found) > 0 and sum(word[0].isdigit() for word in found.texts) > 1
            tells = is_row or telling_words(found) >= min(TELLING_WORDS, telling_words(words))
            if not tells and (row := printed_row(words, hit)):
                return row, "", view.text[slice(*row)]
            if not tells:
                return span, FIGURE_ALONE, quote
            return (
                span,
                alteration(words, view.words, span)
                or ("" if repeats(_FRAME.sub(" ", statement), view, span) else IN_PART),
                quote,
            )
        stated = all(figures_stating(figure, view) for figure in figures)
        return (-1, -1), PARAPHRASED if stated else NOT_LOCATED, ""

    def _quoted(self, start: int, end: int) -> list[list[str]]:
        """The words in quotation marks, each quotation in the pieces that its ellipses leave; single words
        are only set off, not quoted.
        """
        quotations = [
            self.blanked[opened + 1 : closed - 1]
            for opened, closed in self.quotations
            if start <= opened < end
        ]
        split = (
            [part for part in _ELLIPSIS.split(quotation) if len(comparable_words(part).texts) > 1]
            for quotation in quotations
        )
        return [parts for parts in split if parts]

    def _is_name(self, part: str, hit: Hit) -> bool:
        """Whether short words in quotation marks are a title or repeat the question, and are no quotation."""
        if len(comparable_words(part).texts) >= MIN_QUOTE_WORDS:
            return False
        return any(
            locate(text, part) for text in (hit.document, hit.context, self.prompt.question)
        ) and not locate(hit.page_text, part)

    def _bounds(self, index: int) -> tuple[int, int]:
        return self.starts[index], self.starts[index + 1] if index + 1 < len(self.starts) else len(
            self.blanked
        )

    def _marks_within(self, start: int, end: int) -> list[_Mark]:
        return self.marks[bisect_left(self.mark_starts, start) : bisect_left(self.mark_starts, end)]

    def _keys_together(self, mark: _Mark) -> tuple[str, ...]:
        """The known keys of the marks that stand side by side with this one, each once."""
        if mark.group not in self.keys_of_groups:
            self.keys_of_groups[mark.group] = tuple(
                dict.fromkeys(key for one in self._together(mark) for _, key in one.keys if key)
            )
        return self.keys_of_groups[mark.group]

    def _together(self, mark: _Mark) -> list[_Mark]:
        """The marks that stand side by side with this one: "[S1][S2]", "[S1], [S2]"."""
        last = mark.group + 1
        while last < len(self.marks) and self.marks[last].group == mark.group:
            last += 1
        return self.marks[mark.group : last]

    def _nearby(self, index: int) -> list[_Mark]:
        """For a sentence without keys: those of the next sentence on its line, of the one before on it, of
        the line that leads its list in, those that close its whole paragraph, or of arithmetic, all."""
        start, end = self._bounds(index)
        if below := self._below_table(start):
            return below
        if marks := self._marks_within(end, self._up_to("\n", start)):
            return self._together(marks[0])
        if marks := self._marks_within(self.blanked.rfind("\n", 0, start) + 1, start):
            return self._together(marks[-1])
        if marks := self._leading_in(index) or self._closing(start, end):
            return marks
        # An item of a list whose key stands behind the last one.
        if SAFE_ITEM.match(self.blanked, start) and (
            marks := self._marks_within(end, self._up_to("\n\n", end))
        ):
            return self._together(marks[0])
        # The operands of arithmetic are cited with their own rows, before or after it.
        if "=" in self.blanked[start:end]:
            return self.marks
        return []

    def _table_above(self, position: int) -> tuple[int, int] | None:
        """The table whose last row ends right above a position, with nothing but blanks between; None
        where there is none.
        """
        above = self.blanked[:position].rstrip()
        if not above.endswith("|") or "\n" not in self.blanked[len(above) : position]:
            return None
        table = _TABLE_AT_END.search(above, max(0, len(above) - LONGEST_STATEMENT))
        if table:
            return (table.start(), len(above))
        return None

    def _below_table(self, start: int) -> list[_Mark]:
        """Of a row of a table the keys that stand right below it, where they belong to no sentence of
        their own.
        """
        rows = _ROWS.match(self.blanked, start)
        if rows is None:
            return []
        marks = self._marks_within(rows.end(), self._up_to("\n", rows.end()))
        if marks and not self.blanked[rows.end() : marks[0].start].strip():
            return self._together(marks[0])
        return []

    def _up_to(self, mark: str, position: int) -> int:
        """Where the next of these marks begins from a position on, the text's end where there is none."""
        found = self.blanked.find(mark, position)
        if found >= 0:
            return found
        return len(self.blanked)

    def _leading_in(self, index: int) -> list[_Mark]:
        before = bisect_left(self.leads, index)
        if before:
            above = self.leads[before - 1]
        else:
            above = -1
        if before and self._said(above).endswith(":"):
            return self._marks_within(*self._bounds(above))
        return []

    def _said(self, index: int) -> str:
        return self.blanked[slice(*self._bounds(index))].rstrip()

    def _closing(self, start: int, end: int) -> list[_Mark]:
        """The only keys of a paragraph, where they stand at its end: they are meant for all of it."""
        last = self._up_to("\n\n", end)
        marks = self._marks_within(self.blanked.rfind("\n\n", 0, start) + 1, last)
        alone = (
            bool(marks)
            and marks[0].group == marks[-1].group
            and not re.search(r"[^\W_]", self.blanked[marks[-1].end : last])
        )
        return marks if alone else []


def _sentence_starts(text: str, quotations: list[tuple[int, int]]) -> list[int]:
    """Where sentences and lines begin, never inside a quotation. Blank lines, and those of keys only,
    belong to what precedes.
    """
    starts = [0]
    opened = [start for start, _ in quotations]
    line = 0
    for said in text.splitlines(keepends=True):
        spans = sentence_spans(said, longest=len(said))
        begun = [
            line + (end - len(said[start:end].lstrip()) if start else 0)
            for start, end in spans
            if said[start:end].strip()
        ]
        quotations_at = [
            quotations[max(0, bisect_right(opened, at) - 1)] if opened else (0, 0) for at in begun
        ]
        starts += [
            at for at, (first, last) in zip(begun, quotations_at, strict=True) if at and not first < at < last
        ]
        line += len(said)
    return starts
