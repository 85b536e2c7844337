"""What a chat model said without a source, on the page, in the exported conversation, and while its answer
is kept.
"""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

from chatbot.asking.answering import FOUND_NONE
from chatbot.asking.question import Ask
from chatbot.memory.conversations.export import export_conversation
from chatbot.records import ADDED, NOT_FOUND, Statement
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
    assert f'{LEVY}. <span class="unfound">⚠ {NOT_FOUND}</span>' in page
    assert page.count(NOT_FOUND) == 1
    assert page.index(CEILING) < page.index(f'<span class="added">{ADDED}</span>') < page.index(LEVY)
    assert f"- {NOT_FOUND}: “{LEVY}.”" in exported
    assert f"- {ADDED}: “{CEILING}" in exported


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
    nothing, instead, failed = pages
    assert "The chat model found no answer" in nothing and "Nothing is said." in nothing
    assert ">not in these documents" not in nothing.casefold()
    assert FOUND_NONE in instead and BREACH in instead
    assert f"m at {host}, which found no answer" in instead
    assert f"m at {host}, which failed" in failed
    for page in pages:
        assert "without a model" not in page
        assert "See the prompt as it was sent" in page


def test_a_mark_stands_behind_its_statement_whatever_that_holds() -> None:
    sentence = "It is <b>so</b>\u202e."
    cited, unsupported = Statement(sentence, "cited"), Statement(sentence, "unsupported")
    html = answer_html(f"{sentence} {sentence}", [], statements=[cited, unsupported])
    assert html.count("unfound") == 1
    assert html.endswith(f"⚠ {NOT_FOUND}</span></p></div>")
    assert "<b>" not in html
