"""Lets a chat model look further while it answers: calls of tools bring pages, which become sources."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from chatbot.answer.citations.citation_forms import with_inert_keys
from chatbot.answer.prompt import PICTURE_TOKENS, numbered_source, sources_of
from chatbot.answer.source_text import source_text
from chatbot.comparison.key_figure_files import figure_lines
from chatbot.errors import ProjectError
from chatbot.lookup import lookup_forms as forms
from chatbot.lookup.lookup_forms import LOOKUP_TOOLS
from chatbot.lookup.lookups import Heading, Lookups
from chatbot.models.tokens import count_tokens, cut_to_tokens
from chatbot.models.tool_calls import OfferedTool, ToolCall, ToolReply, ToolRound, shown_arguments
from chatbot.records import Event, Hit, Look, Prompt, ProposedCall, Stage
from chatbot.store.document_names import LONGEST_NAME, listed
from chatbot.tools.tool_texts import ServerTool
from ingestion.invisible_characters import one_line
from ingestion.prompt_injection.injections import find_instructions

__all__ = ["MOST_CALLS", "LookupSession", "reach"]

# Calls of one answer, and seconds in which a call may begin.
MOST_CALLS, MOST_SECONDS = 8, 60.0
# Tokens of a page, of the passage of one that was found, and of a list.
PAGE_TOKENS, PASSAGE_TOKENS, LIST_TOKENS = 2_500, 400, 1_500
# A call that would leave fewer tokens for what it brings is not made.
LEAST_ROOM = 500
MOST_FOUND, MOST_FIGURES, MOST_LISTED = 6, 60, 50
# Sources of an answer: the largest number that a citation has, and more than any prompt holds.
MOST_SOURCES = 99
# The longest summary of a call that users see; enough for six pages of six documents.
LONGEST_TOLD = 1_500
UNKNOWN = "There is no such tool. There are {names}."
WRONG = "These arguments are wrong: {why}. Mend them, or answer without."
# Floats hold all digits of smaller numbers.
LARGEST = 1e15
PROPOSED = "The user is asked whether to make this call. Answer now from what you have."
LONGEST_PROPOSED = 2_000
TOO_LONG_TO_PROPOSE = (
    f"The arguments have over {LONGEST_PROPOSED:,} characters, which nobody reads. Shorten them."
)
LONGEST_LINE = 200
# Added to the description of `get_page` for a model that sees.
CHARTS = " A page with a chart and little text comes as a picture too: read the chart from that."
ENOUGH = "No more calls: write the answer now."


class LookupSession:
    """What the model of one question may look up, and what came of it.

    prompt: with all sources so far. rounds: the calls so far.
    """

    def __init__(
        self,
        lookups: Lookups,
        prompt: Prompt,
        names: Sequence[str],
        room: int,
        stop: Callable[[], bool],
        foreign: Mapping[str, ServerTool],
        *,
        sees: bool = False,
    ) -> None:
        """names: of the documents in reach, () for all. room: tokens that prompt and calls may take.

        foreign: tools of other servers, by name. The model has seen pages, so no call of them is made here:
            it is proposed to the user.
        sees: whether pages with charts come as pictures too.
        """
        self._sees = sees
        self._lookups, self._names, self._stop, self._foreign = lookups, tuple(names), stop, foreign
        self.prompt = prompt
        self.rounds: tuple[ToolRound, ...] = ()
        shown = zip(prompt.sources.items(), sources_of(prompt), strict=False)
        self._whole = {key for (key, hit), source in shown if source.text == source_text(hit)}
        self._left = room - sum(count_tokens(content) for _, content in prompt.messages)
        self._share = self._left
        self._end = time.monotonic() + MOST_SECONDS
        self._work: dict[str, Callable[[dict[str, object]], _Brought]] = {
            "search_documents": self._search,
            "get_page": self._page,
            "get_outline": self._outline,
            "find_text": self._find,
            "key_figures": self._figures,
            "calculate": self._calculate,
            "list_documents": self._list,
        }

    @property
    def offered(self) -> list[OfferedTool]:
        """The tools that may still be called, [] for none."""
        if self._is_over:
            return []
        own = [tool.offered(name) for name, tool in LOOKUP_TOOLS.items()]
        if self._sees:
            own = [
                replace(tool, description=tool.description + CHARTS) if tool.name == "get_page" else tool
                for tool in own
            ]
        return [*own, *(tool.offered for tool in self._foreign.values())]

    @property
    def _is_over(self) -> bool:
        return len(self.prompt.looks) >= MOST_CALLS or time.monotonic() > self._end or self._left < LEAST_ROOM

    def take(self, said: str, calls: Sequence[ToolCall]) -> Generator[Event, None, None]:
        """Do what the model calls, with a stage before each call. said: what it wrote beside the calls."""
        replies = []
        self._left -= count_tokens(said)
        # What is left serves another round too.
        self._share = max(LEAST_ROOM, self._left * 2 // 3 // max(1, len(calls)))
        for call in calls:
            if self._stop():
                break
            if self._is_over:
                reply = ToolReply(call, ENOUGH)
            else:
                done = len(self.prompt.looks) + 1
                yield Stage("looking", done, MOST_CALLS, self._said(call))
                brought = self._called(call)
                reply = ToolReply(call, brought.text, brought.picture)
            replies.append(reply)
            self._left -= count_tokens(reply.shown) + count_tokens(str(call.arguments))
            self._left -= PICTURE_TOKENS * bool(reply.picture)
        self.rounds += (ToolRound(said, tuple(replies)),)

    def _said(self, call: ToolCall) -> str:
        """What is looked for, in words."""
        given = {name: one_line(str(value), 80) for name, value in call.arguments.items()}
        document = self._document(call.arguments.get("document", ""))
        match call.name:
            case "search_documents":
                documents = call.arguments.get("documents")
                named = documents if isinstance(documents, list) else []
                within = f" in {listed([self._document(one) for one in named])}" if named else ""
                return f"Looking for “{given.get('query', '')}”{within}"
            case "get_page":
                return f"Reading page {given.get('page', '')} of {document}"
            case "get_outline":
                return f"Reading the headings of {document}"
            case "find_text":
                return f"Finding “{given.get('words', '')}” in {document}"
            case "key_figures":
                return f"Reading the key figures of {document}"
            case "calculate":
                return f"Calculating {given.get('expression', '')}"
            case "list_documents":
                return "Listing the documents"
        foreign = self._foreign.get(call.name)
        return f"Proposing to ask {foreign.label}" if foreign else f"Calling {one_line(call.name, 64)}"

    def _document(self, called: object) -> str:
        """The name of a document, on one line; what it was called where there is none."""
        try:
            return one_line(self._lookups.document(str(called), self._names)[1], LONGEST_NAME)
        except ProjectError:
            return one_line(str(called), 80)

    def _called(self, call: ToolCall) -> _Brought:
        """What a call brings the model. What goes wrong is a sentence that it can use."""
        before = len(self.prompt.sources)
        work = self._work.get(call.name)
        try:
            if call.name in self._foreign:
                brought = self._propose(call)
            elif work is None:
                brought = _Brought(UNKNOWN.format(names=", ".join(self._work)), "no such tool")
            else:
                brought = work(dict(call.arguments))
        except ValidationError as error:
            why = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:3])
            brought = _Brought(WRONG.format(why=one_line(why, 300)), "wrong arguments")
        except ProjectError as error:
            brought = _Brought(f"{error.message} {error.hint or ''}".strip(), error.message)
        look = Look(
            one_line(call.name, 64),
            self._said(call),
            one_line(brought.told, LONGEST_TOLD),
            len(self.prompt.sources) - before,
        )
        worked_out = (brought.expression,) if brought.expression else ()
        self.prompt = replace(
            self.prompt,
            looks=(*self.prompt.looks, look),
            calculations=(*self.prompt.calculations, *worked_out),
        )
        return brought

    def _propose(self, call: ToolCall) -> _Brought:
        proposed = ProposedCall(call.name, shown_arguments(call))
        if len(proposed.arguments) > LONGEST_PROPOSED:
            return _Brought(TOO_LONG_TO_PROPOSE, "too long to be shown")
        if proposed not in self.prompt.proposed:
            self.prompt = replace(self.prompt, proposed=(*self.prompt.proposed, proposed))
        return _Brought(PROPOSED, "not asked: you decide below the answer")

    # --- the tools
    # --------------------------------------------------------------------------------------------------------

    def _search(self, given: dict[str, object]) -> _Brought:
        asked = forms.SearchDocuments.model_validate(given)
        asked = asked.model_copy(update={"k": min(asked.k, MOST_FOUND)})
        return self._sources(self._lookups.search(asked, self._names), PASSAGE_TOKENS)

    def _page(self, given: dict[str, object]) -> _Brought:
        hit = self._lookups.page(forms.GetPage.model_validate(given), self._names)
        brought = self._sources([hit], PAGE_TOKENS)
        key, _ = self.prompt.with_source(hit)
        fits = self._share >= PICTURE_TOKENS + LEAST_ROOM
        if not (self._sees and fits and key in self.prompt.sources and key not in self.prompt.pictured):
            return brought
        if picture := self._lookups.chart(hit):
            self.prompt = replace(self.prompt, pictured=(*self.prompt.pictured, key))
            return replace(brought, told=f"{brought.told}, with its picture", picture=picture)
        return brought

    def _find(self, given: dict[str, object]) -> _Brought:
        asked = forms.FindText.model_validate(given)
        found = self._lookups.find_text(asked, self._names)
        hits = self._lookups.pages_at(asked, found, self._names)[:MOST_FOUND]
        brought = self._sources(hits, PASSAGE_TOKENS)
        counted = f"Found on {found.count:,} page{'' if found.count == 1 else 's'}."
        return _Brought(f"{counted}\n\n{brought.text}", brought.told)

    def _outline(self, given: dict[str, object]) -> _Brought:
        found = self._lookups.outline(forms.GetOutline.model_validate(given), self._names)
        lines = [f"{found.document}: {found.pages:,} pages.", *_lines("Headings:", found.headings)]
        lines += _lines("Tables:", found.tables)
        told = f"{len(found.headings):,} headings and {len(found.tables):,} tables"
        return _Brought(cut_to_tokens("\n".join(lines), min(LIST_TOKENS, self._share)), told)

    def _figures(self, given: dict[str, object]) -> _Brought:
        sheet = self._lookups.key_figures(forms.KeyFigures.model_validate(given), self._names)
        lines = [line for line in figure_lines(sheet) if line["page"]][:MOST_FIGURES]
        if not lines:
            return _Brought("Its tables have none of these figures.", "no key figures")
        hits = self._lookups.pages_of(lines[0]["document"], [line["page"] for line in lines], self._names)
        pages = {hit.page: hit for hit in hits}
        shown: list[str] = []
        tokens = 0
        for line in lines:
            said = f"{line['measure']} · {line['period']}: {line['printed']} {line['printed in']}"
            said = with_inert_keys(one_line(f"{said} · row “{line['row']}”", LONGEST_LINE))
            tokens += count_tokens(said) + 5  # for the number
            if tokens > min(LIST_TOKENS, self._share):
                break
            if number := self._number(pages.get(line["page"])):
                shown.append(f"{said} [{number}]")
        return _Brought("\n".join(shown), f"{len(shown):,} key figures")

    def _calculate(self, given: dict[str, object]) -> _Brought:
        worked_out = self._lookups.calculate(forms.Calculate.model_validate(given))
        text = f"{worked_out.expression} = {_exact(worked_out.value)}"
        return _Brought(f"{text}\nCite the sources of its figures.", text, worked_out.expression)

    def _list(self, given: dict[str, object]) -> _Brought:
        forms.ListDocuments.model_validate(given)
        titled = self._lookups.titled(self._names)
        return _Brought(reach(titled, MOST_LISTED), f"{len(titled):,} documents")

    def _sources(self, hits: Sequence[Hit], tokens: int) -> _Brought:
        """Pages with their numbers; those that the model has whole are only named."""
        if not hits:
            return _Brought("No page was found.", "no page")
        blocks = []
        whole = tokens == PAGE_TOKENS
        tokens = min(tokens, self._share // len(hits))
        for hit in hits:
            number = self._number(hit)
            if not number:
                break
            key = f"S{number}-{self.prompt.nonce}"
            if key in self._whole:
                blocks.append(f"[{number}] is among the sources above, whole.")
                continue
            text = source_text(hit)
            is_whole = count_tokens(text) <= tokens
            if not is_whole:
                since = 0 if whole else max(0, hit.page_text.find(hit.text))
                text = cut_to_tokens(source_text(hit, since=since), tokens)
            if is_whole:
                self._whole.add(key)
            blocks.append(numbered_source(number, hit, text, self.prompt.nonce))
        if not blocks:
            return _Brought(f"There are {MOST_SOURCES} sources, and there can be no more.", "no more sources")
        return _Brought("\n\n".join(blocks), _pages(hits[: len(blocks)]))

    def _number(self, hit: Hit | None) -> int:
        """The number of a page as a source, a new one if it is none yet; 0 if there are no more."""
        if hit is None:
            return 0
        key, found = self.prompt.with_source(hit)
        if len(found.sources) > max(MOST_SOURCES, len(self.prompt.sources)):
            return 0
        self.prompt = found
        return int(key.partition("-")[0][1:])


@dataclass(frozen=True, slots=True)
class _Brought:
    """What a call brought. text: for the model. told: for readers. expression: that was worked out.
    picture: of a page, b"" for none."""

    text: str
    told: str
    expression: str = ""
    picture: bytes = b""


def _exact(value: float) -> str:
    """A value with its thousands set apart, without an exponent and what floats add to it."""
    return f"{value:,.10f}".rstrip("0").rstrip(".") if abs(value) < LARGEST else f"{value:.12g}"


def _pages(hits: Iterable[Hit]) -> str:
    """Pages by document, "pages 3, 5 of Budget.pdf"."""
    numbers: dict[str, list[str]] = {}
    for hit in hits:
        numbers.setdefault(hit.document, []).append(str(hit.page))
    said = [
        f"{'page' if len(pages) == 1 else 'pages'} {', '.join(pages)} of {document}"
        for document, pages in numbers.items()
    ]
    return "; ".join(said)


def reach(titled: Sequence[tuple[str, str, int]], most: int) -> str:
    """The documents that tools can look into, a line each. titled: name, title and pages."""
    lines = [
        f"- {name}{f' ({title})' if title != name and not find_instructions(title) else ''}: {pages:,} pages"
        for name, title, pages in titled[:most]
    ]
    if len(titled) > most:
        lines.append(f"… and {len(titled) - most:,} more; see list_documents.")
    return with_inert_keys("\n".join(["Documents:", *(one_line(line, LONGEST_LINE) for line in lines)]))


def _lines(head: str, headings: Iterable[Heading]) -> list[str]:
    lines = [with_inert_keys(f"page {one.page}: {one.title}") for one in headings]
    return [head, *lines] if lines else []
