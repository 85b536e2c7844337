"""Pages that an answer speaks of beside its citations."""

from __future__ import annotations

import pytest

from chatbot.answer.citations.named_pages import uncited_pages
from chatbot.records import Citation

CITED = Citation("S1", "Rules.pdf", 12, "8", "as said on page 40", True, version=1)


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("On page 77 of the statement (p. 99) it says so [S1].", ("77", "99")),
        ("See pp. 3 and page 3.", ("3",)),
        ("It stands on page 12, which is printed as p. 8.", ()),
        ("As said on page 40, the ceiling holds.", ()),
        ("The webpage 5 and 3 pages of text; p.2.5 is no page, page 1,200 neither.", ()),
    ],
)
def test_pages_are_named_that_no_citation_leads_to(text: str, pages: tuple[str, ...]) -> None:
    assert uncited_pages(text, [CITED]) == pages
