"""Puts texts from outside the store among the pages of a question: web pages, results of tools.

They are quoted and checked like pages, and nothing of them is stored. It fetches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from chatbot.models.tokens import encodable
from chatbot.records import Citation, Hit
from ingestion.chunks import split_page
from ingestion.invisible_characters import one_line, title_line, visible
from ingestion.language.terms import content_terms, terms
from ingestion.prompt_injection.injections import find_instructions
from ingestion.records import NAMED

__all__ = ["LONGEST_TEXT", "MOST_TEXTS", "ExternalText", "with_texts", "without_reports"]

# Characters of a text and of an address; the rest is cut off.
LONGEST_TEXT = 20_000
LONGEST_ADDRESS = 2_000
# Texts that one question may bring.
MOST_TEXTS = 12
# Chunks of a text that are compared with the question by their meaning: those with most of its words.
MOST_COMPARED = 8
# Chunks before and behind the best one that can be quoted too.
BEFORE, BEHIND = 1, 3
# Pages that the texts are compared with, and how many times the best of them a text may count.
MOST_PAGES = 3
MOST_SHARE = 1.5

REPORTED = "This is what the search tool reports of the page. The page itself was not read."
# Gives the cosines of some texts to the question, in [-1, 1].
Cosines = Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class ExternalText:
    """A text that comes with a question: data, whatever it says.

    address: where it is from, shown as the document's name; nothing is fetched from it.
    title: what it calls itself, "" if it does not.
    text: its words, cut to LONGEST_TEXT characters, with invisible characters written out.
    reported: whether they are what a search tool says of the page, which was not read itself.
    """

    address: str
    title: str
    text: str
    reported: bool = False

    def __post_init__(self) -> None:
        address = one_line(encodable(self.address), LONGEST_ADDRESS)
        object.__setattr__(self, "address", address or "text without an address")
        object.__setattr__(self, "title", title_line(encodable(self.title)) or "")
        object.__setattr__(self, "text", visible(encodable(self.text[:LONGEST_TEXT])))


def with_texts(
    pages: Sequence[Hit], texts: Sequence[ExternalText], question: str, cosines: Cosines | None
) -> list[Hit]:
    """Returns the pages in their order, with the texts before them that have more of the question, and the
    others behind them.

    A text is the one page of a document that is called by its address and has a version below 0.

    cosines: None to go by words alone.
    """
    asked = frozenset(content_terms(question))
    given = [text for text in texts[:MOST_TEXTS] if text.text.strip()]
    found = [_as_hit(text, -number, asked, cosines) for number, text in enumerate(given, 1)]
    found.sort(key=lambda hit: -hit.score)
    if not (pages and found):
        return [*found, *pages]
    nearness = max(_nearness([hit.text for hit in pages[:MOST_PAGES]], asked, cosines)) or 1.0
    best = max(hit.score for hit in pages)
    found = [replace(hit, score=best * min(MOST_SHARE, hit.score / nearness)) for hit in found]
    ahead = [hit for hit in found if hit.score >= best]
    return [*ahead, *pages, *found[len(ahead) :]]


def without_reports(citations: Sequence[Citation], texts: Sequence[ExternalText]) -> tuple[Citation, ...]:
    """Returns the citations; what is only reported of a page is not verified on it."""
    read = {text.address for text in texts if not text.reported}
    reported = {text.address for text in texts if text.reported} - read
    return tuple(_reported(citation) if citation.document in reported else citation for citation in citations)


def _reported(citation: Citation) -> Citation:
    known = "" if citation.basis == "unread" else citation.reason
    return replace(citation, verified=False, reason=known or REPORTED)


def _as_hit(text: ExternalText, version: int, asked: frozenset[str], cosines: Cosines | None) -> Hit:
    """The text as a page, with its best chunk, and the stretch around that for its body."""
    spans = split_page(text.text)
    chunks = [text.text[start:end] for start, end in spans]
    shares = _word_shares(chunks, asked)
    likely = sorted(range(len(chunks)), key=lambda at: (-shares[at], at))[:MOST_COMPARED]
    scores = _nearness([chunks[at] for at in likely], asked, cosines)
    score, best = max(zip(scores, likely, strict=True), key=lambda found: (found[0], -found[1]))
    title = f"{text.address}\n\n{text.title}"
    around = spans[max(0, best - BEFORE) : best + BEHIND]
    return Hit(
        document=text.address,
        version=version,
        page=1,
        page_label=None,
        label_source=None,
        extraction_method="text",
        confidence=None,
        chunk_id=f"{text.address}#{best}",
        text=chunks[best],
        page_text=text.text,
        body=text.text[around[0][0] : around[-1][1]],
        context=text.title,
        score=score,
        scores={"chunk_words": shares[best]},
        instructions=(*([NAMED] if find_instructions(title) else []), *find_instructions(text.text)),
    )


def _nearness(texts: Sequence[str], asked: frozenset[str], cosines: Cosines | None) -> list[float]:
    """How much each text has of the question, by words and meaning: 0 to 2."""
    shares = _word_shares(texts, asked)
    if cosines is None:
        return shares
    return [share + max(0.0, cosine) for share, cosine in zip(shares, cosines(texts), strict=True)]


def _word_shares(texts: Iterable[str], asked: frozenset[str]) -> list[float]:
    """The share of the question's words that each text has, 0 to 1."""
    return [len(asked.intersection(terms(text))) / max(1, len(asked)) for text in texts]
