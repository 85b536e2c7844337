"""Pages that an answer speaks of beside its citations."""

from __future__ import annotations

import pytest

from chatbot.answer.citations.named_pages import uncited_pages
from chatbot.records import Citation
from tests.case_rows import case_rows

CITED = Citation("S1", "Rules.pdf", 12, "8", "as said on page 40", True, version=1)
NAMED = """
77 99 | On page 77 of the statement (p. 99) it says so [S1].
3 | See pp. 3 and page 3.
none | It stands on page 12, which is printed as p. 8.
none | As said on page 40, the ceiling holds.
none | The webpage 5 and 3 pages of text; p.2.5 is no page, page 1,200 neither.
"""


@pytest.mark.parametrize(("pages", "text"), case_rows(NAMED))
def test_pages_are_named_that_no_citation_leads_to(text: str, pages: str) -> None:
    found = uncited_pages(text, [CITED])
    assert (" ".join(found) or "none") == pages
