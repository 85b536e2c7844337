"""Which pages stand for a whole document, where a question asks for all of it: "Summarise the report"; searches for nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from chatbot.records import Understanding
from ingestion.language.numbers.spelled import NUMBER_WORDS
from ingestion.language.terms import content_terms
from ingestion.page_kinds import CONTENTS, INDEX_OF_STATEMENTS, RISK_FACTORS_OR_BOILERPLATE

__all__ = ["asks_for_all", "outline"]

_WHOLE = re.compile(
    r"\b(?:summar(?:y|i[sz]e)|overview|outline|gist|in a nutshell|(?:main|key|major|most important) (?:points?|messages?|takeaways?|findings?|topics?)"
    r"|what (?:is|does) (?:it|(?:this|the|that)\b[\w ]{1,40}?) (?:about|say|cover|contain))\b",
    re.IGNORECASE,
)
# What such a question says beside it, and a name: nothing of a subject.
_BESIDE = frozenset(
    content_terms(
        "summary summarise summarize overview outline gist nutshell main key major most important points messages takeaways findings topics about say cover "
        "contain document report paper speech statement filing file pdf text whole entire brief briefly short sentences bullets words give tell write list "
        f"please {' '.join(NUMBER_WORDS)}"
    )
)
# Pages with fewer characters are covers and dividers.
LEAST_TEXT = 300
_ASIDE = frozenset((CONTENTS, INDEX_OF_STATEMENTS, RISK_FACTORS_OR_BOILERPLATE))


def asks_for_all(asked: Understanding, names: Collection[str]) -> bool:
    """Whether a question asks for a document as a whole and for nothing in it. names: of documents, whose words say which one."""
    if not _WHOLE.search(asked.query):
        return False
    named = {term for name in (*names, *asked.names) for term in content_terms(re.sub(r"[\W_]+", " ", name))}
    return all(term in _BESIDE or term in named or term[0].isdigit() for term in content_terms(asked.query))


def outline(
    texts: Sequence[str], heads: Mapping[int, str], kinds: Mapping[int, Sequence[str]], count: int, beside: Collection[int] = ()
) -> list[int]:
    """Physical pages, at most so many, in order: the first with text, those that begin a section, and between them others, all at even distances.

    texts: of all pages; heads, kinds: what a page stands under, and what it is, by its number. beside: pages that are there already."""
    there = {page for page, text in enumerate(texts, 1) if len(text) >= LEAST_TEXT and _ASIDE.isdisjoint(kinds.get(page, ()))}
    full = sorted(there.difference(beside))
    begins = [page for page in full[1:] if heads.get(page) and heads[page] != heads.get(page - 1)]
    chosen = [*full[:1], *_evenly(begins, count - 1)][:count]
    return sorted([*chosen, *_evenly([page for page in full if page not in chosen], count - len(chosen))])


def _evenly(pages: Sequence[int], count: int) -> list[int]:
    """So many of them at even distances; all where there are no more."""
    return [pages[(2 * at + 1) * len(pages) // (2 * count)] for at in range(count)] if 0 < count < len(pages) else list(pages[: max(0, count)])
