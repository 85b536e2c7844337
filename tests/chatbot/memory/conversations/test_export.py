"""A conversation taken away: everything that was said and checked is in it, and nothing of it takes effect
where it is shown.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from chatbot.memory.conversations.conversation_store import ConversationRow, StoredExchange
from chatbot.memory.conversations.export import FORMATS, export_conversation, file_name
from chatbot.records import Answer, Citation, NumberCheck
from chatbot.serialize import NON_JOINER as APART

BRIDGE = ConversationRow(
    "abc", "me", "Bridge costs: what is <b>known</b>?", 1_700_000_000.0, 1_700_000_100.0, 2, None, True, False
)
CITED = Citation("S1", "Rules_2024.pdf", 8, "6", "The cost is $4.5 million.", True)
UNKNOWN = Citation("S9", None, None, None, "", False)
ANSWER = Answer(
    "What does it cost?",
    "What does the bridge cost?",
    "It costs $4.5 million [S1].",
    True,
    citations=(CITED, UNKNOWN),
    numbers=(NumberCheck("$4.5 million", 4.5, "USD", 1e6, None, "supported", "S1-7f3a"),),
)
OF_A_MODEL = replace(ANSWER, model="gpt")


def said(text: str, question: str = "How much?", number: int = 1, state: str = "complete") -> StoredExchange:
    return StoredExchange("abc", number, question, text, state, text, 1_700_000_000.0)


SAID = [
    said(ANSWER.text, ANSWER.question),
    said("Half an ans", "And [this](http://evil.example)?", 2, "stopped"),
]


def markdown(text: str, answer: Answer | None) -> str:
    """A conversation of one exchange."""
    return export_conversation(BRIDGE, [said(text)], [answer], "markdown")


def test_markdown_reads_as_the_conversation_did() -> None:
    text = export_conversation(BRIDGE, SAID, [ANSWER, None], "markdown")
    assert text.startswith(f"# Bridge costs: what is <{APART}b>known<{APART}/b>?\n")
    assert "## 1. What does it cost?" in text
    assert "It costs \\$4.5 million [S1]." in text
    assert (
        "- [S1] Rules_2024.pdf, page 8 (printed 6), located on the page: “The cost is \\$4.5 million.”"
        in text
    )
    assert "- [S9] no such source" in text
    assert "- Figure \\$4.5 million: ✓ on the cited page" in text
    assert "Searched: “What does the bridge cost?”." in text
    assert "This answer was stopped." in text
    assert f"## 2. And [this]{APART}(http:/{APART}/evil.example)?" in text


def test_the_beginning_of_a_line_makes_no_list_and_no_heading() -> None:
    text = markdown("3. of 4\n# 5\n3.0 per cent\n- and _this_ of a_b", None)
    assert "3\\. of 4  \n\\# 5  \n3\\.0 per cent  \n\\- and \\_this\\_ of a_b" in text


def test_what_a_chat_model_formats_stays_but_for_headings_links_and_html() -> None:
    wrote = (
        "## Cost\n\n**It** costs $4 [x](http://evil.example) ![i](http://evil.example) <b>.\n\n- one\n- "
        "two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n---"
    )
    text = markdown(wrote, OF_A_MODEL)
    link = f"]{APART}(http:/{APART}/evil.example)"
    assert f"\n\\## Cost\n\n**It** costs \\$4 [x{link} ![i{link} <{APART}b\\>.\n" in text
    assert "\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\\---\n" in text
    of_no_model = markdown(wrote, ANSWER)
    assert "\\*\\*It\\*\\*" in of_no_model


@pytest.mark.parametrize(
    "wrote", ["It is so.\n\n```\nx", "- # h", "1. # h\n* # g", "> # h", "- - # h", "~~~\nx", "   ```\nx"]
)
def test_a_chat_model_makes_no_heading_and_leaves_no_code_open(wrote: str) -> None:
    exchanges = [said(wrote), said(wrote, number=2)]
    text = export_conversation(BRIDGE, exchanges, [OF_A_MODEL, OF_A_MODEL], "markdown")
    shown = MarkdownIt("commonmark", {"html": True}).render(text)
    tags = re.findall(r"<(h[1-6]|pre|code)\b", shown)
    assert tags == ["h1", "h2", "h3", "h2", "h3"]


def test_json_holds_everything_that_was_checked() -> None:
    whole = json.loads(export_conversation(BRIDGE, SAID, [ANSWER, None], "json"))
    complete, stopped = whole["exchanges"]
    assert complete["state"] == "complete"
    details = complete["details"]
    assert (details["citations"][0]["page"], details["numbers"][0]["status"]) == (8, "supported")
    assert stopped["state"] == "stopped"
    assert stopped["details"] is None
    assert stopped["answer"] == "Half an ans"


def test_names_of_files_fit_every_system() -> None:
    assert file_name(BRIDGE, "markdown") == "bridge-costs-what-is-b-known-b.md"
    hostile = replace(BRIDGE, title="../../§")
    assert file_name(hostile, "json") == "conversation.json"


def test_a_format_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="none of"):
        export_conversation(BRIDGE, SAID, [None, None], "pdf")
    assert FORMATS == ("markdown", "json")
