"""What clients may draw as Markdown: nothing in it is loaded, leads anywhere or is HTML."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chatbot.records import Citation
from chatbot.serialize import NON_JOINER, neutral_markdown
from ingestion.invisible_characters import visible

DRAWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
LIVE = re.compile(r"<(?!/?(?:p|ul|ol|li|strong|em|code|pre|h[1-6]|br|hr|blockquote|s|t\w+)\b[^>]*>)", re.I)
# What GitHub's Markdown and linkify-it link by themselves, after escapes and entities are resolved.
BARE = re.compile(r"//|www\.", re.I)
HOSTILE = (
    "![x](https://evil.example/p.png)",
    "[look](//evil.example/a)",
    "[look](javascript:alert(1))",
    "[look]\n(https://evil.example)",
    "\\[look](https://evil.example)",
    "\\\\[look](https://evil.example)",
    "`\\`[look](https:evil.example)",
    "[S1]\n\n[S1]: https://evil.example",
    "> - [S1]: javascript:alert(1)",
    "![x][i]\n\n[i]:https://evil.example/p.png",
    "<javascript:alert(1)>",
    "<img src=https://evil.example/p.png>",
    "a <b>\n<!-- c -->\n<script>alert(1)</script>\n</p>\n<?php ?>",
    "see https://evil.example/?q=secret",
    "see https\\://evil.example and https:\\/\\/evil.example and www\\.evil.example",
    "see https&#58;//evil.example and https&colon;&sol;&#x2f;evil.example",
    "WWW.evil.example, ftp://evil.example, //evil.example",
    "```html\n<script>alert(1)</script>\n```",
    "$\\href{javascript:alert(1)}{x}$",
)
PIECES = [
    *"![]()<>:/\\&#;.\n `ax",
    "https:",
    "www",
    "[S1]",
    "&amp;",
    "&#58;",
    "\\href",
    "javascript:",
    "\r",
    "\u202e",
    "\x1b",
]


def shown(text: str) -> str:
    """The words that a client shows of HTML."""
    return unescape(re.sub(r"<[^>]*>", "", text))


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_that_a_model_or_document_says_takes_effect(text: str) -> None:
    drawn = DRAWN.render(neutral_markdown(text))
    assert not LIVE.search(drawn)
    assert not BARE.search(shown(drawn))
    assert "\\href" not in shown(drawn)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_no_text_takes_effect(text: str) -> None:
    neutral = neutral_markdown(text)
    drawn = DRAWN.render(neutral)
    assert not LIVE.search(drawn)
    assert not BARE.search(shown(drawn))
    assert neutral.replace(NON_JOINER, "") == visible(text)
    for end in range(len(text)):
        assert neutral.startswith(neutral_markdown(text[:end])), "what was streamed is its beginning"


def test_what_is_unseen_or_turns_the_text_around_is_written_out() -> None:
    assert neutral_markdown("It is \u202e0.3\x1b[2J\U000e0041 per cent.") == (
        "It is ‹U+202E›0.3‹U+001B›[2J‹U+E0041› per cent."
    )


def test_formatting_and_figures_stay_as_they_were_written() -> None:
    text = "**Debt** is <5% of GDP [S1, S2], not 3/4 (see [S1] & Annex).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert neutral_markdown(text) == text


def test_the_address_of_a_cited_web_page_stays_one() -> None:
    def cited(address: str) -> list[Citation]:
        return [Citation("S1", address, 1, None, "", True, version=-1)]

    page = "https://www.news.example/a"
    assert page in neutral_markdown(f"So it is ({page}).", cited(page))
    assert page not in neutral_markdown(f"So it is ({page}).")
    assert "<a" not in DRAWN.render(neutral_markdown(f"[so it is]({page})", cited(page)))
    assert page in neutral_markdown(f"[S1] {page}: verified", cited(page))
    for longer in (f"{page}.evil.example/x", f"{page}:1@evil.example", f"{page}-evil.example"):
        assert page not in neutral_markdown(f"({longer})", cited(page))
    wrong = "javascript://alert(1)"
    assert wrong not in neutral_markdown(wrong, cited(wrong))
