"""Finds the pages that an answer names in its own words and no citation of it leads to."""

from __future__ import annotations

import re
from collections.abc import Iterable

from chatbot.records import Citation

__all__ = ["uncited_pages"]

_NAMED = re.compile(
    r"(?<![\w.-])(?:pages?|pgs?\.|pp?\.)[ \u00a0]{0,2}(?P<number>[0-9]{1,4})(?![0-9]|[.,][0-9])",
    re.IGNORECASE,
)


def uncited_pages(text: str, citations: Iterable[Citation]) -> tuple[str, ...]:
    """The numbers of pages that a text names and no citation leads to, each once.

    A citation leads to a page by its place in the file or as printed. What the cited words themselves say
    ("see page 12") is not the text's own.
    """
    found = list(citations)
    cited = {str(citation.page) for citation in found}
    cited_as_printed = {citation.page_label for citation in found}
    quoted = {match["number"] for citation in found for match in _NAMED.finditer(citation.quote)}
    named = dict.fromkeys(match["number"] for match in _NAMED.finditer(text))
    known = cited | cited_as_printed | quoted
    return tuple(number for number in named if number not in known)
