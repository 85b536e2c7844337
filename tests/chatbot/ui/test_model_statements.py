"""What a chat model said without a source, on the page, in the exported conversation, and while its answer
is kept.
"""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

from chatbot.asking.question import Ask
from chatbot.memory.conversations.export import export_conversation
from chatbot.records import ADDED, Statement, StatementCalculation, StatementQuote
from chatbot.store.library import Upload
from chatbot.ui.answer_text import answer_html
from tests.pages import ME, open_context, shown, visit
from tests.pdfs import make_pdf
from tests.provider import Provider, Refuse

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
    assert f"- not checked by meaning: “{LEVY}.”" in exported
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


def test_a_mark_stands_behind_its_statement_whatever_that_holds() -> None:
    sentence = "It is <b>so</b>\u202e."
    plain, doubted = Statement(sentence, "cited"), Statement(sentence, "cited", mark="not_found")
    html = answer_html(f"{sentence} {sentence}", [], statements=[plain, doubted])
    assert html.count('<span class="mark') == 1
    assert html.endswith(">⚠</span></p></div>")
    assert "<b>" not in html


def test_a_mark_says_what_it_rests_on() -> None:
    quote = StatementQuote("S1", "Rules.pdf", 4, 'It is "<so>"', 0, 10)
    worked_out = StatementCalculation("60 - 47", 13.0)
    statements = [
        Statement("One.", "cited", mark="stated", quotes=(quote,), read_by="m"),
        Statement("Two.", "cited", mark="calculated", calculation=worked_out),
        Statement("Three.", "cited", mark="contradicted", quotes=(quote,), difference="it is not so"),
    ]
    html = unescape(answer_html("One. Two. Three.", [], statements=statements))
    assert '✓ stated; page 4: “It is "<so>"”; read by m' in html
    assert "= calculated: 60 - 47" in html
    assert 'it is not so. Page 4 has “It is "<so>"”"' in html


def test_marks_to_come_keep_their_places() -> None:
    statements = [Statement("One.", "cited"), Statement("Two.", "cited", mark="quoted")]
    html = answer_html("One. Two.", [], statements=statements, read_back=True)
    assert html.count('<span class="mark') == 2
    assert answer_html("One. Two.", [], statements=statements).count('<span class="mark') == 1
