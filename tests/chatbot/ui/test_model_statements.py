"""What a chat model said without a source, on the page, in the exported conversation, and while its answer
is kept.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.memory.conversations.export import export_conversation
from chatbot.records import (
    ADDED,
    Answer,
    NumberCheck,
    ReadBack,
    Statement,
    StatementCalculation,
    StatementQuote,
)
from chatbot.store.library import Upload
from chatbot.ui import answer_text
from chatbot.ui.answer_text import answer_html
from chatbot.ui.answers import checks_html, details_label
from chatbot.ui.ratings import copied_text
from tests.pages import ME, open_context, shown, visit
from tests.pdfs import make_pdf
from tests.provider import Mute, Provider, Refuse

CEILING = "The deficit ceiling is 3.0 per cent of output in every year"
BREACH = "A breach is reported to Parliament within 30 days"
WHEN = "When is a breach reported to Parliament?"
LEVY = "The government will abolish the fuel levy for all farmers next spring"


def test_the_page_and_the_export_mark_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Provider([f"{CEILING}. {LEVY}."]) as provider:
        monkeypatch.setenv("FINPOLICY_CHAT_MODEL", "m")
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        with open_context(tmp_path / "home") as context:
            chatbot = context.chatbot
            path = make_pdf(tmp_path / "Rules.pdf", [f"{CEILING}."])
            list(chatbot.add([Upload(path)]))
            talk = chatbot.conversations.begin(ME)
            asked = Ask("What is the deficit ceiling?", conversation=talk, owner=ME)
            list(chatbot.ask(asked))
            page = shown(visit(conversation=talk))
            row = chatbot.conversations.get(talk, ME)
            said = chatbot.conversations.said(talk, ME)
            answer = chatbot.memory.answer(talk, 1, ME)
            exported = export_conversation(row, said, [answer], "markdown")
    assert page.index('<span class="mark quoted"') < page.index(ADDED) < page.index(LEVY)
    assert page.count('<span class="mark ') == 1
    assert "Of 2 statements: 1 “ ” word for word." in page
    assert "Nobody compared 1 statement with the pages. m was too slow in its test" in page
    assert f"- not compared with the pages: “{LEVY}.”" in exported
    assert f"- “ ” word for word: “{CEILING}" in exported


def test_the_page_says_that_a_model_found_nothing_or_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = "NOT IN THESE DOCUMENTS. Nothing is said."
    with Provider([refusal, refusal, Refuse(400)]) as provider:
        monkeypatch.setenv("FINPOLICY_CHAT_MODEL", "m")
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        host = provider.url.split("/")[2]
        with open_context(tmp_path / "home") as context:
            chatbot = context.chatbot
            path = make_pdf(tmp_path / "Rules.pdf", [f"{CEILING}.\n{BREACH}."])
            list(chatbot.add([Upload(path)]))
            pages = []
            for question in ("What was the deficit ceiling in 2031?", *[WHEN] * 2):
                talk = chatbot.conversations.begin(ME)
                list(chatbot.ask(Ask(question, conversation=talk, owner=ME)))
                app = visit(conversation=talk)
                pages.append(unescape(shown(app)) + "".join(button.label for button in app.button))
    nothing, refused, failed = pages
    assert "The chat model found no answer" in nothing and "Nothing is said." in nothing
    assert ">not in these documents" not in nothing.casefold()
    assert "The chat model found no answer" in refused
    assert f"m at {host}, which failed" in failed
    for page in pages:
        assert "without a model" not in page
        assert "See the prompt as it was sent" in page


def test_what_is_doubted_stays_while_it_is_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = "NOT IN THESE DOCUMENTS. The fuel levy is 77 per cent."
    with Provider([f"{CEILING}. The fuel levy is 77 per cent.", lacking], reads=Mute()) as provider:
        monkeypatch.setenv("FINPOLICY_CHAT_MODEL", "m")
        monkeypatch.setenv("OPENAI_BASE_URL", provider.url)
        with open_context(tmp_path / "home") as context:
            chatbot = context.chatbot
            list(chatbot.add([Upload(make_pdf(tmp_path / "Rules.pdf", [f"{CEILING}."]))]))
            talk = chatbot.conversations.begin(ME)
            for question in ("What is the deficit ceiling?", "What is the fuel levy?"):
                list(chatbot.ask(Ask(question, conversation=talk, owner=ME, verify=False)))
            before = shown(visit(conversation=talk))
            context.asked.read_back(talk, 1, ME)
            app = visit(conversation=talk)
            page = shown(app)
            context.asked.stop(talk, ME)
    assert "The chat model found no answer" in page
    assert before.count("⚠ not found: “The fuel levy is 77 per cent”") == 2
    assert page.count("⚠ not found: “The fuel levy is 77 per cent”") == 2
    assert page.count('class="stage"') == 1 and "Checking" in page and "Working" not in page


def test_the_details_count_what_was_proven() -> None:
    statuses = ("supported", "derived", "not_checked", "unsupported")
    one, other, unread, doubted = (NumberCheck("3", 3.0, None, 1.0, None, status) for status in statuses)
    answer = Answer("?", "?", "3", True, model="m")
    assert details_label(answer, [one, other]) == "2 figures checked · Details"
    assert details_label(answer, [one, other, unread]) == "2 of 3 figures proven · Details"
    assert details_label(answer, [one, doubted]) == "⚠ 1 of 2 figures not confirmed · Details"


def test_the_details_tell_what_was_read_from_what_was_not() -> None:
    statements = (
        Statement("One.", "not_checked", verdict="about_sources"),
        Statement("Two.", "cited", verdict="inferred"),
        Statement("Three.", "cited"),
    )
    html = checks_html(Answer("?", "?", "One. Two. Three.", True, model="m", statements=statements), [])
    assert re.findall(
        "(about what the documents lack, confirmed|not proven|not compared with the pages)<", html
    ) == [
        "about what the documents lack, confirmed",
        "not proven",
        "not compared with the pages",
    ]


def test_a_mark_stands_behind_its_statement_whatever_that_holds() -> None:
    sentence = "It is <b>so</b>\u202e."
    plain, doubted = Statement(sentence, "cited"), Statement(sentence, "cited", mark="not_found")
    html = answer_html(f"{sentence} {sentence}", [], statements=[plain, doubted])
    assert html.count('<span class="mark') == 1
    assert html.endswith(">⚠</span></p></div>")
    assert "<b>" not in html


def luminance(colour: str) -> float:
    """As WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_marks_can_be_read_in_both_themes() -> None:
    style = Path(answer_text.__file__).with_name("static").joinpath("style.css").read_text("utf-8")
    marks = re.findall(r"\.mark:is\([^)]*\) { color: light-dark\((#\w{6}), (#\w{6})\)", style)
    assert len(marks) == 2
    config = tomllib.loads(Path(answer_text.__file__).with_name("config.toml").read_text("utf-8"))
    for mark in marks:
        for theme, colour in zip(("light", "dark"), mark, strict=True):
            for back in ("backgroundColor", "secondaryBackgroundColor"):
                pair = sorted([luminance(colour), luminance(config["theme"][theme][back])])
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (theme, colour)


def test_a_mark_says_what_it_rests_on() -> None:
    quote = StatementQuote("S1", "Rules.pdf", 4, 'It is "<so>"', 0, 10)
    worked_out = StatementCalculation("60 - 47", 13.0)
    statements = [
        Statement("One.", "cited", mark="stated", quotes=(quote,), read_by="m"),
        Statement("Two.", "cited", mark="calculated", calculation=worked_out),
        Statement("Three.", "cited", mark="contradicted", quotes=(quote,), difference="it is not so"),
        Statement("Four.", "cited", mark="inference"),
    ]
    html = unescape(answer_html("One. Two. Three. Four.", [], statements=statements))
    assert 'data-tip="∴ inference"' in html
    assert '✓ stated; page 4: “It is "<so>"”; read by m' in html
    assert "= calculated: 60 - 47" in html
    assert 'it is not so. Page 4 has “It is "<so>"”' in html


def test_a_copied_answer_says_what_is_doubted_and_what_was_not_checked() -> None:
    row = "| Levy | 5 |"
    text = f"One. Two. Three.\n\n| Tax | Rate |\n| - | - |\n{row}"
    statements = (
        Statement("One.", "cited", mark="stated", verdict="stated"),
        Statement("Two.", "cited", mark="not_found"),
        Statement("Three.", "cited"),
        Statement(row, "cited", mark="contradicted"),
    )
    reading = ReadBack(reason="It was stopped.")
    copied = copied_text(Answer("?", "?", text, True, model="m", statements=statements, reading=reading))
    assert "One. Two. (⚠ not found) Three.\n" in copied
    assert "| Levy | 5 (⚠ the page says otherwise) |" in copied
    assert copied.endswith("Nobody compared 1 statement with the pages. It was stopped.")
    assert copied_text(Answer("?", "?", "One.", True)) == "One."


def test_the_last_row_of_a_table_keeps_its_mark_where_the_key_stands_below() -> None:
    row = Statement("| Levy | 5 |\n\n[S1]", "cited", mark="stated")
    text = f"| Item | Amount |\n|---|---|\n{row.text}"
    html = answer_html(text, [], statements=[row], by_model=True)
    assert '5 <span class="mark stated"' in html.partition("</table>")[0]
    doubted = replace(row, mark="not_found")
    copied = copied_text(Answer("?", "?", text, True, model="m", statements=(doubted,)))
    assert "| Levy | 5 (⚠ not found) |\n" in copied


def test_marks_to_come_keep_their_places() -> None:
    statements = [Statement("One.", "cited"), Statement("Two.", "cited", mark="quoted")]
    html = answer_html("One. Two.", [], statements=statements, read_back=True)
    assert html.count('<span class="mark') == 2
    assert answer_html("One. Two.", [], statements=statements).count('<span class="mark') == 1
