"""Other people's text takes no effect wherever it is shown, whole or cut at any place, and loses nothing."""

from __future__ import annotations

import html.parser
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from chatbot.records import PageRef
from chatbot.ui.safe_text import (
    page_text,
    paragraphs_html,
    plain_html,
    plain_markdown,
    short,
    spoken,
    table_html,
)
from ingestion.invisible_characters import visible

HOSTILE = [
    "![x](http://127.0.0.1:9/a.png)",
    '<img src="http://127.0.0.1:9/a.png" onerror=alert(1)>',
    "<script>alert(1)</script>",
    "[click](javascript:alert(1)) <http://a.example> http://a.example www.a.example a@b.example",
    "$x^2$ and $$y$$, \\(z\\)",
    ":red[danger] :material/home: :smile: :+1: :streamlit: :material_home:",
    "# Heading\n- item\n1. first\n> quote\n| a | b |\n|---|---|\n| 1 | 2 |\n***\n```\ncode\n```",
    "-> <- <-> -- >= <= ~= and **bold** _em_ ~~gone~~ `code` &lt; &amp; \\*",
    ":::warning\nboo\n:::\n[^1]: note\n[a]: http://a.example",
    "</p></div><style>*{display:none}</style>",
]
# What Streamlit's pages look for in text after Markdown has been read, where backslashes help no more.
TRANSFORMED = [
    r":\+1:|:-1:|:[\w-]+:",
    r":material_(\w+):",
    r"(https?://|www(?=\.))([-.\w]+)",
    r"(?<!\w)([-.\w+]+)@([-\w]+(?:\.[-\w]+)+)",
    r"(^|\s)(<->|->|<-|--|>=|<=|~=)(\s|$)",
]
MARKS = "![]()<>$:*_`#-+=~|&\\/@.\n 1aw"
PIECE = st.one_of(st.sampled_from(HOSTILE), st.sampled_from(list(MARKS)), st.text(max_size=8))
PIECES = st.lists(PIECE, max_size=12)


class Elements(html.parser.HTMLParser):
    """The elements, attributes and text of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag in {"br", "p"}:
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        self.text += data


def shown_by_markdown(source: str) -> str:
    """The text of Markdown that must be nothing but text."""
    reader = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = reader.parse(source)
    if not tokens:
        return ""
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    _, inline, _ = tokens
    children = inline.children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    return "".join(child.content for child in children)


@given(PIECES.map("".join))
def test_markdown_shows_every_character_and_nothing_else(text: str) -> None:
    shown = shown_by_markdown(plain_markdown(text))
    seen = " ".join(visible(text).split())
    assert " ".join(shown.replace("\u2060", "").split()) == seen.replace("\u2060", "")
    for pattern in TRANSFORMED:
        assert not re.search(pattern, shown, re.ASCII | re.IGNORECASE)


@given(PIECES.map("".join))
def test_html_shows_every_character_and_nothing_else(text: str) -> None:
    elements = Elements(paragraphs_html(text))
    assert elements.names <= {"p", "br"}
    assert not elements.attributes
    assert elements.text.split() == visible(text).split()
    assert Elements(plain_html(text)).names == set()


def test_what_cannot_be_seen_is_written_out() -> None:
    assert visible("a\u202eb\x00c\r\nd") == "a‹U+202E›b‹U+0000›c\nd"
    turned = "invoice\u202efdp.exe"
    assert "\u202e" not in plain_markdown(turned)
    assert "\u202e" not in plain_html(turned)
    assert "\u202e" not in table_html(turned, [turned], [[turned]])


def test_tables_are_read_by_their_heads() -> None:
    html = table_html("<b>Figures</b>", ("Figure",), [("<img src=x>",)])
    elements = Elements(html)
    assert elements.names == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert elements.text == "<b>Figures</b>Figure<img src=x>"


def test_long_names_keep_their_ends() -> None:
    long = "a" * 300
    assert short(f"{long} (2).pdf", 40).endswith(" (2).pdf")
    assert len(short(long, 40)) <= 40
    assert short("short") == "short"
    title = "Ministry of Finance of the Republic of Valmora, Procurement Policy 2024"
    assert short(title, 60) == "Ministry of Finance of the Republic of … Policy 2024"


@pytest.mark.parametrize(
    ("label", "said"), [("8", "p. 12 (printed 8)"), ("12", "p. 12"), (None, "p. 12")], ids=str
)
def test_pages_are_named_physically_and_as_printed(label: str | None, said: str) -> None:
    page = PageRef("", 12, label)
    assert page_text(page).replace("\u00a0", " ") == said
    assert "p. " not in page_text(page)


def test_what_is_only_read_out_is_words_alone() -> None:
    assert spoken("Tax_Ruling (2).pdf") == "Tax Ruling 2 pdf"
    words = spoken("![x](http://a.example) :red[y] $z$ <b> 1. États_généraux")
    assert words == "x http a example red y z b 1 États généraux"
